import * as vscode from 'vscode';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import { isOpen, revisionsOf, type Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import {
  faceOf,
  previewView,
  type PreviewProblem,
  type PreviewView,
  type CheckMark,
} from '../../agent/hold/preview/previewView.ts';
import type { Risk } from '../../agent/hold/preview/reading/risks.ts';
import type { ConflictBlock, ConflictChoice } from '../../agent/hold/preview/rebase/conflictMarkers.ts';
import { Lineage } from '../../agent/hold/preview/resolve/lineage.ts';
import { planOf } from '../../agent/hold/preview/plan.ts';
import { noLongerParses } from '../../agent/hold/preview/reading/noLongerParses.ts';
import { makeCommand } from '../commandRegistry.ts';
import { idList, withoutIcons } from '../plainText.ts';
import {
  applyVerb,
  conflictsLeftText,
  expiredText,
  hasSucceeded,
  outcomeText,
  problemText,
  recommendationText,
  runText,
} from '../texts/previewWords.ts';
import type { ReviewPlace } from './reviewPlaces.ts';
import { checkSentence, checkText } from '../texts/checkWords.ts';
import { riskNote, riskText } from '../texts/riskWords.ts';

/** What the lenses of one file of a preview are made from. */
export interface LensSubject {
  readonly preview: Preview;
  /** `undefined` for a preview without files. */
  readonly change: FileChange | undefined;
  /** The number of hunks in the file. */
  readonly hunks: number;
  /** What the diff of the file does not show. */
  readonly hidden: readonly string[];
  /** What is known of the checks on the preview. */
  readonly checks?: readonly CheckMark[];
  /** Where the first hunk of the file is in the review, if that is known. */
  readonly place?: ReviewPlace | undefined;
}

/**
 * The lenses above the first hunk of a file, in display order: buttons for the smallest part first, then for the whole, then
 * notes. The row has only the space beside one line of code, so short lenses come before long ones, and the buttons for the
 * whole stand in the first file only. What the model says of it has a row of its own, see {@link reasonRow}.
 */
export function lensRow(subject: LensSubject, store: PreviewStore): vscode.Command[] {
  const { preview, change } = subject;
  const view = previewView(preview, {
    // Redline's own applies return no error.
    lastAttempt:
      preview.kind === 'files'
        ? undefined
        : store.ledger().findLast(({ previewId }) => previewId === preview.id),
    ...(isOpen(preview)
      ? { buildsOn: store.blockersOf(preview) }
      : new Lineage(store.all()).factsOf(preview)),
    checks: subject.checks,
  });
  const { outcome } = view;
  if (outcome.kind !== 'pending') return resolvedRow(view);
  const isFirst = change === undefined || change.path === preview.changes?.[0]?.path;
  const isOneOfSeveral = change !== undefined && (preview.changes?.length ?? 0) > 1;
  const problem = outcome.problem;
  // Until it is rebased, it cannot be applied: what helps comes first, where the row is not cut off.
  const isBlocked = problem?.kind === 'stale' || problem?.kind === 'conflicts';
  return [
    ...placeNote(subject.place),
    ...(isBlocked ? remedyLenses(preview, problem) : []),
    ...(change ? hunkLenses(preview, change, 0, subject.hunks) : []),
    ...(isOneOfSeveral ? fileLenses(preview, change).slice(isBlocked ? 1 : 0) : []),
    ...(isFirst ? applyAndDiscard(view, isBlocked, subject.hunks) : []),
    ...(isFirst ? view.checks.map(checkLens) : []),
    ...(isFirst && store.openCount > 1 ? [makeCommand(vscode.l10n.t('Next'), 'redline.preview.next')] : []),
    ...(isOneOfSeveral ? [discardFileWithReason(preview, change)] : []),
    ...(problem ? [problemNote(problem)] : []),
    ...(change ? fileNotes(subject) : []),
  ];
}

/** What takes the outcome back. */
function remedyLens(remedy: PreviewView['remedy']): vscode.Command[] {
  const { l10n } = vscode;
  switch (remedy?.type) {
    case undefined:
      return [];
    case 'undo':
      return [makeCommand(l10n.t('Undo Apply'), 'redline.preview.undo', remedy.id)];
    case 'redo':
      return [makeCommand(l10n.t('Apply Again'), 'redline.preview.undo', remedy.id)];
    case 'reopen':
      return [makeCommand(l10n.t('Reopen'), 'redline.preview.reopen', remedy.id)];
  }
}

/** What a check says, as a button that opens its output. */
function checkLens(check: CheckMark): vscode.Command {
  const title = withoutIcons(checkText(check, String));
  const tooltip = checkSentence(check, String);
  if (check.resultId === undefined) return { ...note(title), tooltip };
  return { ...makeCommand(title, 'redline.checks.showOutput', check.resultId), tooltip };
}

/** The lenses of a preview that cannot be resolved, or not right now. */
function resolvedRow({ outcome, remedy }: PreviewView): vscode.Command[] {
  const { l10n } = vscode;
  switch (outcome.kind) {
    case 'applying':
      return [note(l10n.t('$(sync~spin) Resolving…'))];
    case 'returnedError':
      return [note(l10n.t('$(error) Applied, and returned an error: {0}', withoutIcons(outcome.error)))];
    case 'applied':
      if (outcome.run)
        return [note(`${hasSucceeded(outcome.run) ? '$(check)' : '$(error)'} ${runText(outcome.run)}`)];
      return [note(l10n.t('$(check) Applied')), ...remedyLens(remedy)];
    case 'undone':
      return [note(`$(history) ${outcomeText('undone', outcome.actor, undefined)}`), ...remedyLens(remedy)];
    case 'discarded':
      return [note(l10n.t('$(discard) Discarded')), ...remedyLens(remedy)];
    case 'expired':
      return [note(expiredText(outcome, withoutIcons))];
    case 'pending':
      return [];
  }
}

/** Buttons for one file of several. */
function fileLenses({ id, revision }: Preview, change: FileChange): vscode.Command[] {
  const { path } = change;
  return [
    makeCommand(fileVerb(change), 'redline.preview.applyFile', id, path, revision),
    makeCommand(vscode.l10n.t('Discard file'), 'redline.preview.discardFile', id, path, revision),
  ];
}

function fileVerb({ kind }: FileChange): string {
  return kind === 'modify' ? vscode.l10n.t('Apply file') : applyVerb(kind);
}

function discardFileWithReason({ id, revision }: Preview, { path }: FileChange): vscode.Command {
  const title = vscode.l10n.t('Discard file with reason…');
  return makeCommand(title, 'redline.preview.discardFileWithReason', id, path, revision);
}

/** The notes about one file. */
function fileNotes({ preview, change, hidden }: LensSubject): vscode.Command[] {
  return [
    ...hidden.map(text => note(`$(info) ${withoutIcons(text)}`)),
    ...(change && noLongerParses(preview, change.path) && !preview.editedByUser
      ? [note(vscode.l10n.t('$(warning) no longer parses'))]
      : []),
    ...(preview.editedByUser ? [note(vscode.l10n.t('$(edit) edited by you'))] : []),
  ];
}

/** The lenses of one hunk; none if it is the only one. Giving a reason is in the menu of the title, to keep the row short. */
export function hunkLenses(
  { id, revision, state }: Preview,
  { kind, path }: FileChange,
  hunk: number,
  hunks: number,
): vscode.Command[] {
  // Splitting a stale preview would leave stale parts: it is rebased first, or resolved as a whole.
  if (state.kind !== 'pending' || state.stale.length > 0 || kind !== 'modify' || hunks < 2) return [];
  return [
    makeCommand(vscode.l10n.t('Apply hunk'), 'redline.preview.applyHunk', id, path, hunk, revision),
    makeCommand(vscode.l10n.t('Discard hunk'), 'redline.preview.discardHunk', id, path, hunk, revision),
  ];
}

/** Begins a comment on a line, counted from 0, in the editor that the lens is in. */
export function commentLens(line: number): vscode.Command {
  const at = { startLineNumber: line + 1, startColumn: 1, endLineNumber: line + 1, endColumn: 1 };
  const title = vscode.l10n.t('Comment');
  return { title, command: 'workbench.action.addComment', arguments: [{ range: at }] };
}

/** The buttons for the whole, whose titles say that it is more than the part beside them. */
function applyAndDiscard(
  { preview, buildsOn }: PreviewView,
  isBlocked: boolean,
  hunks: number,
): vscode.Command[] {
  const { id, revision, changes } = preview;
  if (planOf(preview)) return approveAndSendBack(preview);
  const files = changes?.length ?? 1;
  const parts = files > 1 ? files : hunks;
  const title =
    buildsOn.length > 0
      ? vscode.l10n.t('Apply {0}', idList([...buildsOn, preview]))
      : parts > 1
        ? wholeText('apply', files, hunks)
        : applyVerb(faceOf(preview));
  const chain = buildsOn.length > 0 ? revisionsOf(buildsOn) : undefined;
  const discard = parts > 1 ? wholeText('discard', files, hunks) : vscode.l10n.t('Discard');
  const apply = makeCommand(`$(check) ${title}`, 'redline.preview.apply', id, undefined, revision, chain);
  return [
    ...(isBlocked ? [] : [apply]),
    makeCommand(`$(discard) ${discard}`, 'redline.preview.discard', id, undefined, revision),
  ];
}

/** `Apply all 3 files`; of a single file, `Apply all 3 hunks`. */
function wholeText(action: 'apply' | 'discard', files: number, hunks: number): string {
  const { l10n } = vscode;
  if (files > 1)
    return action === 'apply' ? l10n.t('Apply all {0} files', files) : l10n.t('Discard all {0} files', files);
  return action === 'apply' ? l10n.t('Apply all {0} hunks', hunks) : l10n.t('Discard all {0} hunks', hunks);
}

function approveAndSendBack({ id, revision }: Preview): vscode.Command[] {
  const { l10n } = vscode;
  const [approve, sendBack] = [`$(check) ${l10n.t('Approve')}`, `$(discard) ${l10n.t('Send Back…')}`];
  return [
    makeCommand(approve, 'redline.preview.apply', id, undefined, revision),
    makeCommand(sendBack, 'redline.preview.discardWithReason', id, undefined, revision),
    makeCommand(l10n.t('Edit'), 'redline.preview.edit', id),
    note(
      l10n.t('Nothing is changed yet'),
      l10n.t('Once you approve the plan, the model carries it out and stages each change as a preview.'),
    ),
  ];
}

/** What helps, in a few words, since it stands before the buttons that a narrow column must show. */
function remedyLenses({ id }: Preview, problem: PreviewProblem): vscode.Command[] {
  const { l10n } = vscode;
  switch (problem.kind) {
    case 'conflicts':
      return [makeCommand(l10n.t('Edit'), 'redline.preview.edit', id, problem.files[0]?.path)];
    case 'stale':
      return [
        note(`$(warning) ${l10n.t('Stale')}`, problemText(problem, String)),
        makeCommand(l10n.t('Rebase'), 'redline.preview.rebase', id),
      ];
    case 'failed':
      return [];
  }
}

/** What is wrong, as a sentence. */
function problemNote(problem: PreviewProblem): vscode.Command {
  const icon = problem.kind === 'failed' ? '$(error)' : '$(warning)';
  const said = problem.kind === 'conflicts' ? conflictsLeftText(problem) : problemText(problem, withoutIcons);
  return note(`${icon} ${said}`);
}

/** `3/14`, before the buttons of a hunk; nothing if it is the only one of its change set. */
export function placeNote(place: ReviewPlace | undefined): vscode.Command[] {
  if (!place || place.hunks < 2) return [];
  return [note(`${place.hunk}/${place.hunks}`, vscode.l10n.t('Hunk {0} of {1}', place.hunk, place.hunks))];
}

/**
 * The risks of one file of a preview, in the second row; the first file also has those of the whole. The tooltip has a sentence for
 * each.
 */
export function riskNotes(preview: Preview, change: FileChange, risks: readonly Risk[]): vscode.Command[] {
  const isFirst = change.path === preview.changes?.[0]?.path;
  const own = previewView(preview, { risks }).risks.filter(risk =>
    'path' in risk ? risk.path === change.path : isFirst,
  );
  if (own.length === 0) return [];
  return [
    note(`$(warning) ${riskNote(own, withoutIcons)}`, own.map(risk => riskText(risk, String)).join('\n')),
  ];
}

/** The longest reason that a row shows, in characters; the tooltip has all of it. */
const MAX_REASON = 120;

/**
 * The second row, with the model's vote and its reason, where it takes no space from the buttons; empty if there is none. What it
 * said of several previews together is not said of this one: that it is against them is a warning, and the tooltip says the rest.
 */
export function reasonRow({ state }: Preview): vscode.Command[] {
  const recommendation = state.kind === 'pending' ? state.recommendation : undefined;
  if (!recommendation) return [];
  const { action, reason, isOfSet } = recommendation;
  if (isOfSet && action === 'apply') return [];
  if (isOfSet)
    return [
      note(`$(thumbsdown) ${vscode.l10n.t('not recommended')}`, recommendationText(recommendation, String)),
    ];
  const why = withoutIcons(reason.trim(), MAX_REASON) || vscode.l10n.t('No reason provided');
  const text =
    action === 'apply'
      ? vscode.l10n.t('$(thumbsup) recommended: {0}', why)
      : vscode.l10n.t('$(thumbsdown) not recommended: {0}', why);
  return [note(text, recommendationText(recommendation, String))];
}

/** The lens above a proposal that the user can edit but has not edited yet. */
export function editableNote(): vscode.Command {
  return note(vscode.l10n.t('$(edit) You can edit this side'));
}

/** The lenses of a proposal with edits that are not saved. */
export function editedRow(preview: Preview): vscode.Command[] {
  const { id, revision } = preview;
  const isPlan = planOf(preview) !== undefined;
  return [
    makeCommand(
      `$(check) ${isPlan ? vscode.l10n.t('Save & Approve') : vscode.l10n.t('Save & Apply')}`,
      'redline.preview.saveAndApply',
      id,
      revision,
    ),
    makeCommand(`$(discard) ${vscode.l10n.t('Revert')}`, 'redline.preview.revertEdits', id),
    note(vscode.l10n.t('$(edit) Edited. Saving updates the proposal.')),
  ];
}

/** The lenses of a conflict, above its first marker. */
export function conflictLenses(
  { id, revision }: Preview,
  { path }: FileChange,
  { start }: ConflictBlock,
): vscode.Command[] {
  const accept = (title: string, choice: ConflictChoice): vscode.Command =>
    makeCommand(title, 'redline.preview.settleConflict', id, path, start, choice, revision);
  return [
    accept(vscode.l10n.t('Accept Current'), 'current'),
    accept(vscode.l10n.t('Accept Proposed'), 'proposed'),
    accept(vscode.l10n.t('Accept Both'), 'both'),
  ];
}

/** A lens that shows text and does nothing when clicked. */
function note(title: string, tooltip?: string): vscode.Command {
  return { title, command: '', ...(tooltip === undefined ? {} : { tooltip }) };
}
