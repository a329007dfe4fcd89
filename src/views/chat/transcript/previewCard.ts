import * as l10n from '@vscode/l10n';
import { beginningOf, endOf } from '../../../agent/base/cutText.ts';
import {
  type CheckMark,
  faceOf,
  totalOf,
  type PreviewOutcome,
  type PreviewProblem,
  type PreviewView,
} from '../../../agent/hold/preview/previewView.ts';
import { isOpen, titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { Risk } from '../../../agent/hold/preview/reading/risks.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { commandOf } from '../../../agent/sandbox/commands/plannedCommand.ts';
import { outputIn } from '../../../agent/session/tools/command/commandReport.ts';
import type { DiffStat } from '../../../agent/hold/text/lineDiff.ts';
import { toolCallOf } from '../../../agent/hold/preview/toolCallPlan.ts';
import { agentLabel, escapeInvisible, escapeProse, MAX_NAMES, oneLine } from '../../plainText.ts';
import { riskText } from '../../texts/riskWords.ts';
import type { Advice, CardProblem, CardState, HunkCounts, ItemOf, LineStat, PartRow } from '../protocol.ts';
import { MAX_SHOWN_CHARS, type CheckRow } from '../viewItem.ts';

/** The most files that a card lists. */
const MAX_FILES = 8;
/** The most parts that a card lists: the last ones. */
const MAX_PARTS = 12;
/** The most characters of the details of a preview that a card shows. */
const MAX_NOTE_CHARS = 500;
/** The most characters of a label. */
const MAX_LABEL_CHARS = 1_000;
/** The most risks that a card names. */
const MAX_RISKS = 3;

/** The card of a preview. @param running the end of the output of the command or call that it runs now */
export function previewCard(view: PreviewView, running?: string): ItemOf<'preview'> {
  const { preview, stats } = view;
  const changes = preview.changes ?? [];
  const agent = preview.origin?.agent;
  return {
    kind: 'preview',
    key: `p:${preview.id}`,
    id: preview.id,
    revision: preview.revision,
    label: oneLine(titleOf(preview), MAX_LABEL_CHARS),
    agent: agent && agentLabel(agent),
    face: faceOf(preview),
    files: changes.slice(0, MAX_FILES).map((change, i) => ({
      path: change.path,
      from: change.kind === 'rename' ? change.from : undefined,
      change: change.kind,
      stat: lineStat(stats?.[i]),
    })),
    moreFiles: Math.max(0, changes.length - MAX_FILES),
    note:
      isOpen(preview) && typeof preview.details === 'string'
        ? oneLine(preview.details, MAX_NOTE_CHARS)
        : undefined,
    stat: lineStat(wholeStat(view)),
    output: running ?? resultOf(view),
    runs: whereOf(preview),
    checks: checkRows(view.checks),
    risks: riskTexts(view.risks),
    canStop: running !== undefined,
    plan: planPartOf(preview),
    advice: adviceOf(view),
    ...outcomePart(view),
    parts: partsOf(view),
  };
}

/** The counts in the header: of several files and, once the rest is resolved too, of all parts. */
function wholeStat({ preview, stats, total, parts }: PreviewView): DiffStat | undefined {
  if (parts.length === 0 || isOpen(preview)) return (preview.changes?.length ?? 0) > 1 ? total : undefined;
  const files = [preview, ...parts.map(part => part.preview)].reduce(
    (n, { changes }) => n + (changes?.length ?? 0),
    0,
  );
  return totalOf([...parts.flatMap(part => part.stats ?? []), ...(stats ?? [])], files);
}

/** Checks in the form that the page is sent; `undefined` for none. */
export function checkRows(checks: readonly CheckMark[]): CheckRow[] | undefined {
  if (checks.length === 0) return undefined;
  return checks.map(
    ({ name, state, failures, changed, isCurrent, seconds, problems, isFlaky, resultId }) => ({
      name: oneLine(name),
      state,
      isCurrent,
      seconds,
      problems,
      isFlaky,
      failures,
      resultId,
      ...(changed ? { changed: { ...changed, first: changed.first.map(escapeInvisible) } } : {}),
    }),
  );
}

/** Risks in the form that the page is sent; `undefined` for none. */
export function riskTexts(risks: readonly Risk[]): string[] | undefined {
  if (risks.length === 0) return undefined;
  const more = risks.length - MAX_RISKS;
  const texts = risks.slice(0, MAX_RISKS).map(risk => riskText(risk, oneLine));
  return more > 0 ? [...texts, l10n.t('and {0} more', more)] : texts;
}

function whereOf(preview: Preview): ItemOf<'preview'>['runs'] {
  const command = commandOf(preview);
  if (!command) return undefined;
  const { sandbox } = command;
  return !sandbox ? 'disk' : sandbox.isolated ? 'sandbox' : 'copy';
}

/** The plan itself, while it waits for the user. */
function planPartOf(preview: Preview): ItemOf<'preview'>['plan'] {
  const plan = isOpen(preview) ? planOf(preview) : undefined;
  return plan && { text: plan.text, isUnfolded: preview.editedByUser === true };
}

function outcomePart({
  preview,
  outcome,
  reopenedAs: again,
  remedy,
}: PreviewView): Pick<PartRow, 'state' | 'isReopened' | 'remedy'> {
  return {
    state: stateOf(outcome, preview),
    isReopened: again && isOpen(again) ? true : undefined,
    remedy,
  };
}

/** The rows of the parts. What was not split off gets a row too once it is resolved. */
function partsOf(view: PreviewView): ItemOf<'preview'>['parts'] {
  const { preview, total, parts } = view;
  if (parts.length === 0) return undefined;
  const rows = parts.map((part): PartRow => {
    const path = escapeInvisible(part.preview.changes?.[0]?.path ?? '');
    const file = path.slice(path.lastIndexOf('/') + 1);
    return { id: part.preview.id, file, hunk: part.preview.part?.number, ...outcomePart(part) };
  });
  const counts = { applied: 0, discarded: 0, undone: 0, left: 0 };
  for (const { preview: part, outcome } of parts) countHunks(counts, outcome, part.part?.hunks ?? 1);
  const others = total?.hunks ?? 1;
  countHunks(counts, view.outcome, others);
  const rest: PartRow[] = isOpen(preview) ? [] : [{ id: preview.id, others, ...outcomePart(view) }];
  return { rows: [...rows, ...rest].slice(-MAX_PARTS), counts };
}

/** The output of an applied preview's command, or the answer of the tool that it called. */
function resultOf({ preview, lastAttempt }: PreviewView): string | undefined {
  if (preview.state.kind !== 'applied' || lastAttempt?.outcome === 'returnedError') return undefined;
  const { message = '' } = lastAttempt ?? {};
  // The rest of a command's report is for the model: the state of the card says how it ended.
  const text = commandOf(preview) ? outputIn(message) : toolCallOf(preview) ? message : '';
  if (text.length <= MAX_SHOWN_CHARS) return text || undefined;
  const half = MAX_SHOWN_CHARS / 2;
  return `${beginningOf(text, half)}\n[…]\n${endOf(text, half)}`;
}

/** An outcome in the form that the page is sent. */
export function stateOf(outcome: PreviewOutcome, { origin }: Preview): CardState {
  switch (outcome.kind) {
    case 'pending': {
      const { problem } = outcome;
      return { kind: 'pending', problem: problem && shownProblem(problem) };
    }
    case 'applying':
    case 'undone':
      return outcome;
    case 'returnedError':
      return { kind: 'failed', error: escapeInvisible(outcome.error) };
    case 'applied':
    case 'discarded': {
      const { kind, actor, agent, reason, run } = outcome;
      // The model's reason is in the block of its `resolve`. An agent of another program has no such block.
      const isTold = actor === 'model' && !origin?.agent;
      return {
        kind,
        actor,
        agent: agent && agentLabel(agent),
        run,
        reason: isTold ? undefined : escapeProse(reason?.trim() ?? '') || undefined,
      };
    }
    case 'expired':
      return {
        ...outcome,
        reason: outcome.reason === undefined ? undefined : escapeInvisible(outcome.reason),
      };
  }
}

/** Switching a branch can make thousands of files stale: only the names that are shown are sent. */
function shownProblem(problem: PreviewProblem): CardProblem {
  switch (problem.kind) {
    case 'conflicts': {
      const files = problem.files.map(({ path, count }) => ({ path: escapeInvisible(path), count }));
      return { kind: 'conflicts', files: files.slice(0, MAX_NAMES), more: unnamed(files) };
    }
    case 'stale': {
      const paths = problem.paths.slice(0, MAX_NAMES).map(escapeInvisible);
      return { kind: 'stale', paths, more: unnamed(problem.paths) };
    }
    case 'failed':
      return { ...problem, error: escapeInvisible(problem.error) };
  }
}

function unnamed(all: readonly unknown[]): number {
  return Math.max(0, all.length - MAX_NAMES);
}

/** The model's recommendation in the form that the page is sent. */
export function adviceOf({ advice, outcome }: PreviewView): Advice | undefined {
  return (
    advice && {
      action: advice.action,
      reason: escapeProse(advice.reason.trim()),
      isOfSet: advice.isOfSet,
      isUnread: advice.isUnread,
      isPast: outcome.kind === 'pending' || outcome.kind === 'applying' ? advice.isPast : true,
    }
  );
}

/** Adds hunks to those with the same outcome. */
export function countHunks(counts: HunkCounts, { kind }: PreviewOutcome, hunks: number): void {
  if (kind === 'pending' || kind === 'applying') counts.left += hunks;
  else if (kind === 'returnedError') counts.applied += hunks;
  else if (kind !== 'expired') counts[kind] += hunks;
}

/** The part of the counts that the page shows. */
export function lineStat(stat: DiffStat | undefined): LineStat | undefined {
  return stat && { added: stat.added, removed: stat.removed, exact: stat.exact };
}
