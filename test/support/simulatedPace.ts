import { setTimeout as delay } from 'node:timers/promises';
import { viewPace, type ViewPace } from '../../src/agent/clients/view/liveView.ts';

/** How long a wait takes here, whatever was asked for, in milliseconds. */
const REAL_MS = 20;

/** The pace at which people work, on a clock of its own: it goes on by all that is waited for, and by what a test lets pass. */
export class SimulatedPace implements ViewPace {
  readonly restMs = viewPace.restMs;
  readonly longestMs = viewPace.longestMs;
  /** The longest wait that was asked for. */
  longest = 0;
  #now = 0;
  #sleepMs = 0;

  now(): number {
    return this.#now;
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.#now += ms;
  }

  /** The machine sleeps for so long during the next look. */
  sleepsInLook(ms: number): void {
    this.#sleepMs = ms;
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.longest = Math.max(this.longest, ms);
    await delay(REAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    this.pass(ms);
    const slept = this.#sleepMs;
    this.#sleepMs = 0;
    if (slept > 0) setImmediate(() => this.pass(slept));
  }
}
