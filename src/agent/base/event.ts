import type { Disposable } from './disposable.ts';

/** A function that subscribes a listener. Compatible with `vscode.Event`, so that views can pass it on unchanged. */
export type Event<T> = (
  listener: (event: T) => unknown,
  thisArgs?: unknown,
  disposables?: Disposable[],
) => Disposable;

/**
 * The source of an {@link Event}. Listeners run synchronously, in the order of subscription. If one throws, its error goes to
 * `onError` and the others still run.
 */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(event: T) => unknown>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError;
  }

  readonly event: Event<T> = (listener, thisArgs, disposables) => {
    const bound = (event: T): unknown => listener.call(thisArgs, event);
    this.#listeners.add(bound);
    const subscription = { dispose: () => void this.#listeners.delete(bound) };
    disposables?.push(subscription);
    return subscription;
  };

  fire(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
