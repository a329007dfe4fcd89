import { AsyncLocalStorage } from 'node:async_hooks';
import { untilAborted } from '../base/abort.ts';
import { deferred } from '../base/deferred.ts';
import { ToolError } from '../base/errors.ts';
import type { Preview } from './preview.ts';
import { circularVoteText, ownVoteText } from './resolveTexts.ts';

/** A resolving that goes on. */
interface Resolving {
  readonly ended: Promise<void>;
  /** The one whose callback asked for it. */
  readonly within: Resolving | undefined;
  /** Votes of its callback that wait, each for another one. */
  readonly waits: Set<{ readonly on: Resolving }>;
}

/** The resolvings that go on, and which of them wait for which, so that none waits for ever. */
export class Resolvings {
  readonly #byId = new Map<string, Resolving>();
  /** Tells a callback's own votes from everybody else's. */
  readonly #within = new AsyncLocalStorage<Resolving>();

  /** Resolves these previews together, while everybody else waits. */
  async run<T>(ids: readonly string[], resolve: () => Promise<T>): Promise<T> {
    const { promise, resolve: end } = deferred();
    const resolving: Resolving = { ended: promise, within: this.#within.getStore(), waits: new Set() };
    for (const id of ids) this.#byId.set(id, resolving);
    try {
      return await resolve();
    } finally {
      for (const id of ids) this.#byId.delete(id);
      end();
    }
  }

  /** Runs a callback of the preview's resolving so that its own votes are known. */
  call<T>(id: string, callback: () => T): T {
    const resolving = this.#byId.get(id);
    return resolving ? this.#within.run(resolving, callback) : callback();
  }

  /**
   * Waits until whoever resolves the preview is done.
   * @throws ToolError for a vote of a callback that this one waits for: both would wait for ever. The abort error.
   */
  async end(preview: Preview, signal: AbortSignal | undefined): Promise<void> {
    const resolving = this.#byId.get(preview.id);
    if (!resolving) return;
    const voter = this.#within.getStore();
    const voters: Resolving[] = [];
    for (let outer = voter; outer; outer = outer.within) voters.push(outer);
    if (voters.includes(resolving)) throw new ToolError(ownVoteText(preview));
    if (this.#isBehind(voters, resolving)) throw new ToolError(circularVoteText(preview));
    const wait = { on: resolving };
    voter?.waits.add(wait);
    try {
      await untilAborted(signal, () => resolving.ended);
    } finally {
      voter?.waits.delete(wait);
    }
  }

  /** Whether `waiting` cannot end before one of `others`: through votes of its callback, and what those began. */
  #isBehind(others: readonly Resolving[], waiting: Resolving): boolean {
    const reached = new Set([waiting]);
    for (const one of reached) {
      if (others.includes(one)) return true;
      for (const { on } of one.waits) reached.add(on);
      for (const begun of this.#byId.values()) if (begun.within === one) reached.add(begun);
    }
    return false;
  }
}
