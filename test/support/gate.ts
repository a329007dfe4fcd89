/** A point where work waits until the test lets it go on: for interleavings without sleeps. */
export class Gate {
  #markReached: () => void = () => undefined;
  #markOpen: () => void = () => undefined;
  readonly #opened = new Promise<void>(resolve => (this.#markOpen = resolve));

  /** Settles when something waits here for the first time. */
  readonly reached = new Promise<void>(resolve => (this.#markReached = resolve));

  /** Waits until the gate is open; it stays open. */
  pass(): Promise<void> {
    this.#markReached();
    return this.#opened;
  }

  open(): void {
    this.#markOpen();
  }
}
