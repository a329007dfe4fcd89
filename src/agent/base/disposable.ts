/** Something that must be released. Compatible with `vscode.Disposable`. */
export interface Disposable {
  dispose(): unknown;
}

/** Owns disposables and disposes of them together, the newest first. What is added after that is disposed of at once. */
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
