import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import type { Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { expiredText, outcomeText } from '../preview/resolve/resolveTexts.ts';

type Outcomes = readonly SteeringMessage[];

/** Messages that tell the model the outcomes it does not know from a result of its own `resolve` call on the trunk. */
export function outcomeMessages(
  entries: readonly LedgerEntry[],
  store: Pick<PreviewStore, 'get'>,
  previews: Pick<ConversationPreviews, 'isCallOnTrunk'>,
): Outcomes {
  return entries.flatMap(entry => {
    const { actor, call, interrupted, previewId } = entry;
    const isLost = actor === 'model' && call !== undefined && !previews.isCallOnTrunk(call);
    if (actor === 'model' && !interrupted && !isLost) return [];
    const part = store.get(previewId)?.part;
    const text = outcomeText(entry, { ...(part ? { part } : {}), onAbandonedBranch: isLost });
    return [{ role: 'steering', kind: 'outcome', text, previewIds: [previewId] }];
  });
}

/** The message that tells the model that an opaque preview can no longer be applied. */
export function expiryMessage(preview: Preview): SteeringMessage {
  return { role: 'steering', kind: 'outcome', text: expiredText(preview), previewIds: [preview.id] };
}

/** Messages for all outcomes in the ledger that concern the conversation and that `said` does not tell yet. */
export function unreportedOutcomes(
  said: readonly SteeringMessage[],
  store: Pick<PreviewStore, 'get' | 'ledger'>,
  previews: Pick<ConversationPreviews, 'concerns' | 'isCallOnTrunk'>,
): Outcomes {
  const told = said.flatMap(message => (message.kind === 'outcome' ? [message.text] : []));
  const ours = store.ledger().filter(({ previewId }) => previews.concerns(previewId));
  return outcomeMessages(ours, store, previews).filter(({ text }) => {
    // Two outcomes may have the same text; each occurrence in `said` covers one of them.
    const at = told.findIndex(said => said.includes(text));
    if (at >= 0) told[at] = told[at]?.replace(text, '') ?? '';
    return at < 0;
  });
}
