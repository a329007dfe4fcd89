import { Emitter, type Event } from '../agent/base/event.ts';

/** A question to the user: whether the model may read from a host, or one of the model's own. */
export type Asked =
  /** `url` is the whole address, which the host would get. */
  | { readonly about: 'host'; readonly host: string; readonly url: string }
  | { readonly about: 'choice'; readonly text: string; readonly choices: readonly string[] };

/** A question that waits for the user. */
export type Question = Asked & { readonly id: number };

/** The questions that running calls ask the user. Only one is open at a time, and the next waits for it. */
export class Questions {
  #open: (Question & { readonly end: (answer?: string) => void }) | undefined;
  #count = 0;
  /** Settles when the last question has ended. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #changed = new Emitter<void>();

  /** Fires when a question opens or ends. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** The question that is open. */
  get open(): Question | undefined {
    return this.#open;
  }

  /**
   * Asks the user.
   * @returns the answer; `undefined` if the question ended without one. Never rejects.
   */
  ask(asked: Asked, signal: AbortSignal): Promise<string | undefined> {
    const answer = this.#last.then(() => (signal.aborted ? undefined : this.#ask(asked, signal)));
    this.#last = answer;
    return answer;
  }

  /** Ends the question with the user's answer, or without one, if it is still the one that is open. */
  answer(id: number, answer?: string): void {
    if (this.#open?.id === id) this.#open.end(answer);
  }

  #ask(asked: Asked, signal: AbortSignal): Promise<string | undefined> {
    return new Promise(resolve => {
      const end = (answer?: string): void => {
        signal.removeEventListener('abort', drop);
        this.#open = undefined;
        this.#changed.fire();
        resolve(answer);
      };
      const drop = (): void => end();
      signal.addEventListener('abort', drop);
      this.#open = { ...asked, id: ++this.#count, end };
      this.#changed.fire();
    });
  }
}
