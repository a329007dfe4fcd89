import { AsyncLocalStorage } from 'node:async_hooks';
import { untilAborted } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import type { Preview } from '../preview.ts';
import { circularVoteText, ownVoteText } from './resolveTexts.ts';

/** An attempt in progress to resolve one or more previews. */
interface ActiveResolution {
  readonly ended: Promise<void>;
  /** The attempt whose callback started this one. */
  readonly within: ActiveResolution | undefined;
  /** Waits of its callback: the attempt on which each of its votes depends. */
  readonly waits: Set<{ readonly on: ActiveResolution }>;
}

/** The attempts in progress, and which of them wait for which, so that a deadlock is refused. */
export class ActiveResolutions {
  readonly #byId = new Map<string, ActiveResolution>();
  /** Attributes votes to the callback that makes them. */
  readonly #current = new AsyncLocalStorage<ActiveResolution>();

  /** Runs an attempt to resolve these previews together; other votes on them can wait for its end. */
  async run<T>(ids: readonly string[], resolve: () => Promise<T>): Promise<T> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const attempt: ActiveResolution = { ended: promise, within: this.#current.getStore(), waits: new Set() };
    for (const id of ids) this.#byId.set(id, attempt);
    try {
      return await resolve();
    } finally {
      // After a failure the preview is pending again before this attempt ends, and another one may have begun.
      for (const id of ids) if (this.#byId.get(id) === attempt) this.#byId.delete(id);
      end();
    }
  }

  /** Runs a callback of the preview's attempt so that its votes are attributed to it. */
  call<T>(id: string, callback: () => T): T {
    const attempt = this.#byId.get(id);
    return attempt ? this.#current.run(attempt, callback) : callback();
  }

  /** Whether an attempt to resolve this preview is in progress. */
  isActive(id: string): boolean {
    return this.#byId.has(id);
  }

  /**
   * Waits until the attempt to resolve this preview, if there is one, has ended.
   * @throws ToolError if that attempt itself waits for the caller; the abort error when `signal` fires.
   */
  async waitFor(preview: Preview, signal: AbortSignal | undefined): Promise<void> {
    const attempt = this.#byId.get(preview.id);
    if (!attempt) return;
    const voter = this.#current.getStore();
    const voters: ActiveResolution[] = [];
    for (let outer = voter; outer; outer = outer.within) voters.push(outer);
    if (voters.includes(attempt)) throw new ToolError(ownVoteText(preview));
    if (this.#isBlocked(attempt, voters)) throw new ToolError(circularVoteText(preview));
    const wait = { on: attempt };
    voter?.waits.add(wait);
    try {
      await untilAborted(signal, () => attempt.ended);
    } finally {
      voter?.waits.delete(wait);
    }
  }

  /** Whether `waiting` waits for one of `others`, directly or through attempts that its callback waits for or started. */
  #isBlocked(waiting: ActiveResolution, others: readonly ActiveResolution[]): boolean {
    const reached = new Set([waiting]);
    for (const one of reached) {
      if (others.includes(one)) return true;
      for (const { on } of one.waits) reached.add(on);
      for (const started of this.#byId.values()) if (started.within === one) reached.add(started);
    }
    return false;
  }
}
