import { messageOf } from '../base/errors.ts';
import type { SessionMessage, SteeringMessage } from '../model/messages.ts';
import type { ConversationTree } from '../tree/conversationTree.ts';
import { nodeOfMessageId } from '../tree/nodeId.ts';
import { callsWithoutResult, unknownResult } from '../tree/validTrunk.ts';
import { isOpen } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Conversation } from './conversation.ts';
import { outcomeMessages, type Review } from './review.ts';
import { missedResolutions } from './missedResolutions.ts';
import type { StoredSession } from './storedSession.ts';
import type { ToolChoices } from './toolChoices.ts';

/** Shown to the person and told to the model when a session was cut off. */
const INTERRUPTED =
  'This session was interrupted: the window was reloaded or closed in the middle of a turn.';

/**
 * What must be added to a conversation that was cut off: a result for each call of the last answer that has none, and, if
 * it was in the middle of a turn, a word about it. Older gaps are mended where a request is made: see `validTrunk`.
 */
export function mended(tree: ConversationTree, interrupted: boolean): readonly SessionMessage[] {
  const results = callsWithoutResult(tree).map(unknownResult);
  if (!interrupted) return results;
  return [...results, { role: 'steering', kind: 'notice', text: INTERRUPTED, previewIds: [] }];
}

/** What must be added when a turn broke off by a fault of ours: its missing results, and what is shown of it. */
export function brokenOff(tree: ConversationTree, error: unknown): readonly SessionMessage[] {
  const failed = { role: 'assistant', text: '', toolCalls: [], stopReason: 'error' } as const;
  return [...mended(tree, false), { ...failed, error: `Something went wrong: ${messageOf(error)}` }];
}

/**
 * Takes up what a stored conversation has to do with previews: those that were staged in it, or put to its model by a
 * reminder. What the process ended too early to say, an outcome or a reminder, is said with the next request. What
 * became of them meanwhile goes into its log.
 */
export function remember(
  stored: StoredSession,
  store: Pick<PreviewStore, 'all' | 'get' | 'ledger'>,
  conversation: Pick<Conversation, 'keep'>,
  review: Review,
  choices: Pick<ToolChoices, 'remind' | 'reminded'>,
): void {
  conversation.keep(missedResolutions(stored, store));
  const said = stored.tree.steering;
  const reminded = remindedIn(said);
  for (const preview of store.all()) {
    const { id, origin, part } = preview;
    const isOrigin = origin?.sessionId === stored.id;
    if (isOrigin && isLeft(stored.tree, origin.messageId)) continue;
    // A process that ends between two logs leaves the preview alone to tell where it was staged.
    const isOurs = stored.previews.has(id) || isOrigin;
    if (!isOurs && !reminded.has(id) && !review.knows(part?.previewId ?? '')) continue;
    review.remember(id);
    if (!isOpen(preview)) continue;
    if (reminded.has(id)) choices.reminded(id);
    else if (stored.previews.get(id) ?? part === undefined) choices.remind(preview);
  }
  for (const message of untoldOutcomes(said, store))
    if (message.previewIds.every(id => review.knows(id))) review.tell(message);
}

/** Whether the message stands on a branch that was left. */
function isLeft(tree: ConversationTree, messageId: string): boolean {
  const node = nodeOfMessageId(messageId);
  return node !== undefined && !tree.isOnTrunk(node);
}

/** The outcomes that the model did not bring about and was not told of in these messages. */
export function untoldOutcomes(
  said: readonly SteeringMessage[],
  store: Pick<PreviewStore, 'get' | 'ledger'>,
): readonly SteeringMessage[] {
  const told = said.flatMap(message => (message.kind === 'outcome' ? [message.text] : []));
  return outcomeMessages(store.ledger(), store).filter(({ text }) => {
    // One telling is good for one of several outcomes of the same words.
    const at = told.findIndex(said => said.includes(text));
    if (at >= 0) told[at] = told[at]?.replace(text, '') ?? '';
    return at < 0;
  });
}

/** The previews that the model was reminded of. */
export function remindedIn(said: readonly SteeringMessage[]): Set<string> {
  return new Set(said.flatMap(({ kind, previewIds }) => (kind === 'resolve-reminder' ? previewIds : [])));
}
