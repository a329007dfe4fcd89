import { inSets } from '../../../agent/hold/preview/changeSet.ts';
import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import { previewView, type PreviewFacts, type PreviewView } from '../../../agent/hold/preview/previewView.ts';
import type { ItemOf, ViewItem } from '../protocol.ts';
import type { CheckRow } from '../viewItem.ts';
import { buildLookup, isListedPart, type Lookup, type TranscriptInput } from './lookup.ts';
import { previewCard } from './previewCard.ts';
import { isOfTurn, turnCard } from './turnCard.ts';
import { messageIdOf } from '../../../agent/session/conversation/nodeId.ts';

/** The most changes from elsewhere that are listed, those of one set as one; the pending view shows all of them. */
const MAX_OTHER_PENDING = 20;
/** The open previews that an Undo, a Reopen or a revert staged; they go below the conversation, as the newest. */
export function restaged(input: TranscriptInput, lookup: Lookup): ViewItem[] {
  return input.previews
    .filter(preview => isOpen(preview) && isRestaged(preview))
    .flatMap(preview => [...stillApplied(preview, input), card(preview, input, lookup)]);
}

function isRestaged({ reopens, undoes, origin }: Preview): boolean {
  return origin?.call === undefined && (reopens !== undefined || undoes !== undefined);
}

/**
 * Previews that no call on this trunk staged, from an earlier session, another branch, agent or extension: open ones, and those
 * decided after the conversation showed them.
 */
export function fromElsewhere(input: TranscriptInput, lookup: Lookup): ViewItem[] {
  const { previews, sessionId, elsewhere } = input;
  const here = messageIds(input);
  const isHere = ({ origin }: Preview): boolean =>
    origin?.sessionId === sessionId && origin.call !== undefined && here.has(origin.call.messageId);
  const kept = previews.filter(
    preview =>
      (isOpen(preview) || elsewhere?.has(preview.id) === true) &&
      !isHere(preview) &&
      !isRestaged(preview) &&
      !isListedPart(preview),
  );
  if (kept.length === 0) return [];
  const sets = inSets(kept);
  const shown = sets.slice(-MAX_OTHER_PENDING);
  const more = sets
    .slice(0, sets.length - shown.length)
    .flatMap(set => set.previews)
    .filter(isOpen).length;
  return [
    { kind: 'heading', key: 'elsewhere', heading: { about: 'elsewhere' } },
    ...(more > 0
      ? [{ kind: 'heading', key: 'elsewhere:more', heading: { about: 'morePending', count: more } } as const]
      : []),
    ...shown.flatMap(({ previews: ofSet }) => cardsOf(ofSet, input, lookup)),
  ];
}

/** The cards of previews that belong together: one for all file changes if there are several, and one for each other preview. */
export function cardsOf(together: readonly Preview[], input: TranscriptInput, lookup: Lookup): ViewItem[] {
  const changes = together.filter(isOfTurn);
  const [first] = changes;
  if (!first || changes.length < 2) return together.map(preview => card(preview, input, lookup));
  const inOrder = input.inOrder?.(changes) ?? changes;
  return [
    turnCard(
      first.id,
      inOrder.map(preview => viewOf(preview, input, lookup)),
    ),
    ...together.filter(preview => !isOfTurn(preview)).map(preview => card(preview, input, lookup)),
  ];
}

/** The cards that are no longer shown because their previews have been resolved, with the outcome of each. */
export function resolvedCards(
  before: readonly ViewItem[],
  after: readonly ViewItem[],
  input: TranscriptInput,
): ViewItem[] {
  const kept = new Set(after.map(({ key }) => key));
  const gone = new Set(
    before.flatMap(item => (item.kind === 'preview' && !kept.has(item.key) ? item.id : [])),
  );
  if (gone.size === 0) return [];
  const resolved = input.previews.filter(preview => gone.has(preview.id) && !isOpen(preview));
  if (resolved.length === 0) return [];
  const lookup = buildLookup(input, input.messages.length);
  return resolved.map(preview => card(preview, input, lookup));
}

/** True if there are checks for this pending preview, none of them running or with a current result; else `undefined`. */
function canCheck(
  checks: readonly CheckRow[] | undefined,
  preview: Preview,
  { hasChecks }: TranscriptInput,
): true | undefined {
  const waits = preview.state.kind === 'pending' && isOfTurn(preview);
  const isTold = checks?.some(({ isCurrent, state }) => isCurrent || state === 'running') === true;
  return hasChecks === true && waits && !isTold ? true : undefined;
}

/** The card of a preview. */
export function card(preview: Preview, input: TranscriptInput, lookup: Lookup): ItemOf<'preview'> {
  const shown = previewCard(viewOf(preview, input, lookup), input.commandOutput?.(preview.id));
  return { ...shown, canCheck: canCheck(shown.checks, preview, input) };
}

function viewOf(preview: Preview, input: TranscriptInput, lookup: Lookup): PreviewView {
  const parts = lookup.parts.get(preview.id)?.map(part => previewView(part, factsOf(part, input, lookup)));
  return previewView(preview, { ...factsOf(preview, input, lookup), parts });
}

function factsOf(
  preview: Preview,
  { stats, checks, risks }: TranscriptInput,
  { lineage, attempts }: Lookup,
): PreviewFacts {
  return {
    lastAttempt: attempts.get(preview.id),
    ...lineage.factsOf(preview),
    stats: stats(preview),
    checks: checks?.(preview),
    risks: risks?.(preview),
  };
}

/**
 * Notice above a preview that undoes a reverted branch: its changes are still in the files. None if the branch is active again.
 */
function stillApplied(preview: Preview, input: TranscriptInput): ViewItem[] {
  const { id, undoes = [], purpose, changes, origin } = preview;
  if (purpose !== 'revert' || undoes.length === 0 || origin?.sessionId !== input.sessionId) return [];
  const here = messageIds(input);
  const isBack = ({ origin: of }: Preview): boolean => of?.call !== undefined && here.has(of.call.messageId);
  const undone = input.previews.filter(other => undoes.includes(other.id));
  if (undone.length > 0 && undone.every(isBack)) return [];
  const notice = { about: 'stillApplied', count: changes?.length ?? 0 } as const;
  return [{ kind: 'notice', key: `still:${id}`, notice }];
}

/** The ids of the messages on the trunk. */
function messageIds({ messages, nodeAt }: TranscriptInput): ReadonlySet<string> {
  return new Set(messages.map((_, at) => messageIdOf(nodeAt(at))));
}
