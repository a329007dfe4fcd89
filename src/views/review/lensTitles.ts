import * as vscode from 'vscode';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import { revisionsOf, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import {
  conflictPaths,
  conflictsLeft,
  type ConflictBlock,
  type ConflictChoice,
} from '../../agent/preview/rebase/conflictMarkers.ts';
import { planOf } from '../../agent/session/planMode.ts';
import { noLongerParses } from '../../agent/tools/ast/astEdit.ts';
import { makeCommand } from '../commandRegistry.ts';
import { conflictsText } from '../pending/pendingItems.ts';
import { idList, withoutIcons } from '../plainText.ts';
import { shortList } from '../texts/shortList.ts';

/** What the lenses of one file of a preview are made from. */
export interface LensSubject {
  readonly preview: Preview;
  /** `undefined` for a preview without files. */
  readonly change: FileChange | undefined;
  /** The number of hunks in the file. */
  readonly hunks: number;
  /** What the diff of the file does not show. */
  readonly hidden: readonly string[];
}

type LensStore = Pick<PreviewStore, 'blockersOf' | 'openCount' | 'ledger'>;

/**
 * The lenses above the first hunk of a file, in display order: buttons for the smallest part first, then for the whole, then
 * notes. The row has only the space beside one line of code, so short lenses come before long ones, and the buttons for the
 * whole and the recommendation stand in the first file only.
 */
export function lensRow(subject: LensSubject, store: LensStore): vscode.Command[] {
  const { preview, change } = subject;
  if (preview.state.kind !== 'pending') return [...resolvedRow(preview, store), ...fileNotes(subject)];
  const isFirst = change === undefined || change.path === preview.changes?.[0]?.path;
  const isOneOfSeveral = change !== undefined && (preview.changes?.length ?? 0) > 1;
  return [
    ...(change ? hunkLenses(preview, change, 0, subject.hunks) : []),
    ...(isOneOfSeveral ? fileLenses(preview, change) : []),
    ...(isFirst ? applyAndDiscard(subject, store.blockersOf(preview)) : []),
    ...(isFirst && store.openCount > 1 ? [makeCommand(vscode.l10n.t('Next'), 'redline.preview.next')] : []),
    ...(isFirst ? recommendation(preview) : []),
    ...(isOneOfSeveral ? [discardFileWithReason(preview, change)] : []),
    ...staleOrFailed(preview),
    ...fileNotes(subject),
  ];
}

/** The lenses of a preview that cannot be resolved, or not right now. */
function resolvedRow(preview: Preview, store: LensStore): vscode.Command[] {
  const { id, kind, state } = preview;
  switch (state.kind) {
    case 'applying':
      return [note(vscode.l10n.t('$(sync~spin) Resolving…'))];
    case 'applied':
      return [
        appliedNote(preview, store),
        ...(kind === 'files' ? [makeCommand(vscode.l10n.t('Undo Apply'), 'redline.preview.undo', id)] : []),
      ];
    case 'discarded':
      return [
        note(vscode.l10n.t('$(discard) Discarded')),
        ...(kind === 'files' ? [makeCommand(vscode.l10n.t('Reopen'), 'redline.preview.reopen', id)] : []),
      ];
    case 'expired':
      return [
        note(
          state.reason !== undefined
            ? vscode.l10n.t('Expired: {0}', withoutIcons(state.reason))
            : state.interrupted
              ? vscode.l10n.t('Interrupted while being applied: the action may or may not have run')
              : vscode.l10n.t('Expired: this action can no longer run'),
        ),
      ];
    case 'pending':
      return [];
  }
}

function appliedNote({ id, kind }: Preview, store: Pick<PreviewStore, 'ledger'>): vscode.Command {
  // Redline's own applies return no error.
  const last = kind === 'files' ? undefined : store.ledger().findLast(entry => entry.previewId === id);
  if (last?.outcome !== 'returnedError') return note(vscode.l10n.t('$(check) Applied'));
  return note(
    vscode.l10n.t('$(error) Applied, and returned an error: {0}', withoutIcons(last.message ?? '')),
  );
}

/** Buttons for one file of several. */
function fileLenses({ id, revision }: Preview, { path }: FileChange): vscode.Command[] {
  return [
    makeCommand(vscode.l10n.t('Apply file'), 'redline.preview.applyFile', id, path, revision),
    makeCommand(vscode.l10n.t('Discard file'), 'redline.preview.discardFile', id, path, revision),
  ];
}

function discardFileWithReason({ id, revision }: Preview, { path }: FileChange): vscode.Command {
  const title = vscode.l10n.t('Discard file with reason…');
  return makeCommand(title, 'redline.preview.discardFileWithReason', id, path, revision);
}

/** The notes about one file. */
function fileNotes({ preview, change, hidden }: LensSubject): vscode.Command[] {
  if (preview.state.kind !== 'pending' || !change) return [];
  return [
    ...hidden.map(text => note(`$(info) ${withoutIcons(text)}`)),
    ...(noLongerParses(preview, change.path) && !preview.editedByUser
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

/** The buttons for the whole, whose titles say that it is more than the part beside them. */
function applyAndDiscard({ preview, hunks }: LensSubject, blockers: readonly Preview[]): vscode.Command[] {
  const { id, revision, changes } = preview;
  if (planOf(preview)) return approveAndSendBack(preview);
  const files = changes?.length ?? 1;
  const parts = files > 1 ? files : hunks;
  const title =
    blockers.length > 0
      ? vscode.l10n.t('Apply {0}', idList([...blockers, preview]))
      : parts > 1
        ? vscode.l10n.t('Apply all {0}', parts)
        : vscode.l10n.t('Apply');
  const chain = blockers.length > 0 ? revisionsOf(blockers) : undefined;
  const discard = parts > 1 ? vscode.l10n.t('Discard all {0}', parts) : vscode.l10n.t('Discard');
  const apply = makeCommand(`$(check) ${title}`, 'redline.preview.apply', id, undefined, revision, chain);
  return [
    // With conflicts in it, it cannot be applied.
    ...(conflictsLeft(changes ?? []) > 0 ? [] : [apply]),
    makeCommand(`$(discard) ${discard}`, 'redline.preview.discard', id, undefined, revision),
  ];
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

function staleOrFailed({ id, changes, state }: Preview): vscode.Command[] {
  if (state.kind !== 'pending') return [];
  const [conflicted] = conflictPaths(changes ?? []);
  if (conflicted !== undefined) {
    return [
      note(`$(warning) ${conflictsText(conflictsLeft(changes ?? []))}`),
      makeCommand(vscode.l10n.t('Edit'), 'redline.preview.edit', id, conflicted),
    ];
  }
  if (state.stale.length > 0) {
    const paths = withoutIcons(shortList(state.stale, vscode.l10n.t('{0} and {1} more')));
    return [
      note(vscode.l10n.t('$(warning) Stale: {0} changed after this was proposed', paths)),
      makeCommand(vscode.l10n.t('Rebase'), 'redline.preview.rebase', id),
    ];
  }
  return state.lastError === undefined
    ? []
    : [note(vscode.l10n.t('$(error) Apply failed: {0}', withoutIcons(state.lastError)))];
}

/** The model's vote in a word; the reason is in the tooltip, where it takes no space from the buttons. */
function recommendation({ state }: Preview): vscode.Command[] {
  if (state.kind !== 'pending' || !state.recommendation) return [];
  const { action, reason } = state.recommendation;
  return action === 'apply'
    ? [
        note(
          vscode.l10n.t('$(thumbsup) recommended'),
          vscode.l10n.t('The model recommends Apply: {0}', reason),
        ),
      ]
    : [
        note(
          vscode.l10n.t('$(thumbsdown) not recommended'),
          vscode.l10n.t('The model recommends Discard: {0}', reason),
        ),
      ];
}

/** The lens above a proposal that the user can edit but has not edited yet. */
export function editableNote(): vscode.Command {
  return note(vscode.l10n.t('$(edit) You can edit this side'));
}

/** The lenses of a proposal with edits that are not saved. */
export function editedRow(preview: Preview): vscode.Command[] {
  const { id } = preview;
  const isPlan = planOf(preview) !== undefined;
  return [
    makeCommand(
      `$(check) ${isPlan ? vscode.l10n.t('Save & Approve') : vscode.l10n.t('Save & Apply')}`,
      'redline.preview.saveAndApply',
      id,
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
