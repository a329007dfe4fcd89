import { setImmediate } from 'node:timers/promises';

/** How long work may go on before everybody else gets a turn, in milliseconds. */
const SLICE = 10;

/**
 * Lets long work that does not wait for anything make way for others. Await `turn()` between two pieces of work: it goes on
 * at once until the slice is used up, and then lets the process do whatever else is due.
 */
export class TimeSlice {
  #since = 0;
  #pause: Promise<void> | undefined;

  async turn(): Promise<void> {
    if (this.#pause) return this.#pause;
    if (performance.now() - this.#since < SLICE) return;
    this.#pause = setImmediate().finally(() => {
      this.#pause = undefined;
      this.#since = performance.now();
    });
    return this.#pause;
  }
}
