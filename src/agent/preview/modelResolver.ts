import { ToolError } from '../base/errors.ts';
import type { Invoker } from './invoker.ts';
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
  }

  /**
   * @throws ToolError when nothing is there to resolve, the preview was not seen yet, or its apply fails; the abort
   *   error when the call's signal fires.
   */
  async resolve(call: ResolveCall): Promise<AgentToolResult> {
    if (call.id !== undefined) return this.resolvePreview(call.id, call);
    const inFlight = this.#queue.peekInFlightInvoker();
    if (inFlight) return inFlight(call);
    const [next] = this.#candidates;
    if (next === undefined) throw new ToolError(NOTHING_PENDING);
    return this.resolvePreview(next, call);
  }

  /** Votes on one preview; also what a directive of the queue runs. */
  async resolvePreview(id: string, call: ResolveCall): Promise<AgentToolResult> {
    this.#candidates = this.#candidates.filter(candidate => candidate !== id);
    const preview = this.#store.get(id);
    const revision = this.#seen.get(id);
    if (preview && revision === undefined && isOpen(preview)) throw new ToolError(unseenText(preview));
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
}
