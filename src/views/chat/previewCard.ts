import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { DiffStat } from '../../agent/preview/lineDiff.ts';
import type { Preview, ResolveAction, Resolution } from '../../agent/preview/preview.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import { fill, type FileRow, type ItemOf } from './protocol.ts';
import type { TranscriptStrings } from './strings.ts';

/** The most files that a card lists. */
const MAX_FILES = 8;

export interface CardFacts {
  /** The last attempt to resolve the preview. */
  readonly lastAttempt: LedgerEntry | undefined;
  /** One for each change, as far as they were counted. */
  readonly stats: readonly DiffStat[] | undefined;
}

/** One preview as the panel shows it. */
export function previewCard(
  preview: Preview,
  facts: CardFacts,
  strings: TranscriptStrings,
): ItemOf<'preview'> {
  const changes = preview.changes ?? [];
  const total = changes.length > 1 && facts.stats ? sumOf(facts.stats, changes.length) : undefined;
  return {
    kind: 'preview',
    key: `p:${preview.id}`,
    id: preview.id,
    revision: preview.revision,
    label: preview.label,
    source: preview.sourceToolName,
    files: changes.slice(0, MAX_FILES).map((change, i) => fileRow(change, facts.stats?.[i], strings)),
    moreFiles: changes.length > MAX_FILES ? fill(strings.moreFiles, changes.length - MAX_FILES) : '',
    ...(total ? { stat: shownStat(total) } : {}),
    ...stateOf(preview, facts.lastAttempt, strings),
  };
}

type CardState = Pick<
  ItemOf<'preview'>,
  'state' | 'stateText' | 'reason' | 'recommendation' | 'stale' | 'lastError'
>;

function stateOf(preview: Preview, attempt: LedgerEntry | undefined, strings: TranscriptStrings): CardState {
  const { state } = preview;
  const quiet = { stateText: '', reason: '', recommendation: '', stale: '', lastError: '' };
  switch (state.kind) {
    case 'pending': {
      const { recommendation, stale, lastError } = state;
      return {
        ...quiet,
        state: 'pending',
        recommendation: recommendation
          ? fill(
              strings.modelRecommends[recommendation.action],
              recommendation.reason.trim() || strings.noReason,
            )
          : '',
        stale: stale.length > 0 ? fill(strings.stale, stale.join(', ')) : '',
        // A stale preview's failure says the same in more words.
        lastError: lastError !== undefined && stale.length === 0 ? fill(strings.lastError, lastError) : '',
      };
    }
    case 'applying':
      return { ...quiet, state: 'applying', stateText: strings.applying[state.action] };
    case 'applied':
      if (attempt?.outcome === 'failed') {
        const lastError = attempt.message ?? '';
        return { ...quiet, state: 'failed', stateText: strings.applyFailed, lastError };
      }
      return {
        ...quiet,
        state: 'applied',
        stateText: strings.applied[state.by.actor],
        reason: givenReason('apply', state.by),
      };
    case 'discarded':
      return {
        ...quiet,
        state: 'discarded',
        stateText: strings.discarded[state.by.actor],
        reason: givenReason('discard', state.by),
      };
    case 'expired':
      return { ...quiet, state: 'expired', stateText: strings.expired };
  }
}

/** The reason, unless it stands for a click without words, or in the block of the model's own `resolve`. */
function givenReason(action: ResolveAction, { actor, reason }: Resolution): string {
  return actor === 'model' || reason === humanReason(action) ? '' : reason.trim();
}

function fileRow(change: FileChange, stat: DiffStat | undefined, strings: TranscriptStrings): FileRow {
  return {
    path: change.path,
    ...(change.kind === 'rename' ? { from: change.from } : {}),
    change: change.kind,
    changeLabel: strings.change[change.kind],
    ...(stat ? { stat: shownStat(stat) } : {}),
  };
}

/** The sum, or `undefined` while some file was not counted. */
function sumOf(stats: readonly DiffStat[], files: number): DiffStat | undefined {
  if (stats.length < files) return undefined;
  return stats.reduce((sum, stat) => ({
    added: sum.added + stat.added,
    removed: sum.removed + stat.removed,
    exact: sum.exact && stat.exact,
  }));
}

/** `+3` and `−1`, with a `~` where the texts were too different to count exactly; nothing for zero. */
function shownStat({ added, removed, exact }: DiffStat): { added: string; removed: string } {
  const shown = (sign: string, count: number): string =>
    count === 0 ? '' : `${sign}${exact ? '' : '~'}${count}`;
  return { added: shown('+', added), removed: shown('−', removed) };
}
