/** How many reading calls of one agent run at once. */
const MAX_READING = 4;

/**
 * The order in which the calls of one agent run. Calls that stage or resolve run one after the other, in the order in which they
 * came; calls that only read run beside them, a few at a time.
 */
export class CallQueue {
  #last: Promise<unknown> = Promise.resolve();
  #reading = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` once all earlier calls have ended, in success or failure. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Runs `work` as soon as few enough others are reading. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    if (this.#reading >= MAX_READING) await new Promise<void>(resolve => this.#waiting.push(resolve));
    else this.#reading++;
    try {
      return await work();
    } finally {
      // The place goes to the next one that waits, so that no newer one takes it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#reading--;
    }
  }
}
