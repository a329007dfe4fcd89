import { untilAborted } from '../base/abort.ts';
import { Emitter, type Event } from '../base/event.ts';
import { ToolError } from '../base/errors.ts';
import { resolveDetails, type Invoker, type ResolveDetails } from './invoker.ts';
import type { AgentToolResult } from './pendingAction.ts';
import { isOpen, type Preview, type ResolveAction } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { foreignText, NOTHING_PENDING, unseenText } from './resolveTexts.ts';
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
export type StandingResolveHandler = (
  call: Pick<ResolveCall, 'action' | 'reason' | 'extra'>,
) => Promise<AgentToolResult>;

/** As {@link StandingResolveHandler}, for as long as a mode is on that gives `resolve` a meaning of its own. */
export interface ModeResolveHandler extends Required<Pick<ResolveDetails, 'sourceToolName' | 'label'>> {
  readonly handle: StandingResolveHandler;
}

export type ResolveQueue = ToolChoiceQueue<ResolveCall, AgentToolResult>;

/**
 * Finds out which preview the model's `resolve` means, and votes for what the model has seen: the revisions that
 * were current when its request was made. A preview staged since then has not been seen and is refused, and so is
 * one of another conversation; one that somebody else resolved since then is answered with what became of it, never
 * with the next preview in line.
 */
export class ModelResolver {
  readonly #store: PreviewStore;
  readonly #invoker: Invoker;
  readonly #queue: ResolveQueue;
  /** Previews that this conversation showed to the model, or will with its next request. */
  readonly #known = new Set<string>();
  /** Revisions as the model saw them in its last request. */
  #seen = new Map<string, number>();
  /** What a call without an id means, the first one first, as they were open at the last request. */
  #candidates: string[] = [];
  /** Previews that a reminder named, the last one last. */
  readonly #reminded = new Set<string>();
  #standing: StandingResolveHandler | undefined;
  #mode: ModeResolveHandler | undefined;
  readonly #voted = new Emitter<string>();

  /** The model votes on the preview with this id and has seen it, whatever comes of it. */
  readonly onDidVote: Event<string> = this.#voted.event;

  constructor(store: PreviewStore, invoker: Invoker, queue: ResolveQueue) {
    this.#store = store;
    this.#invoker = invoker;
    this.#queue = queue;
  }

  /** The preview is part of this conversation: from its next request on, the model may name it. */
  knows(id: string): void {
    this.#known.add(id);
  }

  /** A reminder naming the preview is on its way to the model. */
  reminded(id: string): void {
    this.knows(id);
    this.#reminded.delete(id);
    this.#reminded.add(id);
  }

  /** A request is being made: from now on the model knows the previews as they are now. */
  beginTurn(): void {
    const open = this.#store.list('oldestFirst').filter(({ id }) => this.#known.has(id));
    this.#seen = new Map(open.map(preview => [preview.id, preview.revision]));
    this.#candidates = [...this.#reminded].filter(id => this.#seen.has(id)).reverse();
  }

  /**
   * The request being made forces an answer to this preview: it is what a call without an id means.
   * @returns false when the last reminder named another one, so that the model could take that to be meant.
   */
  expect(id: string): boolean {
    const named = [...this.#reminded].findLast(reminded => this.#seen.has(reminded));
    this.#candidates = [id, ...this.#candidates.filter(candidate => candidate !== id)];
    return named === id;
  }

  /** Whether the model knew of the preview when it made its last answer. */
  wasShown(id: string): boolean {
    return this.#seen.has(id);
  }

  setStanding(handler: StandingResolveHandler | null): void {
    this.#standing = handler ?? undefined;
  }

  /** A handler that comes before every preview that is not named by its id: that of a mode. */
  setMode(handler: ModeResolveHandler | null): void {
    this.#mode = handler ?? undefined;
  }

  /** The preview is no longer part of this conversation. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#reminded.delete(id);
  }

  /** Forgets what the model was told. */
  clear(): void {
    this.#known.clear();
    this.#seen.clear();
    this.#candidates = [];
    this.#reminded.clear();
  }

  /**
   * @throws ToolError when nothing is there to resolve, the preview was not seen yet, or its apply fails; the abort
   *   error when the call's signal fires.
   */
  resolve(call: ResolveCall): Promise<AgentToolResult> {
    return untilAborted(call.signal, () => this.#resolve(call));
  }

  async #resolve(call: ResolveCall): Promise<AgentToolResult> {
    if (call.id !== undefined) return this.resolvePreview(call.id, call);
    const staged = this.#stagedSince();
    if (staged && !this.#mode) throw new ToolError(unseenText(staged));
    if (this.#mode) {
      const { handle, sourceToolName, label } = this.#mode;
      return stand(handle, call, { sourceToolName, label });
    }
    const [next] = this.#candidates;
    const inFlight = this.#queue.peekInFlightInvoker();
    // A second call of one message is about the next preview; with none left, it hears what became of the first.
    const isTaken = this.#queue.inspect().inFlight?.invoked === true && next !== undefined;
    if (inFlight && !isTaken) return inFlight(call);
    if (next !== undefined) return this.resolvePreview(next, call);
    if (this.#standing) return stand(this.#standing, call);
    const unseen = [...this.#reminded].findLast(id => this.#isUnseen(id));
    if (unseen !== undefined) return this.resolvePreview(unseen, call);
    throw new ToolError(NOTHING_PENDING);
  }

  /** Votes on one preview; also what a directive of the queue runs. */
  async resolvePreview(id: string, call: ResolveCall): Promise<AgentToolResult> {
    this.#candidates = this.#candidates.filter(candidate => candidate !== id);
    const preview = this.#store.get(id);
    if (preview && this.#isUnseen(id))
      throw new ToolError(this.#known.has(id) ? unseenText(preview) : foreignText(preview));
    const revision = this.#seen.get(id);
    const { action, reason, extra, signal } = call;
    this.#voted.fire(id);
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

  /** What a tool call staged since the last request: what a vote without an id is about cannot be told then. */
  #stagedSince(): Preview | undefined {
    const id = [...this.#known].findLast(known => this.#isUnseen(known));
    const preview = id === undefined ? undefined : this.#store.get(id);
    return preview?.origin ? preview : undefined;
  }

  /** Whether the preview was staged after the model's last request, or in another conversation. */
  #isUnseen(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && isOpen(preview) && !this.#seen.has(id);
  }
}

async function stand(
  handler: StandingResolveHandler,
  call: ResolveCall,
  source: Pick<ResolveDetails, 'sourceToolName' | 'label'> = {},
): Promise<AgentToolResult> {
  const { action, reason, extra } = call;
  const params = { action, reason, ...(extra ? { extra } : {}) };
  const result = await handler(params);
  return { ...result, details: resolveDetails({ ...params, ...source }, result.details) };
}
