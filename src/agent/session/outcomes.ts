import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { Fact } from '../preview/feed.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { factText, isMoot, outcomeText } from '../preview/resolve/resolveTexts.ts';

/**
 * The message that tells the model what happened to a preview of its conversation; `undefined` if the preview does not concern
 * it, or the result of a `resolve` call on the trunk told it.
 */
export function factMessage(
  fact: Fact,
  store: PreviewStore,
  previews: ConversationPreviews,
): SteeringMessage | undefined {
  const { key, previewId } = fact;
  const preview = store.get(previewId);
  if (!preview || !previews.concerns(previewId)) return undefined;
  const about = { role: 'steering', previewIds: [previewId], tells: [key] } as const;
  if (fact.kind === 'revision') return { ...about, kind: 'revision', text: factText(fact, preview) };
  if (fact.kind === 'expiry' || fact.entry.actor !== 'model')
    return { ...about, kind: 'outcome', text: factText(fact, preview) };
  const { call, interrupted } = fact.entry;
  const isLost = call !== undefined && !previews.isCallOnTrunk(call);
  if (!interrupted && !isLost) return undefined;
  const text = outcomeText(fact.entry, { preview, onAbandonedBranch: isLost });
  return { ...about, kind: 'outcome', text };
}

/** Messages for all that happened to the previews of the conversation and that `said` does not tell yet. */
export function untoldMessages(
  said: readonly SteeringMessage[],
  store: PreviewStore,
  previews: ConversationPreviews,
): readonly SteeringMessage[] {
  const { facts } = store.feed;
  const told = toldBy(said, facts, fact => factMessage(fact, store, previews) !== undefined);
  return facts.flatMap(fact => {
    if (told.has(fact.key) || isMoot(fact, store.get(fact.previewId))) return [];
    return factMessage(fact, store, previews) ?? [];
  });
}

/**
 * The keys of what messages tell. Those of older versions store none: there each id of an outcome stands for the earliest
 * outcome of that preview which another does not stand for, and a revision for all that there are.
 * @param needsMessage whether a message tells it, and not a result.
 */
function toldBy(
  said: readonly SteeringMessage[],
  facts: readonly Fact[],
  needsMessage: (fact: Fact) => boolean,
): ReadonlySet<string> {
  const told = new Set(said.flatMap(({ tells }) => tells ?? []));
  for (const { kind, previewIds, tells } of said) {
    if (tells || (kind !== 'outcome' && kind !== 'revision')) continue;
    for (const id of previewIds) {
      const meant = facts.filter(
        fact =>
          fact.previewId === id &&
          (fact.kind === 'revision') === (kind === 'revision') &&
          !told.has(fact.key) &&
          needsMessage(fact),
      );
      for (const { key } of kind === 'outcome' ? meant.slice(0, 1) : meant) told.add(key);
    }
  }
  return told;
}
