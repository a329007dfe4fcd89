import { setImmediate } from 'node:timers/promises';

/** How long work may block the event loop, in milliseconds. */
const SLICE = 10;

/**
 * Keeps long synchronous work from blocking the event loop. Await `turn()` between two pieces of the work: it returns at once
 * until the time slice is used up, and then lets other tasks run first.
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
