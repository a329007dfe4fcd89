import * as l10n from '@vscode/l10n';
import { countText } from '../../../agent/base/localiser.ts';
import {
  byText,
  expiredText,
  isRunAgain,
  outcomeText,
  problemText,
  rebaseText,
  recommendationText,
  runText,
  underWayText,
} from '../../texts/previewWords.ts';
import type { CardState, HunkCounts, ItemOf, PartRow } from '../protocol.ts';
import { plural } from '../../plainText.ts';

type Card = ItemOf<'preview'>;
type Outcome = Pick<PartRow, 'state' | 'isReopened'> & Partial<Pick<Card, 'face'>>;

/** The state of a preview, with who resolved it; `undefined` while it is just pending. */
export function stateText({ state, isReopened, face }: Outcome): string | undefined {
  const text = ownStateText(state, face);
  return text !== undefined && isReopened ? l10n.t('{0}, reopened', text) : text;
}

function ownStateText(state: CardState, face: Outcome['face']): string | undefined {
  switch (state.kind) {
    case 'pending':
      return undefined;
    case 'applying':
      return underWayText(state.action, face);
    case 'applied':
    case 'discarded':
    case 'undone':
      if ('run' in state && state.run)
        return [runText(state.run), byText(state.actor, state.agent)].join(' · ');
      return outcomeText(state.kind, state.actor, state.agent, face === 'approve');
    case 'failed':
      return l10n.t('Applied, and returned an error');
    case 'expired':
      return expiredText(state, String);
  }
}

/** The reason for the outcome, if one was given. */
export function reasonOf({ state }: Outcome): string | undefined {
  return 'reason' in state && state.kind !== 'expired' ? state.reason : undefined;
}

/** Kinds of notes on a pending or failed preview. */
export type CardNote = 'recommendation' | 'conflicts' | 'stale' | 'last-error';

/** Notes on a card, other than its state, in the order shown. */
export function cardNotes({
  state,
  advice,
}: Pick<Card, 'state' | 'advice'>): readonly (readonly [CardNote, string])[] {
  const notes: [CardNote, string][] = [];
  if (advice) notes.push(['recommendation', recommendationText(advice, String)]);
  const problem = state.kind === 'pending' ? state.problem : undefined;
  if (state.kind === 'failed') notes.push(['last-error', state.error]);
  if (problem?.kind === 'stale') notes.push(['stale', `${problemText(problem, String)} ${rebaseText()}`]);
  else if (problem)
    notes.push([problem.kind === 'failed' ? 'last-error' : problem.kind, problemText(problem, String)]);
  return notes;
}

/** Whether all hunks are decided, some applied and some discarded. */
export function isMixed({ applied, discarded, undone, left }: HunkCounts): boolean {
  return applied > 0 && discarded > 0 && undone + left === 0;
}

/** `1 applied · 1 discarded · 1 left` */
export function partsText({ counts }: NonNullable<Card['parts']>): string {
  return hunksText(counts);
}

/** The same for counts of hunks. */
export function hunksText(counts: HunkCounts): string {
  const { applied, discarded, undone, left } = counts;
  if (isMixed(counts))
    return plural(l10n.t('{1} of 1 hunk applied|{1} of {0} hunks applied'), applied + discarded, applied);
  const texts = [
    applied > 0 && l10n.t('{0} applied', applied),
    discarded > 0 && l10n.t('{0} discarded', discarded),
    undone > 0 && l10n.t('{0} undone', undone),
    left > 0 && l10n.t('{0} left', left),
  ];
  return texts.filter(text => text !== false).join(' · ');
}

/** `cart.ts, hunk 2`, or the file's name if it is a whole file. */
export function partName({ file, hunk, others = 1 }: PartRow): string {
  if (file === undefined) return countText(l10n.t('1 other hunk|{0} other hunks'), l10n)(others);
  return hunk === undefined ? file : l10n.t('{1}, hunk {0}', hunk, file);
}

export function isOpen({ state }: Card): boolean {
  return state.kind === 'pending' || state.kind === 'applying';
}

/**
 * The first line of a pending card, which says that nothing has happened yet; `undefined` if it is not pending, is decided in
 * part, or may have run in part.
 */
export function waitingText({
  state,
  parts,
  face,
}: Pick<Card, 'state' | 'parts' | 'face'>): string | undefined {
  if (state.kind !== 'pending' || parts || isRunAgain(state.problem)) return undefined;
  switch (face) {
    case 'run':
    case 'call':
      return l10n.t('Not run yet');
    case 'approve':
      return l10n.t('Not approved yet');
    default:
      return l10n.t('Not written yet');
  }
}

/** The state of a card, unless its parts show it. */
export function cardState(card: Card): string | undefined {
  return card.parts && !isOpen(card) ? undefined : stateText(card);
}

/** Name of a card: its label, with its outcome once it has one. */
export function cardName(card: Card): string {
  return [card.label, cardState(card)].filter(text => text !== undefined).join(', ');
}
