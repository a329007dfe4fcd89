import type { FileChange } from '../../../agent/preview/fileChange.ts';
import type { LedgerEntry } from '../../../agent/preview/ledger.ts';
import type { Preview, ResolveAction, Resolution } from '../../../agent/preview/preview.ts';
import { commandOf } from '../../../agent/tools/command/runCommand.ts';
import { toolCallOf } from '../../../agent/tools/editor/toolCallPlan.ts';
import { humanReason } from '../../../agent/preview/resolve/resolveTexts.ts';
import type { DiffStat } from '../../../agent/text/lineDiff.ts';
import { escapeInvisible, escapeProse } from '../../plainText.ts';
import { fill, type FileRow, type ItemOf } from '../protocol.ts';
import type { TranscriptStrings } from '../strings.ts';

/** The most files that a card lists. */
const MAX_FILES = 8;
/** The most characters of a command's result that a card shows. */
const MAX_OUTPUT_CHARS = 6_000;

export interface CardFacts {
  /** The last attempt to resolve the preview. */
  readonly lastAttempt: LedgerEntry | undefined;
  /** One for each counted change, in order; `undefined` while counting. */
  readonly stats: readonly DiffStat[] | undefined;
  /** The end of the output of the command or call that it runs now; `undefined` if it runs none. */
  readonly running?: string | undefined;
}

/** The card of a preview. */
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
    label: escapeInvisible(preview.label),
    source: escapeInvisible(preview.sourceToolName),
    files: changes.slice(0, MAX_FILES).map((change, i) => fileRow(change, facts.stats?.[i], strings)),
    moreFiles: changes.length > MAX_FILES ? fill(strings.moreFiles, changes.length - MAX_FILES) : '',
    ...(total ? { stat: shownStat(total) } : {}),
    output: facts.running ?? resultOf(preview, facts.lastAttempt),
    canStop: facts.running !== undefined,
    ...stateOf(preview, facts.lastAttempt, strings),
  };
}

/** What the command of an applied preview wrote and how it ended, or what the tool answered that it called. */
function resultOf(preview: Preview, attempt: LedgerEntry | undefined): string {
  if (preview.state.kind !== 'applied' || attempt?.outcome === 'returnedError') return '';
  if (!commandOf(preview) && !toolCallOf(preview)) return '';
  const message = attempt?.message ?? '';
  if (message.length <= MAX_OUTPUT_CHARS) return message;
  const half = MAX_OUTPUT_CHARS / 2;
  return `${message.slice(0, half)}\n[…]\n${message.slice(-half)}`;
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
              escapeProse(recommendation.reason.trim()) || strings.noReason,
            )
          : '',
        stale: stale.length > 0 ? fill(strings.stale, escapeInvisible(stale.join(', '))) : '',
        // The error of a stale preview would only repeat that it is stale.
        lastError:
          lastError !== undefined && stale.length === 0
            ? fill(strings.lastError, escapeInvisible(lastError))
            : '',
      };
    }
    case 'applying':
      return { ...quiet, state: 'applying', stateText: strings.applying[state.action] };
    case 'applied':
      if (attempt?.outcome === 'returnedError') {
        const lastError = escapeInvisible(attempt.message ?? '');
        return { ...quiet, state: 'failed', stateText: strings.returnedError, lastError };
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

/** The reason; empty if the user gave none, or if it is the model's, which the block of its `resolve` shows. */
function givenReason(action: ResolveAction, { actor, reason }: Resolution): string {
  return actor === 'model' || reason === humanReason(action) ? '' : escapeProse(reason.trim());
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

/** The sum; `undefined` if some file was not counted. */
function sumOf(stats: readonly DiffStat[], files: number): DiffStat | undefined {
  if (stats.length < files) return undefined;
  return stats.reduce((sum, stat) => ({
    added: sum.added + stat.added,
    removed: sum.removed + stat.removed,
    exact: sum.exact && stat.exact,
  }));
}

/** `+3` and `−1`, with a `~` if the texts were too different to count exactly; empty for zero. */
function shownStat({ added, removed, exact }: DiffStat): { added: string; removed: string } {
  const shown = (sign: string, count: number): string =>
    count === 0 ? '' : `${sign}${exact ? '' : '~'}${count}`;
  return { added: shown('+', added), removed: shown('−', removed) };
}
