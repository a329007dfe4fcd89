import * as vscode from 'vscode';
import { hasConflict } from '../../agent/preview/conflictMarkers.ts';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import { revisionsOf, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { planOf } from '../../agent/session/planMode.ts';
import { commandOf } from '../commands/commandOf.ts';
import { withoutIcons } from '../plainText.ts';
import { chainText } from './chainText.ts';
import { hiddenDifferences } from './hiddenDifference.ts';

/** What a preview's lenses offer and say, in the order in which they stand. */
export function previewLenses(
  preview: Preview,
  store: Pick<PreviewStore, 'blockersOf' | 'openCount'>,
): vscode.Command[] {
  const { id, state } = preview;
  switch (state.kind) {
    case 'applying':
      return [note(vscode.l10n.t('$(sync~spin) Resolving…'))];
    case 'applied':
      return [
        note(vscode.l10n.t('$(check) Applied')),
        ...(preview.changes ? [commandOf(vscode.l10n.t('Undo Apply'), 'redline.preview.undo', id)] : []),
      ];
    case 'discarded':
      return [
        note(vscode.l10n.t('$(discard) Discarded')),
        ...(preview.changes ? [commandOf(vscode.l10n.t('Reopen'), 'redline.preview.reopen', id)] : []),
      ];
    case 'expired':
      return [
        note(
          state.interrupted
            ? vscode.l10n.t('Cut off while it was applied: whether it was done is not known')
            : vscode.l10n.t('Expired: what it would have run is gone'),
        ),
      ];
    case 'pending':
      return [
        ...votes(preview, store.blockersOf(preview)),
        ...(store.openCount > 1 ? [commandOf(vscode.l10n.t('Next'), 'redline.preview.next')] : []),
        ...staleOrFailed(preview),
        ...recommendation(preview),
      ];
  }
}

/** What else there is for one file of a preview. */
export function fileLenses(preview: Preview, change: FileChange): vscode.Command[] {
  if (preview.state.kind !== 'pending') return [];
  const { id, revision } = preview;
  const { path } = change;
  const several = (preview.changes?.length ?? 0) > 1;
  return [
    ...(several
      ? [
          commandOf(vscode.l10n.t('Apply file'), 'redline.preview.applyFile', id, path, revision),
          commandOf(vscode.l10n.t('Discard file'), 'redline.preview.discardFile', id, path, revision),
        ]
      : []),
    ...hiddenDifferences(change).map(text => note(`$(info) ${text}`)),
    ...(preview.editedByUser ? [note(vscode.l10n.t('$(edit) edited by you'))] : []),
  ];
}

/** Votes on one hunk of several. */
export function hunkLenses(
  { id, revision, state }: Preview,
  { kind, path }: FileChange,
  hunk: number,
  hunks: number,
): vscode.Command[] {
  // What is stale would be split into parts that are stale: it is moved onto the file first, or voted on whole.
  if (state.kind !== 'pending' || state.stale.length > 0 || kind !== 'modify' || hunks < 2) return [];
  return [
    commandOf(vscode.l10n.t('Apply hunk'), 'redline.preview.applyHunk', id, path, hunk, revision),
    commandOf(vscode.l10n.t('Discard hunk'), 'redline.preview.discardHunk', id, path, hunk, revision),
  ];
}

function votes(preview: Preview, blockers: readonly Preview[]): vscode.Command[] {
  const { id, revision, changes } = preview;
  const files = changes?.length ?? 1;
  const title =
    blockers.length > 0
      ? vscode.l10n.t('Apply {0}', chainText([...blockers, preview]))
      : files === 1
        ? vscode.l10n.t('Apply')
        : vscode.l10n.t('Apply ({0} files)', files);
  const chain = blockers.length > 0 ? revisionsOf(blockers) : undefined;
  const discard = files === 1 ? vscode.l10n.t('Discard') : vscode.l10n.t('Discard all {0}', files);
  return [
    commandOf(`$(check) ${title}`, 'redline.preview.apply', id, undefined, revision, chain),
    planOf(preview)
      ? commandOf(
          `$(discard) ${vscode.l10n.t('Discard…')}`,
          'redline.preview.discardWithReason',
          id,
          undefined,
          revision,
        )
      : commandOf(`$(discard) ${discard}`, 'redline.preview.discard', id, undefined, revision),
  ];
}

function staleOrFailed({ id, changes, state }: Preview): vscode.Command[] {
  if (state.kind !== 'pending') return [];
  const conflicts = (changes ?? []).filter(hasConflict);
  if (conflicts.length > 0) {
    const paths = withoutIcons(conflicts.map(change => change.path).join(', '));
    return [
      note(vscode.l10n.t('$(warning) Conflicts in {0}: edit the proposal and save', paths)),
      commandOf(vscode.l10n.t('Edit'), 'redline.preview.edit', id, conflicts[0]?.path),
    ];
  }
  if (state.stale.length > 0) {
    const paths = withoutIcons(state.stale.join(', '));
    return [
      note(vscode.l10n.t('$(warning) Stale: {0} changed since', paths)),
      commandOf(vscode.l10n.t('Rebase'), 'redline.preview.rebase', id),
    ];
  }
  return state.lastError === undefined
    ? []
    : [note(vscode.l10n.t('$(error) Apply failed: {0}', withoutIcons(state.lastError)))];
}

function recommendation({ state }: Preview): vscode.Command[] {
  if (state.kind !== 'pending' || !state.recommendation) return [];
  const { action, reason } = state.recommendation;
  return [
    note(
      action === 'apply'
        ? vscode.l10n.t('model recommends Apply: {0}', withoutIcons(reason))
        : vscode.l10n.t('model recommends Discard: {0}', withoutIcons(reason)),
    ),
  ];
}

/** A lens that only says something. */
function note(title: string): vscode.Command {
  return { title, command: '' };
}
