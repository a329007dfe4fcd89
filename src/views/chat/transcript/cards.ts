import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import { previewView, type PreviewFacts } from '../../../agent/hold/preview/previewView.ts';
import type { ItemOf, ViewItem } from '../protocol.ts';
import { buildLookup, type Lookup, type TranscriptInput } from './lookup.ts';
import { previewCard } from './previewCard.ts';
import { messageIdOf } from '../../../agent/session/conversation/nodeId.ts';

/** The most pending previews from elsewhere that are listed; the pending view shows all of them. */
const MAX_OTHER_PENDING = 20;
/** The open previews that the user asked for (Undo, Reopen), or a revert, below the conversation: they are new there. */
export function restaged(input: TranscriptInput, lookup: Lookup): ViewItem[] {
  return input.previews
    .filter(preview => isOpen(preview) && isRestaged(preview))
    .flatMap(preview => [...stillApplied(preview, input), card(preview, input, lookup)]);
}

function isRestaged({ reopens, undoes, origin }: Preview): boolean {
  return origin?.call === undefined && (reopens !== undefined || undoes !== undefined);
}

/** Other open previews that no call on this trunk staged: from an earlier session, another branch or another extension. */
export function otherPending(input: TranscriptInput, lookup: Lookup): ViewItem[] {
  const { previews, sessionId } = input;
  const here = messageIds(input);
  const isHere = ({ origin }: Preview): boolean =>
    origin?.sessionId === sessionId && origin.call !== undefined && here.has(origin.call.messageId);
  const open = previews.filter(preview => isOpen(preview) && !isHere(preview) && !isRestaged(preview));
  if (open.length === 0) return [];
  const shown = open.slice(-MAX_OTHER_PENDING);
  const more = open.length - shown.length;
  return [
    { kind: 'heading', key: 'elsewhere', heading: { about: 'alsoPending' } },
    ...(more > 0
      ? [{ kind: 'heading', key: 'elsewhere:more', heading: { about: 'morePending', count: more } } as const]
      : []),
    ...shown.map(preview => card(preview, input, lookup)),
  ];
}

/** The cards that are no longer shown because their previews have been resolved: what has become of each. */
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

/** The card of a preview. @param call the call that staged it, if the card stands for it. */
export function card(
  preview: Preview,
  input: TranscriptInput,
  lookup: Lookup,
  call?: ItemOf<'preview'>['call'],
): ItemOf<'preview'> {
  const parts = lookup.parts.get(preview.id)?.map(part => previewView(part, factsOf(part, input, lookup)));
  const view = previewView(preview, { ...factsOf(preview, input, lookup), parts });
  return previewCard(view, input.commandOutput?.(preview.id), call);
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

/** What a card unfolds of the call that staged it. */
export function foldOf({ name, input, output }: ItemOf<'tool'>): ItemOf<'preview'>['call'] {
  return { name, input, output };
}

/** Above what a revert staged to undo a branch: that its changes are still in the files, unless the branch is back. */
function stillApplied(preview: Preview, input: TranscriptInput): ViewItem[] {
  const { id, undoes = [], purpose, changes, origin } = preview;
  if (purpose !== 'revert' || undoes.length === 0 || origin?.sessionId !== input.sessionId) return [];
  const here = messageIds(input);
  const isBack = ({ origin: of }: Preview): boolean => of?.call !== undefined && here.has(of.call.messageId);
  const undone = input.previews.filter(other => undoes.includes(other.id));
  if (undone.length > 0 && undone.every(isBack)) return [];
  const notice = { about: 'stillApplied', count: changes?.length ?? 0, id } as const;
  return [{ kind: 'notice', key: `still:${id}`, notice }];
}

/** The ids of the messages on the trunk. */
function messageIds({ messages, nodeAt }: TranscriptInput): ReadonlySet<string> {
  return new Set(messages.map((_, at) => messageIdOf(nodeAt(at))));
}
