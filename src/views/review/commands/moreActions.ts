import * as vscode from 'vscode';
import { hunksOfChange } from '../../../agent/hold/preview/fileChange.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { blockOf, titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { inLens, makeCommand } from '../../commandRegistry.ts';
import type { CommandArguments, CommandId } from '../../contributions.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';

/** The hunk that the lens stands above: of a file, and counted from 0. */
interface Place {
  readonly path: string | undefined;
  readonly hunk: number;
  readonly revision: number | undefined;
}

/** Offers what else can be done with a hunk, its file and the whole. */
export async function moreActions({ store }: Ctx, args: readonly unknown[]): Promise<void> {
  const [id, path, hunk, revision] = args;
  const preview = typeof id === 'string' ? store.get(id) : undefined;
  if (preview?.state.kind !== 'pending') return;
  const place = {
    path: typeof path === 'string' ? path : undefined,
    hunk: typeof hunk === 'number' ? hunk : 0,
    revision: typeof revision === 'number' ? revision : undefined,
  };
  const actions = await actionsOn(preview, place);
  const items = actions.map(action => ({ label: action.title, action }));
  const chosen = await vscode.window.showQuickPick(items, { title: oneLine(titleOf(preview)) });
  if (!chosen) return;
  const { command, arguments: given = [] } = inLens(chosen.action);
  await vscode.commands.executeCommand(command, ...(given as unknown[]));
}

async function actionsOn(preview: Preview, { path, hunk, revision }: Place): Promise<vscode.Command[]> {
  const { l10n } = vscode;
  const { id, kind, changes = null } = preview;
  const change = changes?.find(each => each.path === path);
  const hunks = change?.kind === 'modify' ? (await hunksOfChange(change)).length : 1;
  const files = changes?.length ?? 1;
  const isBlocked = blockOf(preview) !== undefined;
  const actions: vscode.Command[] = [];
  const add = <K extends CommandId>(title: string, command: K, ...given: CommandArguments[K]): number =>
    actions.push(makeCommand(title, command, ...given));
  if (hunks > 1 && !isBlocked)
    add(
      l10n.t('Discard hunk with reason…'),
      'redline.preview.discardHunkWithReason',
      id,
      path,
      hunk,
      revision,
    );
  if (files > 1) {
    if (hunks > 1 && !isBlocked) add(l10n.t('Apply file'), 'redline.preview.applyFile', id, path, revision);
    if (hunks > 1) add(l10n.t('Discard file'), 'redline.preview.discardFile', id, path, revision);
    add(l10n.t('Discard file with reason…'), 'redline.preview.discardFileWithReason', id, path, revision);
  }
  if (files > 1 || hunks > 1) {
    const [apply, discard] =
      files > 1
        ? [l10n.t('Apply all {0} files', files), l10n.t('Discard all {0} files', files)]
        : [l10n.t('Apply all {0} hunks', hunks), l10n.t('Discard all {0} hunks', hunks)];
    if (!isBlocked) add(apply, 'redline.preview.apply', id, undefined, revision);
    add(discard, 'redline.preview.discard', id, undefined, revision);
  } else add(l10n.t('Discard with reason…'), 'redline.preview.discardWithReason', id, undefined, revision);
  if (kind === 'files' || planOf(preview)) add(l10n.t('Edit'), 'redline.preview.edit', id, path);
  if (kind === 'files') {
    add(l10n.t('Open file'), 'redline.preview.openFile', id);
    add(l10n.t('Run checks'), 'redline.checks.run', id);
  }
  add(l10n.t('Next'), 'redline.preview.next');
  return actions;
}
