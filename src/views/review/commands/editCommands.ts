import * as vscode from 'vscode';
import { ToolError } from '../../../agent/base/errors.ts';
import type { PreviewStore } from '../../../agent/preview/previewStore.ts';
import {
  chosenLines,
  conflictBlocks,
  withChoice,
  type ConflictChoice,
} from '../../../agent/preview/rebase/conflictMarkers.ts';
import { outdatedVoteText } from '../../../agent/preview/resolve/resolveTexts.ts';
import { execute } from '../../commandRegistry.ts';
import { showInfo } from '../../toast.ts';
import type { ProposalEdits } from '../documents/proposalEdits.ts';
import type { PreviewOpener } from '../previewOpener.ts';
import type { PreviewTabs } from '../previewTabs.ts';
import { changeUri, type FileUris } from '../previewUri.ts';
import { targetsOf } from './previewTargets.ts';

export interface EditCommandsOptions {
  readonly store: PreviewStore;
  readonly edits: ProposalEdits;
  readonly opener: Pick<PreviewOpener, 'open'>;
  readonly tabs: Pick<PreviewTabs, 'activeId'>;
  readonly files: FileUris;
}

/**
 * Makes what the user typed into the proposals of a preview its next revision, and applies that. If the preview has changed since
 * the typing began, the result is shown instead, since no one has seen it.
 */
export async function saveAndApply(options: EditCommandsOptions, args: readonly unknown[]): Promise<unknown> {
  const id = editedId(options, args);
  const now = id === undefined ? undefined : options.store.get(id);
  if (!now) return void showInfo(nothingEdited());
  const seen = typeof args[1] === 'number' ? args[1] : now.revision;
  const { revision, isMerged } = await options.edits.commitUnsaved(now.id, seen);
  if (!isMerged) return execute('redline.preview.apply', now.id, undefined, revision);
  void showInfo(
    vscode.l10n.t(
      '{0} changed while you were typing. It has your edits now: look at it again before you apply it.',
      now.id,
    ),
  );
  return options.opener.open(options.store.get(now.id) ?? now);
}

/** Drops what the user typed into the proposals of a preview since they were last saved. */
export async function revertEdits(options: EditCommandsOptions, args: readonly unknown[]): Promise<void> {
  const id = editedId(options, args);
  if (id === undefined) return void showInfo(nothingEdited());
  await options.edits.revert(id);
}

/**
 * Settles one conflict of a proposal. What the user is typing stays unsaved; without that, the choice is the preview's next
 * revision at once.
 * @throws ToolError if the preview has another revision than the one that was seen
 */
export async function settleConflict(options: EditCommandsOptions, args: readonly unknown[]): Promise<void> {
  const [id, path, line, choice, revision] = args;
  const preview = typeof id === 'string' ? options.store.get(id) : undefined;
  const change = preview?.changes?.find(each => each.path === path);
  if (!preview || !change?.after || !isChoice(choice)) return;
  const uri = changeUri(preview.id, change, 'proposal', options.files);
  const isOurs = (each: vscode.TextDocument): boolean => each.uri.toString() === uri.toString();
  const document = vscode.workspace.textDocuments.find(isOurs);
  if (document && (document.isDirty || options.edits.draftOf(uri) !== undefined))
    return settleIn(document, line, choice);
  if (preview.revision !== revision) {
    await options.opener.open(preview, change.path);
    throw new ToolError(outdatedVoteText(preview, Number(revision)));
  }
  const { text } = change.after;
  const block = conflictBlocks(text).find(({ start }) => start === line);
  if (block) await options.edits.replace(uri, withChoice(text, block, choice));
}

async function settleIn(document: vscode.TextDocument, line: unknown, choice: ConflictChoice): Promise<void> {
  const text = document.getText();
  const block = conflictBlocks(text).find(({ start }) => start === line);
  if (!block) return;
  const edit = new vscode.WorkspaceEdit();
  const range = document.validateRange(new vscode.Range(block.start, 0, block.end + 1, 0));
  edit.replace(document.uri, range, chosenLines(text, block, choice).join(''));
  await vscode.workspace.applyEdit(edit);
}

/** The preview that was named, else the one in the active editor, if something is typed into it. */
function editedId({ edits, tabs }: EditCommandsOptions, args: readonly unknown[]): string | undefined {
  const id = targetsOf(args)[0]?.id ?? tabs.activeId();
  return id !== undefined && edits.hasUnsaved(id) ? id : undefined;
}

function isChoice(value: unknown): value is ConflictChoice {
  return value === 'current' || value === 'proposed' || value === 'both';
}

function nothingEdited(): string {
  return vscode.l10n.t('This proposal has no unsaved edits.');
}
