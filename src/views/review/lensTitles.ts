import * as vscode from 'vscode';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import {
  blockOf,
  isOpen,
  revisionsOf,
  type Preview,
  type Recommendation,
} from '../../agent/hold/preview/preview.ts';
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
import { shortList, withoutIcons } from '../plainText.ts';
import {
  allText,
  applyVerb,
  conflictsLeftText,
  expiredText,
  hasSucceeded,
  outcomeText,
  problemText,
  rebaseText,
  recommendationText,
  runText,
  underWayText,
} from '../texts/previewWords.ts';
import { checkSentence, checkText } from '../texts/checkWords.ts';
import { riskNote, riskText } from '../texts/riskWords.ts';

/** Input for the lenses of one file of a preview. */
export interface LensSubject {
  readonly preview: Preview;
  /** `undefined` for a preview without files. */
  readonly change: FileChange | undefined;
  /** The number of hunks in the file. */
  readonly hunks: number;
  /** Differences that the diff of the file does not show. */
  readonly hidden?: readonly string[];
  /** Results of the checks on the preview. */
  readonly checks?: readonly CheckMark[];
  readonly risks?: readonly Risk[];
}

/**
 * The lenses above a hunk, the same at each: `Apply · Discard · More…`. They are for the hunk, or for the file if it has only one.
 * A preview that cannot be applied has the remedy above its first hunk, a resolved one its outcome.
 * @param hunk counted from 0
 * @param view {@link viewOf} the subject, which is the same for all of its hunks
 */
export function hunkLenses(
  subject: LensSubject,
  store: PreviewStore,
  hunk = 0,
  view = viewOf(subject, store),
): vscode.Command[] {
  if (view.outcome.kind !== 'pending') return hunk === 0 ? resolvedRow(view) : [];
  const { preview, change, hunks } = subject;
  const { id, revision } = preview;
  const { l10n } = vscode;
  const block = blockOf(preview);
  // Splitting a stale preview would leave stale parts: it is rebased first, or resolved as a whole.
  if (block && hunk > 0) return [];
  const path = change?.path;
  const more = makeCommand(l10n.t('More…'), 'redline.preview.more', id, path, hunk, revision);
  if (planOf(preview))
    return [
      makeCommand(l10n.t('Approve'), 'redline.preview.apply', id, undefined, revision),
      makeCommand(l10n.t('Send Back…'), 'redline.preview.discardWithReason', id, undefined, revision),
      more,
    ];
  const isHunk = !block && change?.kind === 'modify' && hunks > 1;
  const isFile = (preview.changes?.length ?? 0) > 1;
  const no = change?.kind === 'delete' ? l10n.t('Keep File') : l10n.t('Discard');
  const discard = isHunk
    ? makeCommand(no, 'redline.preview.discardHunk', id, path, hunk, revision)
    : isFile
      ? makeCommand(no, 'redline.preview.discardFile', id, path, revision)
      : makeCommand(no, 'redline.preview.discard', id, undefined, revision);
  if (block === 'stale') {
    const rebase = makeCommand(l10n.t('Rebase'), 'redline.preview.rebase', id);
    return [{ ...rebase, tooltip: rebaseText() }, discard, more];
  }
  if (block) return [makeCommand(l10n.t('Edit'), 'redline.preview.edit', id, path), discard, more];
  return [applyLens(view, subject, isHunk ? hunk : undefined), discard, more];
}

function applyLens(
  { buildsOn, outcome }: PreviewView,
  { preview, change }: LensSubject,
  hunk: number | undefined,
): vscode.Command {
  const { id, revision, changes } = preview;
  const { problem, recommendation } = outcome.kind === 'pending' ? outcome : {};
  const verb = applyVerb(change && change.kind !== 'modify' ? change.kind : faceOf(preview), problem);
  const why = recommendation && !recommendation.isOfSet ? recommendationText(recommendation, String) : '';
  const own = why === '' ? {} : { tooltip: why };
  if (hunk !== undefined)
    return { ...makeCommand(verb, 'redline.preview.applyHunk', id, change?.path, hunk, revision), ...own };
  if ((changes?.length ?? 0) > 1)
    return { ...makeCommand(verb, 'redline.preview.applyFile', id, change?.path, revision), ...own };
  const isStack = buildsOn.length > 0;
  const title = isStack ? allText('apply', buildsOn.length + 1) : verb;
  const chain = isStack ? revisionsOf(buildsOn) : undefined;
  return { ...makeCommand(title, 'redline.preview.apply', id, undefined, revision, chain), ...own };
}

/**
 * The row above the first hunk's lenses, if there is something to know before deciding: a problem, checks that did not pass, the
 * model's advice against it, risks, and differences that the diff does not show. Notes on the whole preview are in its first file.
 */
export function warningLenses(subject: LensSubject, store: PreviewStore): vscode.Command[] {
  const { preview, change } = subject;
  const view = viewOf(subject, store);
  if (view.outcome.kind !== 'pending') return [];
  const { problem, recommendation } = view.outcome;
  const isFirst = change === undefined || change.path === preview.changes?.[0]?.path;
  return [
    ...(problem ? [problemNote(problem)] : []),
    ...(isFirst
      ? view.checks.filter(({ state }) => !['passed', 'notTested', 'running'].includes(state)).map(checkLens)
      : []),
    ...(recommendation?.action === 'discard' ? [againstNote(recommendation)] : []),
    ...riskNotes(view, change, isFirst),
    ...(change ? fileNotes(subject) : []),
  ];
}

/** The preview's state, as its lenses tell it. */
export function viewOf({ preview, checks, risks }: LensSubject, store: PreviewStore): PreviewView {
  return previewView(preview, {
    // Redline's own applies return no error.
    lastAttempt:
      preview.kind === 'files'
        ? undefined
        : store.ledger().findLast(({ previewId }) => previewId === preview.id),
    ...(isOpen(preview)
      ? { buildsOn: store.open.blockersOf(preview) }
      : new Lineage(store.all()).factsOf(preview)),
    checks,
    risks,
  });
}

/** Lens that takes the outcome back. */
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

/** Result of a check, as a button that opens its output. */
function checkLens(check: CheckMark): vscode.Command {
  const title = withoutIcons(checkText(check, String));
  const tooltip = checkSentence(check, String);
  if (check.resultId === undefined) return { ...note(title), tooltip };
  return { ...makeCommand(title, 'redline.checks.showOutput', check.resultId), tooltip };
}

/** The lenses of a preview that cannot be resolved, or not right now. */
function resolvedRow({ preview, outcome, remedy }: PreviewView): vscode.Command[] {
  const { l10n } = vscode;
  switch (outcome.kind) {
    case 'applying':
      return [note(`$(sync~spin) ${underWayText(outcome.action, faceOf(preview))}`)];
    case 'returnedError':
      return [note(l10n.t('$(error) Applied, and returned an error: {0}', withoutIcons(outcome.error)))];
    case 'applied':
      if (outcome.run)
        return [note(`${hasSucceeded(outcome.run) ? '$(check)' : '$(error)'} ${runText(outcome.run)}`)];
      if (preview.kind === 'plan')
        return [note(`$(check) ${outcomeText('applied', outcome.actor, undefined, true)}`)];
      return [note(l10n.t('$(check) Applied')), ...remedyLens(remedy)];
    case 'undone':
      return [note(`$(history) ${outcomeText('undone', outcome.actor, undefined)}`), ...remedyLens(remedy)];
    case 'discarded':
      if (preview.kind === 'plan')
        return [note(`$(close) ${outcomeText('discarded', outcome.actor, undefined, true)}`)];
      return [note(l10n.t('$(close) Discarded')), ...remedyLens(remedy)];
    case 'expired':
      return [note(expiredText(outcome, withoutIcons))];
    case 'pending':
      return [];
  }
}

/** Notes on differences that the diff of a file does not show. If it hides spaces, one click shows them. */
function fileNotes({ preview, change, hidden = [] }: LensSubject): vscode.Command[] {
  return [
    ...hidden.map(text => ({
      ...note(`$(info) ${withoutIcons(text)}`),
      ...(vscode.workspace.getConfiguration('diffEditor').get('ignoreTrimWhitespace') === true
        ? { command: 'toggle.diff.ignoreTrimWhitespace', tooltip: vscode.l10n.t('Show changes of spaces') }
        : {}),
    })),
    ...(change && noLongerParses(preview, change.path) && !preview.editedByUser
      ? [note(vscode.l10n.t('$(warning) no longer parses'))]
      : []),
    ...(preview.editedByUser ? [note(vscode.l10n.t('$(edit) edited by you'))] : []),
  ];
}

/** The problem in a few words, which leave room for what to do about it; the tooltip has the sentence. */
function problemNote(problem: PreviewProblem): vscode.Command {
  const sentence = problemText(problem, String);
  switch (problem.kind) {
    case 'conflicts':
      return note(`$(warning) ${conflictsLeftText(problem)}`, sentence);
    case 'stale': {
      const names = shortList(problem.paths.map(path => withoutIcons(path.slice(path.lastIndexOf('/') + 1))));
      return note(`$(warning) ${vscode.l10n.t('Stale: {0}', names)}`, sentence);
    }
    case 'failed':
      return note(`$(error) ${vscode.l10n.t('The last attempt failed')}`, sentence);
  }
}

/** The risks of one file of a preview; the first file also has those of the whole preview. The tooltip has a sentence for each. */
function riskNotes(
  { risks }: PreviewView,
  change: FileChange | undefined,
  isFirst: boolean,
): vscode.Command[] {
  const own = risks.filter(risk => ('path' in risk ? risk.path === change?.path : isFirst));
  if (own.length === 0) return [];
  return [
    note(`$(warning) ${riskNote(own, withoutIcons)}`, own.map(risk => riskText(risk, String)).join('\n')),
  ];
}

/** The longest reason that a row shows, in characters; the tooltip has all of it. */
const MAX_REASON = 120;

/** The model's advice against it, and why; the reason for advice on several previews is only in the tooltip. */
function againstNote(recommendation: Recommendation): vscode.Command {
  const why = withoutIcons(recommendation.reason.trim(), MAX_REASON) || vscode.l10n.t('No reason provided');
  const text = recommendation.isOfSet
    ? `$(thumbsdown) ${vscode.l10n.t('not recommended')}`
    : vscode.l10n.t('$(thumbsdown) not recommended: {0}', why);
  return note(text, recommendationText(recommendation, String));
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
  return { title, command: '', tooltip };
}
