import type { ConversationPreviews } from './conversation/conversationPreviews.ts';
import type { SteeringMessage } from './model/messages.ts';
import type { Fact } from '../hold/preview/feed.ts';
import type { PreviewStore } from '../hold/preview/previewStore.ts';
import { isMoot } from '../hold/preview/resolve/moot.ts';
import { factText, outcomeText } from '../hold/preview/resolve/resolveTexts.ts';

/**
 * The message that tells the model what happened to a preview of its conversation; `undefined` if the preview does not concern the
 * conversation, or the model has heard of it from the result of a call on the trunk.
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
  switch (fact.kind) {
    case 'stale':
      if (fact.isSaid) return undefined;
      return { ...about, kind: 'revision', text: factText(fact, preview) };
    case 'revision':
      if (fact.call && previews.isToldByResult(fact.call, previewId)) return undefined;
      return { ...about, kind: 'revision', text: factText(fact, preview) };
    case 'fresh':
      return { ...about, kind: 'revision', text: factText(fact, preview) };
    case 'expiry':
      return { ...about, kind: 'outcome', text: factText(fact, preview) };
    case 'attempt':
      if (fact.entry.actor !== 'model' || fact.entry.lost)
        return { ...about, kind: 'outcome', text: factText(fact, preview) };
  }
  const { call, interrupted } = fact.entry;
  const isLost = call !== undefined && !previews.isCallOnTrunk(call);
  if (!interrupted && !isLost) return undefined;
  const text = outcomeText(fact.entry, { preview, onAbandonedBranch: isLost });
  return { ...about, kind: 'outcome', text };
}

/**
 * Messages for everything that happened to the previews of the conversation and that `said` does not tell yet, with their facts.
 * @param keys of facts that were told in other ways, too.
 */
export function untoldMessages(
  said: readonly SteeringMessage[],
  keys: Iterable<string>,
  store: PreviewStore,
  previews: ConversationPreviews,
): readonly (readonly [SteeringMessage, Fact])[] {
  const { facts } = store.feed;
  const told = toldBy(said, keys, facts, fact => factMessage(fact, store, previews) !== undefined);
  return facts.flatMap(fact => {
    if (told.has(fact.key) || isMoot(fact, store.get(fact.previewId))) return [];
    if (fact.kind === 'fresh' && !isKnownStale(fact, facts, told)) return [];
    const message = factMessage(fact, store, previews);
    return message ? [[message, fact] as const] : [];
  });
}

/** Whether the model was told that the preview was stale, before this fact says that it no longer is. */
function isKnownStale(fresh: Fact, facts: readonly Fact[], told: ReadonlySet<string>): boolean {
  const before = facts.slice(0, facts.indexOf(fresh));
  const stale = before.findLast(({ kind, previewId }) => kind === 'stale' && previewId === fresh.previewId);
  return stale?.kind === 'stale' && (stale.isSaid || told.has(stale.key));
}

/**
 * The keys of the facts that messages tell. Messages of older versions store none: there, each id of an outcome stands for the
 * earliest outcome of that preview not yet accounted for, and a revision stands for all revisions.
 * @param needsMessage whether a message, not a result, tells the fact.
 */
function toldBy(
  said: readonly SteeringMessage[],
  keys: Iterable<string>,
  facts: readonly Fact[],
  needsMessage: (fact: Fact) => boolean,
): ReadonlySet<string> {
  const told = new Set([...keys, ...said.flatMap(({ tells }) => tells ?? [])]);
  for (const { kind, previewIds, tells } of said) {
    if (tells || (kind !== 'outcome' && kind !== 'revision')) continue;
    for (const id of previewIds) {
      const meant = facts.filter(
        fact =>
          fact.previewId === id &&
          (kind === 'revision'
            ? fact.kind === 'revision'
            : fact.kind === 'attempt' || fact.kind === 'expiry') &&
          !told.has(fact.key) &&
          needsMessage(fact),
      );
      for (const { key } of kind === 'outcome' ? meant.slice(0, 1) : meant) told.add(key);
    }
  }
  return told;
}
