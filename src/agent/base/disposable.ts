/** Something that must be released. Compatible with `vscode.Disposable`. */
export interface Disposable {
  dispose(): unknown;
}

/** Owns disposables and disposes of them together, the newest first. Later additions are disposed of at once. */
export class DisposableStore implements Disposable {
  readonly #owned: Disposable[] = [];
  #disposed = false;

  add<T extends Disposable>(disposable: T): T {
    if (this.#disposed) disposable.dispose();
    else this.#owned.push(disposable);
    return disposable;
  }

  dispose(): void {
    this.#disposed = true;
    for (const disposable of this.#owned.splice(0).reverse()) disposable.dispose();
  }
}

/** Base of a class that owns disposables for as long as it lives. */
export abstract class Owner implements Disposable {
  readonly #owned = new DisposableStore();

  protected own<T extends Disposable>(disposable: T): T {
    return this.#owned.add(disposable);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/**
 * Things to close in order before the process ends. The newest is closed first, and each is awaited; a failure does not stop the
 * rest.
 */
export class Closing {
  readonly #owned: (() => Promise<unknown>)[] = [];
  readonly #onError: (error: unknown) => void;
  #closed: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(close: () => Promise<unknown>): void {
    this.#owned.push(close);
  }

  /** Closes everything, once. Closing begins after this returns, so that its caller can end more first. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    await Promise.resolve();
    for (let close = this.#owned.pop(); close; close = this.#owned.pop()) {
      try {
        await close();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
