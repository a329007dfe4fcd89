import { isRecord } from '../../base/json.ts';
import { needsOwnVote, type CallRef, type Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { ConversationTree } from './conversationTree.ts';
import { nodeOfMessageId, type NodeId } from './nodeId.ts';

/** The tools whose calls are all that they change. No other tool can have their names. */
const OWN_TEXT: readonly string[] = ['edit_file', 'write_file', 'delete_file', 'rename_file'];

/** Whether the model has written all that a call proposes: not if an edit put its text in several places. @param details of its result */
export function isKnownBy(toolName: string, details: unknown): boolean {
  return OWN_TEXT.includes(toolName) && !(isRecord(details) && 'places' in details);
}

/**
 * Knows which previews concern one conversation: those whose origin names it, unless the tool result that staged them is on
 * an abandoned branch. This is always derived from the previews and the tree; no other class keeps a list. The class itself
 * only keeps which previews the current review waits for, and which ones the model was last reminded of.
 */
export class ConversationPreviews {
  readonly #sessionId: string;
  readonly #tree: ConversationTree;
  readonly #store: PreviewStore;
  /** The nodes of results found so far, by their calls. They never change. */
  readonly #resultNodes = new WeakMap<CallOfMessage, NodeId>();
  readonly #inReview = new Map<string, ReviewedSince>();
  readonly #reminded = new Set<string>();

  constructor(sessionId: string, tree: ConversationTree, store: PreviewStore) {
    this.#sessionId = sessionId;
    this.#tree = tree;
    this.#store = store;
  }

  /** Whether the preview was staged in this conversation by a result on the trunk, or by no tool call at all. */
  concerns(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && this.#isOurs(preview);
  }

  /** Whether the model is asked to resolve the preview. If not, it only hears the outcome. */
  asksModel(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && this.#asksModel(preview);
  }

  /**
   * The open previews that the model is asked to resolve, oldest first, which is an order in which they can be applied.
   */
  get openForModel(): readonly Preview[] {
    return this.#store.list('oldestFirst').filter(preview => this.#asksModel(preview));
  }

  /** All open previews of the conversation, oldest first, also those on which only a person decides. */
  get open(): readonly Preview[] {
    return this.#store.list('oldestFirst').filter(preview => this.#isOurs(preview));
  }

  get hasOpen(): boolean {
    for (const preview of this.#store.open) if (this.#isOurs(preview)) return true;
    return false;
  }

  /** The previews that these nodes staged, in the order of staging. */
  stagedBy(nodes: ReadonlySet<NodeId>): readonly Preview[] {
    return this.#store.all().filter(preview => {
      const node = this.#stagingNode(preview);
      return typeof node === 'number' && nodes.has(node);
    });
  }

  /**
   * The node of a tool call's result or, until it has one, of the message that makes the call. `undefined` for a call
   * of another conversation, or of a message that cannot be parsed.
   */
  nodeOfCall(call: CallRef): NodeId | undefined {
    return call.sessionId === this.#sessionId ? this.#nodeOf(call) : undefined;
  }

  /** Whether the call is on the trunk: the model has seen its result or will see it with the next request. */
  isCallOnTrunk(call: CallRef): boolean {
    const node = this.nodeOfCall(call);
    return node !== undefined && this.#tree.isOnTrunk(node);
  }

  /** Whether the result of the call is on the trunk and names the preview, so that the model knows what the call did to it. */
  isToldByResult(call: CallRef, previewId: string): boolean {
    const node = this.nodeOfCall(call);
    const message = node === undefined ? undefined : this.#tree.get(node)?.message;
    if (node === undefined || message?.role !== 'tool') return false;
    return this.#tree.isOnTrunk(node) && message.pending?.includes(previewId) === true;
  }

  /** Whether the model wrote the first revision itself, in a call on the trunk, and knows it without a diff. */
  isOwnText(preview: Preview): boolean {
    return this.#isOwn(this.#stagingNode(preview));
  }

  /** Whether the model wrote the amendment of this call, likewise. */
  isOwnAmendment(call: CallRef): boolean {
    return this.#isOwn(this.nodeOfCall(call));
  }

  #isOwn(node: NodeId | null | undefined): boolean {
    const isOnTrunk = typeof node === 'number' && this.#tree.isOnTrunk(node);
    const message = isOnTrunk ? this.#tree.get(node)?.message : undefined;
    return message?.role === 'tool' && isKnownBy(message.toolName, message.details);
  }

  /** Whether the command that made it has not ended yet: its end tells the model of it. */
  isOfRunning({ origin }: Preview): boolean {
    return this.open.some(
      each =>
        each.purpose === 'command' &&
        each.state.kind === 'applying' &&
        each.origin?.call?.toolCallId === origin?.call?.toolCallId,
    );
  }

  /** Makes the review wait for this preview. The session may continue by itself once all such previews are resolved. */
  addToReview(id: string, since: ReviewedSince = 'prompt'): void {
    this.#inReview.set(id, since);
  }

  /** The conversation was opened again: previews in review stay in review if the model is to hear their outcome. */
  restoreReview(ids: readonly string[]): void {
    for (const id of ids) {
      const preview = this.#store.get(id);
      if (preview && isReviewed(preview)) this.#inReview.set(id, 'restored');
    }
  }

  /** The user sends a prompt: earlier previews stay in review, but the session no longer waits for all of them. */
  beginPrompt(): void {
    for (const [id, since] of this.#inReview) if (since === 'prompt') this.#inReview.set(id, 'earlier');
  }

  /** Whether one of these is a command or a call in review that is running or waits for the user. */
  hasUnrun(ids: readonly string[]): boolean {
    return this.#unrun.some(({ id }) => ids.includes(id));
  }

  /** Whether one of these is an unrun command that tests earlier changes in the sandbox. */
  hasUnrunTest(ids: readonly string[]): boolean {
    return this.#unrun.some(preview => ids.includes(preview.id) && isTest(preview));
  }

  /** Whether an unrun test (see {@link hasUnrunTest}) was proposed after the preview, or after the command that made it. */
  isToBeTested(preview: Preview): boolean {
    const node = this.#stagingNode(preview) ?? 0;
    return this.#unrun.some(each => isTest(each) && (this.#stagingNode(each) ?? 0) >= node);
  }

  /** Makes the review no longer wait for this preview. */
  removeFromReview(id: string): void {
    this.#inReview.delete(id);
  }

  /** Whether a preview in review can still be resolved. */
  get hasInReview(): boolean {
    return this.open.some(({ id }) => this.#inReview.has(id));
  }

  /** Since when the preview is in review; `undefined` if it is not. */
  reviewedSince(id: string): ReviewedSince | undefined {
    return this.#inReview.get(id);
  }

  /** Makes the review wait for no preview any more: after Stop or Discard All. @returns whether it waited for anything. */
  endReview(): boolean {
    const wasReviewing = this.#inReview.size > 0;
    this.#inReview.clear();
    return wasReviewing;
  }

  /** Notes that a reminder of the preview is on its way to the model. */
  addReminder(id: string): void {
    this.#reminded.delete(id);
    this.#reminded.add(id);
  }

  /** Replaces the noted reminders by those that the conversation now holds, in their order. */
  setReminders(ids: Iterable<string>): void {
    this.#reminded.clear();
    for (const id of ids) this.addReminder(id);
  }

  /** The previews that the model was reminded of, the latest last. */
  get reminded(): readonly string[] {
    return [...this.#reminded].filter(id => this.concerns(id));
  }

  get #unrun(): readonly Preview[] {
    return this.open.filter(
      preview => preview.kind === 'action' && needsOwnVote(preview) && this.#inReview.has(preview.id),
    );
  }

  #isOurs(preview: Preview): boolean {
    const node = this.#stagingNode(preview);
    return node !== undefined && (node === null || this.#tree.isOnTrunk(node));
  }

  #asksModel(preview: Preview): boolean {
    return preview.origin?.asksModel === true && this.#isOurs(preview);
  }

  /** `null` for a preview that no tool call staged; `undefined` for one of another conversation. */
  #stagingNode({ origin }: Preview): NodeId | null | undefined {
    if (origin?.sessionId !== this.#sessionId) return undefined;
    return origin.call ? this.#nodeOf(origin.call) : null;
  }

  #nodeOf(call: CallOfMessage): NodeId | undefined {
    const known = this.#resultNodes.get(call);
    if (known !== undefined) return known;
    const message = nodeOfMessageId(call.messageId);
    const result = message === undefined ? undefined : this.#tree.resultsOf(message).get(call.toolCallId);
    if (result !== undefined) this.#resultNodes.set(call, result);
    return result ?? message;
  }
}

/** Since when a preview is in review: since the last prompt, an earlier one, or before the conversation was opened again. */
export type ReviewedSince = 'prompt' | 'earlier' | 'restored';

/** Whether the session may go on by itself with the outcome of the preview; not if the user asked for the preview. */
export function isReviewed({ origin, kind }: Preview): boolean {
  return origin?.asksModel === true || kind === 'plan';
}

function isTest({ purpose, details }: Preview): boolean {
  return purpose === 'command' && isRecord(details) && details['sandbox'] !== undefined;
}

/** A call of this conversation. */
type CallOfMessage = Omit<CallRef, 'sessionId'>;
