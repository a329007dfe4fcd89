import * as vscode from 'vscode';
import { hunksOfChange } from '../../../agent/hold/preview/fileChange.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { blockOf, titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { previewView, type PreviewView } from '../../../agent/hold/preview/previewView.ts';
import { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';
import { setVotes } from '../../../agent/hold/preview/setVotes.ts';
import { inLens, makeCommand } from '../../commandRegistry.ts';
import type { CommandArguments, CommandId } from '../../contributions.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine, plural } from '../../plainText.ts';
import { allText } from '../../texts/previewWords.ts';

/** The hunk below the lens: its file, and its index from 0. */
interface Place {
  readonly path: string | undefined;
  readonly hunk: number;
  readonly revision: number | undefined;
}

/** Offers further actions on a hunk, its file and the whole. */
export async function moreActions(ctx: Ctx, args: readonly unknown[]): Promise<void> {
  const { store } = ctx;
  const [first, path, hunk, revision] = args;
  if (Array.isArray(first) && first.length > 1) return moreOfSet(ctx, first);
  const id: unknown = Array.isArray(first) ? first[0] : first;
  const preview = typeof id === 'string' ? store.get(id) : undefined;
  if (preview?.state.kind !== 'pending') return;
  const place = {
    path: typeof path === 'string' ? path : undefined,
    hunk: typeof hunk === 'number' ? hunk : 0,
    revision: typeof revision === 'number' ? revision : undefined,
  };
  const isOnCard = Array.isArray(first);
  const actions = isOnCard
    ? actionsOnWhole(preview, ctx.checks.hasChecks)
    : await actionsOn(preview, place, ctx.checks.hasChecks);
  const action = await pickAction(actions, oneLine(titleOf(preview)));
  if (!action) return;
  const { command, arguments: given = [] } = isOnCard ? action : inLens(action);
  await vscode.commands.executeCommand(command, ...(given as unknown[]));
}

async function pickAction(
  actions: readonly vscode.Command[],
  title: string,
): Promise<vscode.Command | undefined> {
  const items = actions.map(action => ({ label: action.title, action }));
  return (await vscode.window.showQuickPick(items, { title }))?.action;
}

/**
 * Offers the actions on all of these together, and Undo, Apply Again or Reopen for each. They act on the state at the time the list
 * opens.
 */
async function moreOfSet({ store, edits, checks }: Ctx, ids: readonly unknown[]): Promise<void> {
  const { l10n } = vscode;
  const previews = store.all();
  const of = new Set(ids);
  // A part comes after the preview that it was split off from.
  for (const { id, part } of previews) if (part && of.has(part.previewId)) of.add(id);
  const all = previews.filter(({ id }) => of.has(id));
  const open = all.filter(({ state }) => state.kind === 'pending');
  const votes = setVotes(open, { open: store.open, isEdited: id => edits.hasUnsaved(id) });
  const rows = { open: open.map(({ id, revision }) => ({ previewId: id, revision })) };
  const actions: vscode.Command[] = [];
  const add = (title: string, command: CommandId, ...given: readonly unknown[]): number =>
    actions.push({ title, command, arguments: [...given] });
  if (votes.apply > 0) add(allText('apply', votes.apply), 'redline.preview.apply', rows);
  if (open.length > 0) {
    add(allText('discard', open.length), 'redline.preview.discard', rows);
    add(l10n.t('Discard with reason…'), 'redline.preview.discardWithReason', rows);
    if (checks.hasChecks) add(l10n.t('Run checks'), 'redline.checks.run');
  }
  const lineage = new Lineage(previews);
  const ways = all.flatMap(preview => {
    const { remedy } = previewView(preview, lineage.factsOf(preview));
    return remedy ? { ...remedy, name: oneLine(titleOf(preview)) } : [];
  });
  const applied = ways.flatMap(({ type, id }) => (type === 'undo' ? id : []));
  if (applied.length > 1) add(l10n.t('Undo what was applied'), 'redline.preview.undoTurn', applied);
  actions.push(...waysBack(ways));
  const title = plural(l10n.t('1 change|{0} changes'), all.length);
  const action = await pickAction(actions, title);
  if (action)
    await vscode.commands.executeCommand(action.command, ...((action.arguments ?? []) as unknown[]));
}

/** Undo, Apply Again and Reopen of decided previews. One undo may have undone several, which come back together. */
function waysBack(
  ways: readonly (NonNullable<PreviewView['remedy']> & { readonly name: string })[],
): readonly vscode.Command[] {
  const { l10n } = vscode;
  return [...Map.groupBy(ways, ({ id }) => id).values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { type, id, name } = first;
    if (type === 'reopen') return makeCommand(l10n.t('Reopen {0}', name), 'redline.preview.reopen', id);
    const again = others.length > 0 ? l10n.t('Apply Again') : l10n.t('Apply {0} again', name);
    return makeCommand(type === 'undo' ? l10n.t('Undo {0}', name) : again, 'redline.preview.undo', id);
  });
}

/** Actions that a card offers in addition to its own buttons. */
function actionsOnWhole({ id, kind, revision }: Preview, hasChecks: boolean): vscode.Command[] {
  const { l10n } = vscode;
  const actions = [
    makeCommand(l10n.t('Discard with reason…'), 'redline.preview.discardWithReason', id, undefined, revision),
  ];
  if (kind === 'files')
    actions.push(
      makeCommand(l10n.t('Edit'), 'redline.preview.edit', id),
      makeCommand(l10n.t('Open file'), 'redline.preview.openFile', id),
      ...(hasChecks ? [makeCommand(l10n.t('Run checks'), 'redline.checks.run', id)] : []),
    );
  return actions;
}

async function actionsOn(
  preview: Preview,
  { path, hunk, revision }: Place,
  hasChecks: boolean,
): Promise<vscode.Command[]> {
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
    add(l10n.t('Discard file with reason…'), 'redline.preview.discardWithReason', {
      previewId: id,
      path,
      revision,
    });
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
    if (hasChecks) add(l10n.t('Run checks'), 'redline.checks.run', id);
  }
  add(l10n.t('Next'), 'redline.preview.next');
  return actions;
}
