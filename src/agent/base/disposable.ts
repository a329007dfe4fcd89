/** Something that must be released. Shaped like `vscode.Disposable`. */
export interface Disposable {
  dispose(): unknown;
}

/** Owns disposables and releases them together, the newest first. Adding to a disposed store disposes at once. */
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
