import { untilAborted } from '../base/abort.ts';
import { ToolError } from '../base/errors.ts';
import { resolveDetails, type Invoker } from './invoker.ts';
import type { AgentToolResult } from './pendingAction.ts';
import { isOpen, type ResolveAction } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { NOTHING_PENDING, unseenText } from './resolveTexts.ts';
import type { ToolChoiceQueue } from './toolChoiceQueue.ts';

/** One call of the model's `resolve`. */
export interface ResolveCall {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly id?: string;
  readonly signal?: AbortSignal;
}

/** Takes `resolve` calls that mean no preview; see `Session.setStandingResolveHandler`. */
export type StandingResolveHandler = (call: ResolveCall) => Promise<AgentToolResult>;

export type ResolveQueue = ToolChoiceQueue<ResolveCall, AgentToolResult>;

/**
 * Finds out which preview the model's `resolve` means, and votes for what the model has seen: the revisions that
 * were current when its request was made. A preview staged since then has not been seen and is refused; one that
 * somebody else resolved since then is answered with what became of it, never with the next preview in line.
 */
export class ModelResolver {
  readonly #store: PreviewStore;
  readonly #invoker: Invoker;
  readonly #queue: ResolveQueue;
  /** Revisions as the model saw them in its last request. */
  #seen = new Map<string, number>();
  /** Previews that a reminder named, the last one first, as they were open at the last request. */
  #candidates: string[] = [];
  readonly #reminded: string[] = [];
  /** Previews that were voted on since the last request. */
  readonly #answered = new Set<string>();
  #standing: { readonly handler: StandingResolveHandler; readonly first: boolean } | undefined;

  constructor(store: PreviewStore, invoker: Invoker, queue: ResolveQueue) {
    this.#store = store;
    this.#invoker = invoker;
    this.#queue = queue;
  }

  /** A reminder naming the preview is on its way to the model. */
  reminded(id: string): void {
    const at = this.#reminded.indexOf(id);
    if (at >= 0) this.#reminded.splice(at, 1);
    this.#reminded.unshift(id);
  }

  /** A request is being made: from now on the model knows the previews as they are now. */
  beginTurn(): void {
    const open = this.#store.all().filter(isOpen);
    this.#seen = new Map(open.map(preview => [preview.id, preview.revision]));
    this.#candidates = this.#reminded.filter(id => this.#seen.has(id));
    this.#answered.clear();
  }

  /** Whether the model knew of the preview when it made its last answer. */
  wasShown(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Whether the model voted on the preview in its last answer, whatever came of it. */
  wasAnswered(id: string): boolean {
    return this.#answered.has(id);
  }

  /** `first`: before every preview that is not named by its id, instead of after all of them. */
  setStanding(handler: StandingResolveHandler | null, first: boolean): void {
    this.#standing = handler ? { handler, first } : undefined;
  }

  /** Forgets what the model was told. */
  clear(): void {
    this.#seen.clear();
    this.#candidates = [];
    this.#reminded.length = 0;
    this.#answered.clear();
  }

  /**
   * @throws ToolError when nothing is there to resolve, the preview was not seen yet, or its apply fails; the abort
   *   error when the call's signal fires.
   */
  async resolve(call: ResolveCall): Promise<AgentToolResult> {
    if (call.id !== undefined) return this.resolvePreview(call.id, call);
    if (this.#standing?.first) return this.#stand(this.#standing.handler, call);
    const inFlight = this.#queue.peekInFlightInvoker();
    if (inFlight) return inFlight(call);
    const [next] = this.#candidates;
    if (next !== undefined) return this.resolvePreview(next, call);
    if (this.#standing) return this.#stand(this.#standing.handler, call);
    const unseen = this.#reminded.find(id => this.#isUnseen(id));
    if (unseen !== undefined) return this.resolvePreview(unseen, call);
    throw new ToolError(NOTHING_PENDING);
  }

  async #stand(handler: StandingResolveHandler, call: ResolveCall): Promise<AgentToolResult> {
    const { action, reason, extra } = call;
    const result = await untilAborted(call.signal, () => handler(call));
    return {
      ...result,
      details: resolveDetails({ action, reason, ...(extra ? { extra } : {}) }, result.details),
    };
  }

  /** Votes on one preview; also what a directive of the queue runs. */
  async resolvePreview(id: string, call: ResolveCall): Promise<AgentToolResult> {
    this.#candidates = this.#candidates.filter(candidate => candidate !== id);
    this.#answered.add(id);
    const preview = this.#store.get(id);
    const revision = this.#seen.get(id);
    if (preview && this.#isUnseen(id)) throw new ToolError(unseenText(preview));
    const { action, reason, extra, signal } = call;
    return this.#invoker.resolve({
      id,
      ...(revision === undefined ? {} : { revision }),
      action,
      reason,
      ...(extra === undefined ? {} : { extra }),
      actor: 'model',
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Whether the preview was staged after the model's last request. */
  #isUnseen(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && isOpen(preview) && !this.#seen.has(id);
  }
}
