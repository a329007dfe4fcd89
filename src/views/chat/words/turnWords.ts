import * as l10n from '@vscode/l10n';
import { outcomeText, outcomeWord } from '../../texts/previewWords.ts';
import type { ItemOf, TurnRow } from '../protocol.ts';
import { hunksText, isMixed } from './cardWords.ts';
import { plural } from '../../plainText.ts';

type Turn = ItemOf<'turn'>;

/** `8 files`, with its outcome once it has one. */
export function turnName(turn: Pick<Turn, 'files' | 'state'>): string {
  const files = plural(l10n.t('1 file|{0} files'), turn.files);
  const state = stateWord(turn.state);
  return state === undefined ? files : `${files}, ${state}`;
}

/** Outcome of a turn's changes, and who decided it; for mixed outcomes, how many hunks had which. */
export function turnStateText({ state, counts, by }: Turn): string | undefined {
  if (state === 'mixed') return hunksText(counts);
  const isDecided = state === 'applied' || state === 'discarded' || state === 'undone';
  return by && isDecided ? outcomeText(state, by.actor, by.agent) : stateWord(state);
}

/** How much of an open turn is decided, which stands first on its card. */
export function turnWaitingText({ open, counts }: Turn): string | undefined {
  if (open.length === 0) return undefined;
  return counts.applied + counts.discarded + counts.undone > 0
    ? hunksText(counts)
    : l10n.t('Not written yet');
}

/** Outcome of the change of a file; `undefined` while it is merely pending. */
export function rowStateText({ state, counts }: TurnRow): string | undefined {
  const isProblem = state === 'stale' || state === 'conflicts' || state === 'failed';
  if (!counts || isProblem) return stateWord(state);
  // Beside the name of a file is little room.
  return isMixed(counts)
    ? l10n.t('{0} of {1} applied', counts.applied, counts.applied + counts.discarded)
    : hunksText(counts);
}

function stateWord(state: TurnRow['state']): string | undefined {
  switch (state) {
    case 'pending':
      return undefined;
    case 'applying':
      return l10n.t('being applied or discarded');
    case 'applied':
    case 'undone':
    case 'discarded':
      return outcomeWord(state);
    case 'mixed':
      return l10n.t('applied in part');
    case 'failed':
      return l10n.t('failed');
    case 'expired':
      return l10n.t('expired');
    case 'stale':
      return l10n.t('stale');
    case 'conflicts':
      return l10n.t('conflicts');
  }
}
