import { AsyncLocalStorage } from 'node:async_hooks';
import { untilAborted } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import type { Preview } from '../preview.ts';
import { callbackVoteText } from './resolveTexts.ts';

/** The attempts in progress. A callback may vote, but waits for no attempt: it might wait for itself, or for one that waits for it. */
export class ActiveResolutions {
  readonly #ends = new Map<string, Promise<void>>();
  /** Attributes votes to the callback that makes them. */
  readonly #callback = new AsyncLocalStorage<{ isRunning: boolean }>();

  /** Runs an attempt to resolve these previews together; other votes on them can wait for its end. */
  async run<T>(group: readonly Preview[], resolve: () => Promise<T>): Promise<T> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    for (const { id } of group) this.#ends.set(id, promise);
    try {
      return await resolve();
    } finally {
      // After a failure the preview is pending again before this attempt ends, and another one may have begun.
      for (const { id } of group) if (this.#ends.get(id) === promise) this.#ends.delete(id);
      end();
    }
  }

  /** Runs a callback so that its votes are attributed to it. */
  async call<T>(callback: () => T): Promise<Awaited<T>> {
    const call = { isRunning: true };
    try {
      return await this.#callback.run(call, callback);
    } finally {
      call.isRunning = false;
    }
  }

  /** Whether an attempt to resolve this preview is in progress. */
  isActive(id: string): boolean {
    return this.#ends.has(id);
  }

  /**
   * Waits until the attempt to resolve this preview, if there is one, has ended.
   * @throws ToolError if a callback is to wait; the abort error when `signal` fires.
   */
  async waitFor(preview: Preview, signal: AbortSignal | undefined): Promise<void> {
    const end = this.#ends.get(preview.id);
    if (end && this.#callback.getStore()?.isRunning) throw new ToolError(callbackVoteText(preview));
    await untilAborted(signal, () => end ?? Promise.resolve());
  }
}
