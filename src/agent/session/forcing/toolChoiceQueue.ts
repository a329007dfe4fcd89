import type { ToolChoice } from '../model/chatProvider.ts';

/** Why a served choice was rejected. */
export type RejectReason = 'aborted' | 'error' | 'cleared' | 'removed' | 'unavailable' | 'not_invoked';

/** What to do with a rejected directive: serve the same choice again, drop it, or drop it with the rest of its sequence. */
export type RejectAnswer = 'requeue' | 'drop' | 'drop_sequence';

/** How a directive is queued, and its callbacks. `Args` and `Result` are the invoker's. */
export interface DirectiveOptions<Args, Result> {
  /** Put at the head instead of the tail. */
  readonly now?: boolean;
  readonly label?: string;
  /** The choice becomes that of the next request. Called each time it is served. */
  readonly onServed?: (choice: ToolChoice) => void;
  /** The served choice was settled without rejection. */
  readonly onResolved?: (choice: ToolChoice) => void;
  /**
   * The served choice was rejected; the return value decides what to do with it (default `drop`). For `cleared` and `removed`
   * it is ignored: the choice is dropped.
   */
  readonly onRejected?: (choice: ToolChoice, reason: RejectReason) => RejectAnswer | undefined;
  /** The invoker, which the forced tool runs through {@link ToolChoiceQueue.peekInFlightInvoker}. */
  readonly onInvoked?: (args: Args) => Promise<Result>;
}

interface Directive<Args, Result> {
  /** Identifies the `push` call: a requeued choice belongs with the rest of its sequence. */
  readonly source: object;
  readonly choices: Iterator<ToolChoice>;
  /** How many choices are left; `Infinity` if unknown. */
  left: number;
  readonly options: DirectiveOptions<Args, Result>;
}

interface InFlight<Args, Result> {
  readonly directive: Directive<Args, Result>;
  readonly choice: ToolChoice;
  invoked: boolean;
}

/** Removes a directive that was pushed; one in flight as {@link ToolChoiceQueue.removeByLabel} does. */
export interface DirectiveHandle {
  remove(): void;
}

/** A snapshot of the queue. */
export interface QueueInspection {
  readonly queued: readonly (string | undefined)[];
  readonly inFlight: { readonly label: string | undefined; readonly invoked: boolean } | undefined;
}

/**
 * The tool choices of the coming requests. The session takes one before each request and settles it at the end of the turn,
 * with {@link resolve} or {@link reject}. The queue knows nothing about previews.
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

  /** Queues choices, which are taken one at a time when a request is made, so that the iterable may be infinite. */
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
   * Takes the choice for the next request, which is then in flight; `undefined` if nothing is queued. A previous choice that
   * was never settled is first rejected with `error`.
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

  /** Settles the choice in flight at the end of a turn. If its invoker was not run, it is rejected with `not_invoked`. */
  resolve(): void {
    const served = this.#inFlight;
    if (!served) return;
    if (served.directive.options.onInvoked && !served.invoked) return this.reject('not_invoked');
    this.#inFlight = undefined;
    served.directive.options.onResolved?.(served.choice);
  }

  /** Rejects the choice in flight and follows its `onRejected`. */
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

  /** Whether a directive is queued, besides one in flight. */
  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  /** The invoker of the choice in flight, if any. Running it marks the directive as invoked, even if it fails. */
  peekInFlightInvoker(): ((args: Args) => Promise<Result>) | undefined {
    const served = this.#inFlight;
    const onInvoked = served?.directive.options.onInvoked;
    if (!served || !onInvoked) return undefined;
    return args => {
      served.invoked = true;
      return onInvoked(args);
    };
  }

  /** Drops all directives with this label. One in flight that was not invoked yet is rejected with `removed`. */
  removeByLabel(label: string): void {
    this.#remove(directive => directive.options.label === label);
  }

  /** Drops all directives. A choice in flight is rejected with `cleared`. */
  clear(): void {
    this.#queue = [];
    this.reject('cleared');
  }

  /** The label of the last choice served; `undefined` once it was read. */
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
