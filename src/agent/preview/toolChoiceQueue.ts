import type { ToolChoice } from '../model/chatProvider.ts';

/** Why a served choice did not come to its end. */
export type RejectReason = 'aborted' | 'error' | 'cleared' | 'removed' | 'unavailable' | 'not_invoked';

/** What becomes of a rejected directive: the same value again, nothing, or nothing and no more of its sequence. */
export type RejectAnswer = 'requeue' | 'drop' | 'drop_sequence';

/** How a directive is queued and whom it tells. `Args`/`Result` are those of the invoker. */
export interface DirectiveOptions<Args, Result> {
  /** Put at the head instead of the tail. */
  readonly now?: boolean;
  readonly label?: string;
  /** The choice is the next request's: once for each time that it is served. */
  readonly onServed?: (choice: ToolChoice) => void;
  /** The served choice came to its end. */
  readonly onResolved?: (choice: ToolChoice) => void;
  /**
   * The served choice was rejected; the answer decides what becomes of it (default `drop`). For `cleared` and
   * `removed` the answer is not heeded: whoever empties the queue means it.
   */
  readonly onRejected?: (choice: ToolChoice, reason: RejectReason) => RejectAnswer | undefined;
  /** Run by the forced tool through {@link ToolChoiceQueue.peekInFlightInvoker}. */
  readonly onInvoked?: (args: Args) => Promise<Result>;
}

interface Directive<Args, Result> {
  /** What was pushed by one call: a requeued value belongs to the same source as the rest of its sequence. */
  readonly source: object;
  readonly choices: Iterator<ToolChoice>;
  /** How many choices are left to draw; endless as long as that is not known. */
  left: number;
  readonly options: DirectiveOptions<Args, Result>;
}

interface InFlight<Args, Result> {
  readonly directive: Directive<Args, Result>;
  readonly choice: ToolChoice;
  invoked: boolean;
}

/** Takes a queued directive back; see {@link ToolChoiceQueue.removeByLabel} for what that means in flight. */
export interface DirectiveHandle {
  remove(): void;
}

/** A view of the queue for tests and the log. */
export interface QueueInspection {
  readonly queued: readonly (string | undefined)[];
  readonly inFlight: { readonly label: string | undefined; readonly invoked: boolean } | undefined;
}

/**
 * The tool choices of the coming requests. The session asks for one before each request and settles it when the turn
 * is over, with {@link resolve} or {@link reject}. Nothing here knows what a preview is.
 */
export class ToolChoiceQueue<Args = unknown, Result = unknown> {
  #queue: Directive<Args, Result>[] = [];
  #inFlight: InFlight<Args, Result> | undefined;
  #lastServedLabel: string | undefined;

  pushOnce(choice: ToolChoice, options: DirectiveOptions<Args, Result> = {}): DirectiveHandle {
    return this.push([choice], options);
  }

  pushSequence(
    choices: readonly ToolChoice[],
    options: DirectiveOptions<Args, Result> = {},
  ): DirectiveHandle {
    return this.push([...choices], options);
  }

  /** Queues choices that are drawn one by one, each when its request is made: the iterable may be endless. */
  push(choices: Iterable<ToolChoice>, options: DirectiveOptions<Args, Result> = {}): DirectiveHandle {
    const source = {};
    const left = Array.isArray(choices) ? choices.length : Infinity;
    const directive: Directive<Args, Result> = {
      source,
      choices: choices[Symbol.iterator](),
      left,
      options,
    };
    if (options.now) this.#queue.unshift(directive);
    else this.#queue.push(directive);
    return { remove: () => this.#remove(queued => queued.source === source) };
  }

  /**
   * The choice for the next request, now in flight; `undefined` when nothing is queued. A choice still in flight
   * was never settled and is rejected with `error` first.
   */
  nextToolChoice(): ToolChoice | undefined {
    if (this.#inFlight) this.reject('error');
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      const next = head.choices.next();
      head.left--;
      if (next.done || head.left === 0) this.#queue.shift();
      if (next.done) continue;
      this.#inFlight = { directive: head, choice: next.value, invoked: false };
      this.#lastServedLabel = head.options.label;
      head.options.onServed?.(next.value);
      return next.value;
    }
    return undefined;
  }

  /** Settles the choice in flight at the end of a turn. One with an invoker that nobody ran is `not_invoked`. */
  resolve(): void {
    const served = this.#inFlight;
    if (!served) return;
    if (served.directive.options.onInvoked && !served.invoked) return this.reject('not_invoked');
    this.#inFlight = undefined;
    served.directive.options.onResolved?.(served.choice);
  }

  /** Settles the choice in flight as rejected and does what its `onRejected` answers. */
  reject(reason: RejectReason): void {
    const served = this.#inFlight;
    if (!served) return;
    this.#inFlight = undefined;
    const { directive, choice } = served;
    const { source, options } = directive;
    const answer = options.onRejected?.(choice, reason) ?? 'drop';
    if (reason === 'cleared' || reason === 'removed') return;
    if (answer === 'drop_sequence') this.#queue = this.#queue.filter(queued => queued.source !== source);
    if (answer === 'requeue')
      this.#queue.unshift({ source, choices: [choice][Symbol.iterator](), left: 1, options });
  }

  get hasInFlight(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Whether a directive waits for its request. */
  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  /** The invoker of the choice in flight. Running it marks the directive as invoked, whatever comes of it. */
  peekInFlightInvoker(): ((args: Args) => Promise<Result>) | undefined {
    const served = this.#inFlight;
    const onInvoked = served?.directive.options.onInvoked;
    if (!served || !onInvoked) return undefined;
    return args => {
      served.invoked = true;
      return onInvoked(args);
    };
  }

  /** Drops all directives with this label; one in flight that was not invoked yet is rejected with `removed`. */
  removeByLabel(label: string): void {
    this.#remove(directive => directive.options.label === label);
  }

  /** Drops everything; a choice in flight is rejected with `cleared`. */
  clear(): void {
    this.#queue = [];
    this.reject('cleared');
  }

  /** The label of the choice served last, once. */
  consumeLastServedLabel(): string | undefined {
    const label = this.#lastServedLabel;
    this.#lastServedLabel = undefined;
    return label;
  }

  inspect(): QueueInspection {
    return {
      queued: this.#queue.map(directive => directive.options.label),
      inFlight: this.#inFlight && {
        label: this.#inFlight.directive.options.label,
        invoked: this.#inFlight.invoked,
      },
    };
  }

  #remove(matches: (directive: Directive<Args, Result>) => boolean): void {
    this.#queue = this.#queue.filter(directive => !matches(directive));
    const served = this.#inFlight;
    if (served && !served.invoked && matches(served.directive)) this.reject('removed');
  }
}
