import type { FileChange } from '../../../agent/preview/fileChange.ts';
import type { LedgerEntry } from '../../../agent/preview/ledger.ts';
import {
  isOpen,
  titleOf,
  type Preview,
  type ResolveAction,
  type Resolution,
} from '../../../agent/preview/preview.ts';
import { conflictCount } from '../../../agent/preview/rebase/conflictMarkers.ts';
import { planOf } from '../../../agent/session/planMode.ts';
import { commandOf } from '../../../agent/tools/command/runCommand.ts';
import { toolCallOf } from '../../../agent/tools/editor/toolCallPlan.ts';
import { humanReason } from '../../../agent/preview/resolve/resolveTexts.ts';
import { reopenAction, undoAction } from '../../../agent/preview/undo.ts';
import type { DiffStat } from '../../../agent/text/lineDiff.ts';
import { agentLabel } from '../../agentLabel.ts';
import { escapeInvisible, escapeProse, oneLine } from '../../plainText.ts';
import { fill } from '../../../agent/base/localiser.ts';
import { shortList } from '../../texts/shortList.ts';
import type { FileRow, ItemOf, PartRow } from '../protocol.ts';
import type { TranscriptStrings } from './transcriptStrings.ts';

/** The most files that a card lists. */
const MAX_FILES = 8;
/** The most parts that a card lists: the last ones. */
const MAX_PARTS = 12;
/** The most characters of a command's result that a card shows. */
const MAX_OUTPUT_CHARS = 6_000;
/** The most characters of the details of a preview that a card shows. */
const MAX_NOTE_CHARS = 500;

export interface CardFacts {
  /** The last attempt to resolve the preview. */
  readonly lastAttempt: LedgerEntry | undefined;
  /** The applied preview that undid it, or what it was reopened as. */
  readonly undoneBy?: Preview | undefined;
  /** Whether a preview that would do so is pending. */
  readonly isUndoPending?: boolean;
  /** The last preview that proposes again what was discarded here. */
  readonly reopenedAs?: Preview | undefined;
  /** One for each counted change, in order; `undefined` while counting. */
  readonly stats: readonly DiffStat[] | undefined;
  /** The end of the output of the command or call that it runs now; `undefined` if it runs none. */
  readonly running?: string | undefined;
  /** What was split off it and resolved, in the order of the votes. */
  readonly parts?: readonly { readonly preview: Preview; readonly facts: CardFacts }[];
  readonly call?: ItemOf<'preview'>['call'];
}

/** The card of a preview. */
export function previewCard(
  preview: Preview,
  facts: CardFacts,
  strings: TranscriptStrings,
): ItemOf<'preview'> {
  const changes = preview.changes ?? [];
  const agent = preview.origin?.agent;
  const total = facts.stats ? sumOf(facts.stats, changes.length) : undefined;
  const state = outcomeOf(preview, facts, strings);
  const remedy = remedyOf(preview, facts);
  return {
    kind: 'preview',
    key: `p:${preview.id}`,
    id: preview.id,
    revision: preview.revision,
    label: escapeInvisible(titleOf(preview)),
    source: escapeInvisible(preview.sourceToolName),
    agent: agent ? fill(strings.proposedBy, agentLabel(agent)) : '',
    files: changes.slice(0, MAX_FILES).map((change, i) => fileRow(change, facts.stats?.[i], strings)),
    moreFiles: changes.length > MAX_FILES ? fill(strings.moreFiles, changes.length - MAX_FILES) : '',
    note:
      isOpen(preview) && typeof preview.details === 'string' ? oneLine(preview.details, MAX_NOTE_CHARS) : '',
    ...(total && changes.length > 1 ? { stat: shownStat(total) } : {}),
    output: facts.running ?? resultOf(preview, facts.lastAttempt),
    canStop: facts.running !== undefined,
    ...(facts.call ? { call: facts.call } : {}),
    ...planPartOf(preview, strings),
    ...state,
    ...withParts(preview, state, remedy, total, facts.parts ?? [], strings),
  };
}

/** The plan itself, while it waits for the user. */
function planPartOf(preview: Preview, { plan: texts }: TranscriptStrings): Pick<ItemOf<'preview'>, 'plan'> {
  const plan = isOpen(preview) ? planOf(preview) : undefined;
  if (!plan) return {};
  return { plan: { ...texts, text: plan.text, isUnfolded: preview.editedByUser === true } };
}

function outcomeOf(preview: Preview, facts: CardFacts, strings: TranscriptStrings): CardState {
  return facts.reopenedAs
    ? reopenedState(preview, facts.reopenedAs, facts, strings)
    : stateOf(preview, facts, strings);
}

type Parts = Pick<ItemOf<'preview'>, 'parts' | 'partsText'>;

/** The rows of the parts. What is left of a preview gets a row too once it is resolved, and its counts are the card's state. */
function withParts(
  preview: Preview,
  own: CardState,
  remedy: Pick<ItemOf<'preview'>, 'remedy'>,
  total: DiffStat | undefined,
  parts: NonNullable<CardFacts['parts']>,
  strings: TranscriptStrings,
): Parts & Pick<ItemOf<'preview'>, 'remedy'> & Partial<CardState> {
  if (parts.length === 0) return { ...remedy, parts: [], partsText: '' };
  const rows = parts.map(({ preview: part, facts }): PartRow => {
    const { state, stateText, reason } = outcomeOf(part, facts, strings);
    return {
      id: part.id,
      label: partName(part, strings),
      state,
      stateText,
      reason,
      ...remedyOf(part, facts),
    };
  });
  const counts = { applied: 0, discarded: 0, undone: 0, left: 0 };
  const count = (state: PartRow['state'], hunks: number): void => {
    if (state === 'pending' || state === 'applying') counts.left += hunks;
    else if (state === 'discarded' || state === 'undone') counts[state] += hunks;
    else if (state === 'applied' || state === 'failed') counts.applied += hunks;
  };
  rows.forEach(({ state }, i) => count(state, parts[i]?.preview.part?.hunks ?? 1));
  count(own.state, total?.hunks ?? 1);
  const partsText = (['applied', 'discarded', 'undone', 'left'] as const)
    .flatMap(kind => (counts[kind] === 0 ? [] : [fill(strings.parts[kind], counts[kind])]))
    .join(' · ');
  if (isOpen(preview)) return { ...remedy, parts: rows.slice(-MAX_PARTS), partsText };
  const { state, stateText, reason } = own;
  const last: PartRow = { id: preview.id, label: strings.parts.rest, state, stateText, reason, ...remedy };
  return { parts: [...rows, last].slice(-MAX_PARTS), partsText, stateText: '', reason: '' };
}

/** `Hunk 2`, or the file's name if there is no number: then it is a whole file. */
function partName({ part, changes }: Preview, strings: TranscriptStrings): string {
  const path = escapeInvisible(changes?.[0]?.path ?? '');
  const file = path.slice(path.lastIndexOf('/') + 1);
  return part?.number === undefined ? file : fill(strings.parts.hunk, part.number, file);
}

/** Undo for what is applied, Redo for what is undone, Reopen for what is discarded, unless that waits to be resolved already. */
function remedyOf(
  preview: Preview,
  { undoneBy, reopenedAs, isUndoPending }: CardFacts,
): Pick<ItemOf<'preview'>, 'remedy'> {
  const last = reopenedAs ?? preview;
  if (undoneBy && isUndoPending !== true && undoAction(undoneBy))
    return { remedy: { type: 'redo', id: undoneBy.id } };
  if (!undoneBy && isUndoPending !== true && undoAction(last))
    return { remedy: { type: 'undo', id: last.id } };
  return reopenAction(last) ? { remedy: { type: 'reopen', id: last.id } } : {};
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
  'state' | 'stateText' | 'reason' | 'recommendation' | 'conflicts' | 'stale' | 'lastError'
>;

const quiet = { stateText: '', reason: '', recommendation: '', conflicts: '', stale: '', lastError: '' };

/** A discarded preview that was proposed again shows how that ended. */
function reopenedState(
  preview: Preview,
  again: Preview,
  { undoneBy }: CardFacts,
  strings: TranscriptStrings,
): CardState {
  const old = stateOf(preview, {}, strings);
  if (isOpen(again)) return { ...old, stateText: fill(strings.reopened, old.stateText, again.id) };
  const now = stateOf(again, { undoneBy }, strings);
  return { ...now, stateText: fill(strings.resolvedAs, now.stateText, again.id) };
}

function stateOf(
  preview: Preview,
  { lastAttempt: attempt, undoneBy }: Partial<CardFacts>,
  strings: TranscriptStrings,
): CardState {
  const { state } = preview;
  const agent = preview.origin?.agent;
  switch (state.kind) {
    case 'pending': {
      const { recommendation, stale, lastError } = state;
      const conflicts = stale.length > 0 ? conflictsOf(preview, strings) : '';
      return {
        ...quiet,
        state: 'pending',
        recommendation: recommendation
          ? fill(
              strings.modelRecommends[recommendation.action],
              escapeProse(recommendation.reason.trim()) || strings.noReason,
            )
          : '',
        conflicts,
        stale:
          stale.length > 0 && conflicts === ''
            ? fill(strings.stale, escapeInvisible(shortList(stale, strings.andMore)))
            : '',
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
      if (undoneBy?.state.kind === 'applied')
        return { ...quiet, state: 'undone', stateText: strings.undone[undoneBy.state.by.actor] };
      return {
        ...quiet,
        state: 'applied',
        stateText: byAgent(preview, state.by, strings.appliedByAgent) ?? strings.applied[state.by.actor],
        reason: givenReason('apply', state.by, !agent),
      };
    case 'discarded':
      return {
        ...quiet,
        state: 'discarded',
        stateText: byAgent(preview, state.by, strings.discardedByAgent) ?? strings.discarded[state.by.actor],
        reason: givenReason('discard', state.by, !agent),
      };
    case 'expired':
      return {
        ...quiet,
        state: 'expired',
        stateText:
          state.reason === undefined
            ? strings.expired
            : fill(strings.expiredBecause, escapeInvisible(state.reason)),
      };
  }
}

function conflictsOf({ changes }: Preview, strings: TranscriptStrings): string {
  const rows = (changes ?? []).flatMap(change => {
    const count = conflictCount(change);
    return count === 0 ? [] : [fill(strings.conflictsIn, count, escapeInvisible(change.path))];
  });
  return rows.length === 0 ? '' : fill(strings.conflicts, shortList(rows, strings.andMore));
}

/** The text with the name of the agent of another program, if that has resolved its own preview. */
function byAgent({ origin }: Preview, { actor }: Resolution, text: string): string | undefined {
  return actor === 'model' && origin?.agent ? fill(text, agentLabel(origin.agent)) : undefined;
}

/** The reason; empty if the user gave none, or if it is the model's, which the block of its `resolve` shows. */
function givenReason(action: ResolveAction, { actor, reason }: Resolution, hasBlock = true): string {
  return (actor === 'model' && hasBlock) || reason === humanReason(action) ? '' : escapeProse(reason.trim());
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
export function sumOf(stats: readonly DiffStat[], files: number): DiffStat | undefined {
  if (stats.length < files) return undefined;
  if (stats.length === 0) return undefined;
  return stats.reduce((sum, stat) => ({
    added: sum.added + stat.added,
    removed: sum.removed + stat.removed,
    hunks: sum.hunks + stat.hunks,
    exact: sum.exact && stat.exact,
  }));
}

/** `+3` and `−1`, with a `~` if the texts were too different to count exactly; empty for zero. */
export function shownStat({ added, removed, exact }: Omit<DiffStat, 'hunks'>): {
  added: string;
  removed: string;
} {
  const shown = (sign: string, count: number): string =>
    count === 0 ? '' : `${sign}${exact ? '' : '~'}${count}`;
  return { added: shown('+', added), removed: shown('−', removed) };
}
