import { setOf } from '../../../agent/hold/preview/changeSet.ts';
import type { FileChange } from '../../../agent/hold/preview/fileChange.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { isOpen, isUndoable, type Preview } from '../../../agent/hold/preview/preview.ts';
import { totalOf, type CheckMark, type PreviewView } from '../../../agent/hold/preview/previewView.ts';
import type { DiffStat } from '../../../agent/hold/text/lineDiff.ts';
import { agentLabel, oneLine } from '../../plainText.ts';
import { MAX_TURN_PREVIEWS, type Advice, type HunkCounts, type ItemOf, type TurnRow } from '../protocol.ts';
import { adviceOf, checkRows, countHunks, lineStat, riskTexts, stateOf } from './previewCard.ts';

type Turn = ItemOf<'turn'>;
type CardState = Turn['state'];

/** The most changes of files that the card of a turn lists. */
const MAX_ROWS = 12;
/** The most characters of an error or a reason that it shows. */
const MAX_ERROR_CHARS = 500;
/** The most reasons of the model that it names. */
const MAX_ADVICE = 3;
/** Of several results of one check, the one first in this list is shown. */
const WORST: readonly CheckMark['state'][] = [
  'failed',
  'timedOut',
  'changedFiles',
  'stopped',
  'notRun',
  'running',
  'notTested',
  'asBefore',
  'passed',
];

/** One file change in a preview, or in a part of one. */
interface Piece {
  readonly view: PreviewView;
  /** The preview whose diff shows it. */
  readonly id: string;
  readonly change: FileChange;
  readonly stat: DiffStat | undefined;
}

/** Whether it is shown among the files of its turn, instead of on its own card: false for one that takes back a decision. */
export function isOfTurn(preview: Preview): boolean {
  const { kind, part, reopens, undoes } = preview;
  return kind === 'files' && !part && reopens === undefined && undoes === undefined && !planOf(preview);
}

/**
 * The one card of a turn's or another agent's proposals: its files, with the outcome of each.
 * @param first the id of the preview staged first, which stays the same when others come before it
 */
export function turnCard(first: string, views: readonly PreviewView[]): Turn {
  const pieces = views.flatMap(piecesOf);
  // Rows of the same file stand next to each other.
  const byPath = Map.groupBy(views.flatMap(rowsOf), ({ path }) => path);
  const rows = [...byPath.values()].flat();
  const [reason, ...others] = new Set(rows.map(row => row.reason));
  const previews = views.map(({ preview }) => preview);
  const agent = previews[0]?.origin?.agent;
  const stats = pieces.flatMap(({ stat }) => stat ?? []);
  const applied = views
    .flatMap(view => [view, ...view.parts])
    .filter(({ preview, outcome }) => outcome.kind === 'applied' && isUndoable(preview))
    .sort((one, other) => timeOf(one.preview).localeCompare(timeOf(other.preview)));
  const ids = previews.slice(-MAX_TURN_PREVIEWS).map(({ id }) => id);
  return {
    kind: 'turn',
    key: `t:${first}`,
    agent: agent && agentLabel(agent),
    title: agent ? setOf(previews[0] as Preview).setTitle : undefined,
    state: together(rows),
    by: decidedBy(pieces),
    // The reason for all of it stands there once.
    reason: others.length === 0 ? reason : undefined,
    rows: rows.slice(0, MAX_ROWS).map(row => (others.length === 0 ? { ...row, reason: undefined } : row)),
    more: Math.max(0, rows.length - MAX_ROWS),
    files: byPath.size,
    counts: countsOf(pieces),
    stat: lineStat(totalOf(stats, pieces.length)),
    checks: checkRows(worstOf(views.flatMap(({ checks }) => checks))),
    risks: riskTexts(views.flatMap(({ risks }) => risks)),
    advice: adviceOn(views),
    ids,
    open: previews.filter(isOpen).map(({ id }) => id),
    undo: applied.slice(-MAX_TURN_PREVIEWS).map(({ preview }) => preview.id),
  };
}

function piecesOf(view: PreviewView): Piece[] {
  // A preview that was decided piece by piece may consist only of its parts.
  return [view, ...view.parts].flatMap(each =>
    (each.preview.changes ?? []).map((change, i) => ({
      view: each,
      id: each.preview.id,
      change,
      stat: each.stats?.[i],
    })),
  );
}

function rowsOf(view: PreviewView): TurnRow[] {
  return [...Map.groupBy(piecesOf(view), ({ change }) => change.path).values()].map(rowOf);
}

function countsOf(pieces: readonly Piece[]): HunkCounts {
  const counts = { applied: 0, discarded: 0, undone: 0, left: 0 };
  for (const { view, stat } of pieces)
    countHunks(counts, view.outcome, Math.max(1, view.preview.part?.hunks ?? stat?.hunks ?? 1));
  return counts;
}

/** The actor who decided all of it; `undefined` if several did. */
function decidedBy(pieces: readonly Piece[]): Turn['by'] {
  const all = pieces.map(({ view: { outcome, preview } }) => stateOf(outcome, preview));
  const [first] = all;
  if (!first || !('actor' in first)) return undefined;
  const { actor, agent } = first;
  return all.every(each => 'actor' in each && each.actor === actor && each.agent === agent)
    ? { actor, agent }
    : undefined;
}

function rowOf(pieces: readonly Piece[]): TurnRow {
  const states = new Set<TurnRow['state']>();
  const errors: string[] = [];
  const reasons = new Set<string>();
  for (const { view } of pieces) {
    const shown = stateOf(view.outcome, view.preview);
    if ('reason' in shown && shown.reason !== undefined) reasons.add(shown.reason);
    const { outcome } = view;
    const problem = outcome.kind === 'pending' ? outcome.problem : undefined;
    states.add(problem?.kind ?? (outcome.kind === 'returnedError' ? 'failed' : outcome.kind));
    if (outcome.kind === 'returnedError') errors.push(outcome.error);
    else if (problem?.kind === 'failed') errors.push(problem.error);
  }
  const shown = pieces.find(({ view }) => isOpen(view.preview)) ?? pieces.at(-1);
  if (!shown) throw new Error('A row without a change');
  const { change, id } = shown;
  const stats = pieces.flatMap(({ stat }) => stat ?? []);
  return {
    id,
    path: change.path,
    from: change.kind === 'rename' ? change.from : undefined,
    change: change.kind,
    stat: lineStat(totalOf(stats, pieces.length)),
    state: oneState(states),
    counts: states.size > 1 ? countsOf(pieces) : undefined,
    reason: reasons.size === 0 ? undefined : oneLine([...reasons].join(' · '), MAX_ERROR_CHARS),
    error: errors[0] === undefined ? undefined : oneLine(errors[0], MAX_ERROR_CHARS),
  };
}

/** Common state of several rows: an open one wins, since it still needs a decision. */
function oneState<State extends TurnRow['state']>(states: ReadonlySet<State>): State | 'mixed' {
  const [only] = states;
  if (states.size === 1 && only !== undefined) return only;
  const open = ['conflicts', 'stale', 'failed', 'applying', 'pending'] as const;
  return (open.find(state => states.has(state as State)) as State | undefined) ?? 'mixed';
}

function together(rows: readonly TurnRow[]): CardState {
  const state = oneState(new Set(rows.map(row => row.state)));
  if (state === 'stale' || state === 'conflicts') return 'pending';
  return state;
}

/** Each check once, with its worst result. It is current only if all its results are. */
function worstOf(checks: readonly CheckMark[]): CheckMark[] {
  return [...Map.groupBy(checks, ({ name }) => name).values()].flatMap(marks => {
    const worst = marks.toSorted((one, other) => WORST.indexOf(one.state) - WORST.indexOf(other.state))[0];
    return worst ? { ...worst, isCurrent: marks.every(({ isCurrent }) => isCurrent) } : [];
  });
}

/** The model's recommendations, each reason once, those on open previews before those on decided ones. */
function adviceOn(views: readonly PreviewView[]): Advice[] | undefined {
  const all = views
    .flatMap(view => adviceOf(view) ?? [])
    .toSorted((one, other) => Number(one.isPast ?? false) - Number(other.isPast ?? false));
  const once = all.filter(
    ({ action, reason }, at) =>
      all.findIndex(each => each.action === action && each.reason === reason) === at,
  );
  // A reason that covers them all is on their common card.
  return once.length === 0
    ? undefined
    : once
        .slice(0, MAX_ADVICE)
        .map(({ action, reason, isPast, isUnread }) => ({ action, reason, isPast, isUnread }));
}

function timeOf({ state }: Preview): string {
  return state.kind === 'applied' ? state.by.at : '';
}
