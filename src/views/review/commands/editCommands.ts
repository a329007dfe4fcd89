import * as vscode from 'vscode';
import { ToolError } from '../../../agent/base/errors.ts';
import { textOf } from '../../../agent/hold/preview/fileChange.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import {
  chosenLines,
  conflictBlocks,
  withChoice,
  type ConflictChoice,
} from '../../../agent/hold/preview/rebase/conflictMarkers.ts';
import { outdatedVoteText } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { inLens, isFromLens, makeCommand } from '../../commandRegistry.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import { changeUri } from '../../workspace/previewUri.ts';
import { targetsOf } from './previewTargets.ts';
import type { Ctx } from '../../ctx.ts';

/**
 * Makes the user's typing in the proposals of a preview its next revision, and applies that, unless the user goes on typing. If the
 * preview has changed since the typing began, the result is shown instead, since no one has seen it.
 */
export async function saveAndApply(ctx: Ctx, args: readonly unknown[]): Promise<unknown> {
  const id = editedId(ctx, args);
  const now = id === undefined ? undefined : ctx.store.get(id);
  if (!now) return void showInfo(nothingEdited());
  const seen = typeof args[1] === 'number' ? args[1] : now.revision;
  const { revision, isMerged, isTypedOn } = await ctx.edits.commitUnsaved(now.id, seen);
  if (!isMerged && isTypedOn)
    return void showInfo(
      vscode.l10n.t(
        '{0} is not applied yet: you went on typing while it was saved. Save it again.',
        oneLine(titleOf(now)),
      ),
    );
  if (!isMerged) {
    const apply = makeCommand('', 'redline.preview.apply', now.id, undefined, revision);
    const { command, arguments: given } = isFromLens(args) ? inLens(apply) : apply;
    return vscode.commands.executeCommand(command, ...((given ?? []) as unknown[]));
  }
  void showInfo(
    vscode.l10n.t(
      '{0} changed while you were typing. It has your edits now: look at it again before you apply it.',
      oneLine(titleOf(now)),
    ),
  );
  return ctx.opener.open(ctx.store.get(now.id) ?? now);
}

/** Drops the user's unsaved edits of the proposals of a preview. */
export async function revertEdits(ctx: Ctx, args: readonly unknown[]): Promise<void> {
  const id = editedId(ctx, args);
  if (id === undefined) return void showInfo(nothingEdited());
  await ctx.edits.revert(id);
}

/**
 * Settles one conflict of a proposal. Unsaved typing stays unsaved; without any, the choice becomes the preview's next revision at
 * once.
 * @throws ToolError if the preview has another revision than the one that was seen
 */
export async function settleConflict(ctx: Ctx, args: readonly unknown[]): Promise<void> {
  const [id, path, line, choice, revision] = args;
  const preview = typeof id === 'string' ? ctx.store.get(id) : undefined;
  const change = preview?.changes?.find(each => each.path === path);
  if (!preview || !change?.after || !isChoice(choice)) return;
  const uri = changeUri(preview.id, change, 'proposal', ctx.files);
  const isOurs = (each: vscode.TextDocument): boolean => each.uri.toString() === uri.toString();
  const document = vscode.workspace.textDocuments.find(isOurs);
  if (document && ctx.edits.isEdited(document)) return settleIn(document, line, choice);
  if (preview.revision !== revision) {
    await ctx.opener.open(preview, change.path);
    throw new ToolError(outdatedVoteText(preview, Number(revision)));
  }
  const text = textOf(change.after);
  const block = conflictBlocks(text).find(({ start }) => start === line);
  if (block) await ctx.edits.replace(uri, withChoice(text, block, choice), text);
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

/** The named preview, else the one in the active editor, if it has unsaved edits. */
function editedId({ edits, tabs }: Ctx, args: readonly unknown[]): string | undefined {
  const id = targetsOf(args)[0]?.id ?? tabs.activeId();
  return id !== undefined && edits.hasUnsaved(id) ? id : undefined;
}

function isChoice(value: unknown): value is ConflictChoice {
  return value === 'current' || value === 'proposed' || value === 'both';
}

function nothingEdited(): string {
  return vscode.l10n.t('This proposal has no unsaved edits.');
}
