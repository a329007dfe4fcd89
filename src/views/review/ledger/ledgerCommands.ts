import * as vscode from 'vscode';
import type { PendingAction } from '../../../agent/hold/preview/pendingAction.ts';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { humanReason } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { reopenAction, undoAction, undoBranchAction } from '../../../agent/hold/preview/undo.ts';
import { shownExpired } from '../pending/pendingNode.ts';
import { oneLine, withoutIcons } from '../../plainText.ts';
import { targetsOf } from '../commands/previewTargets.ts';
import { showInfo } from '../../toast.ts';
import type { Agent } from '../../agent.ts';
import type { Ctx } from '../../ctx.ts';

/** How long the status bar confirms an undo, in milliseconds. */
const STATUS_MS = 6_000;

/**
 * Undoes an applied preview: at once where its files are as the apply left them, else its inverse is staged and opened.
 * @returns the id of the preview that undoes it
 */
export async function undo(ctx: Ctx, args: readonly unknown[]): Promise<string | undefined> {
  const preview = await chosen(ctx, args, undoAction, {
    title: vscode.l10n.t('Undo an applied preview'),
    none: vscode.l10n.t('There is nothing to undo.'),
    cannot: preview =>
      vscode.l10n.t('{0} cannot be undone: only applied file changes can.', oneLine(titleOf(preview))),
  });
  if (!preview) return undefined;
  const pending = pendingUndo(ctx, [preview.id]);
  return pending ? show(ctx, pending) : undoWith(ctx, undoAction(preview), titleOf(preview));
}

/** Undoes these previews of a turn together, like {@link undo}. They are in the order in which they were applied. */
export async function undoTurn(ctx: Ctx, args: readonly unknown[]): Promise<string | undefined> {
  const ids = Array.isArray(args[0]) ? args[0] : [];
  const previews = ids.flatMap(id => (typeof id === 'string' ? (ctx.store.get(id) ?? []) : []));
  const action = undoBranchAction(previews, ctx.store.all(), 'undo', 'turn');
  if (action) return undoWith(ctx, action);
  const pending = pendingUndo(ctx, ids);
  if (pending) return show(ctx, pending);
  return void showInfo(vscode.l10n.t('There is nothing to undo.'));
}

/** The preview that would undo one of these, such as that of the first click of a double click. */
function pendingUndo({ store }: Ctx, ids: readonly unknown[]): Preview | undefined {
  return [...store.open].find(({ undoes = [] }) => undoes.some(id => ids.includes(id)));
}

async function undoWith(
  ctx: Ctx,
  action: PendingAction | undefined,
  title?: string,
): Promise<string | undefined> {
  const staged = await restage(ctx, action);
  if (!staged || !isAsStaged(staged)) return show(ctx, staged);
  const { id, revision } = staged;
  try {
    await ctx.invoker.resolve({
      id,
      revision,
      action: 'apply',
      reason: humanReason('apply'),
      actor: 'human',
    });
  } catch (error) {
    await show(ctx, ctx.store.get(id));
    throw error;
  }
  void vscode.window.setStatusBarMessage(
    vscode.l10n.t('Undone: {0}', oneLine(title ?? titleOf(staged))),
    STATUS_MS,
  );
  return id;
}

/** Whether its files still have their content from staging, so that applying it has exactly the intended result. */
function isAsStaged({ revision, state, dependsOn }: Preview): boolean {
  return revision === 1 && state.kind === 'pending' && state.stale.length === 0 && dependsOn.length === 0;
}

/** Stages a discarded preview again and opens it. @returns the new preview's id */
export async function reopen(ctx: Ctx, args: readonly unknown[]): Promise<string | undefined> {
  const preview = await chosen(ctx, args, reopenAction, {
    title: vscode.l10n.t('Reopen a discarded preview'),
    none: vscode.l10n.t('There is nothing to reopen.'),
    cannot: preview =>
      vscode.l10n.t('{0} cannot be reopened: only discarded file changes can.', oneLine(titleOf(preview))),
  });
  return show(ctx, preview && (await reopenPreview(ctx, preview)));
}

/**
 * Stages the proposal of a discarded preview as a new preview, unless one that is open has it already. `undefined` if it cannot be
 * reopened.
 */
export async function reopenPreview(ctx: Agent, preview: Preview): Promise<Preview | undefined> {
  const open = [...ctx.store.open].find(({ reopens }) => reopens === preview.id);
  return open ?? restage(ctx, reopenAction(preview));
}

/**
 * Stages an action as a new preview with a new id. It is rebased onto the files as they are now; if that would overlap, it becomes
 * stale instead, as its row and lens say.
 */
async function restage(
  { store, session, rebaser }: Agent,
  action: PendingAction | undefined,
): Promise<Preview | undefined> {
  if (!action) return undefined;
  const { preview, stored } = session.stageForUser(action);
  await stored;
  await rebaser.refresh([preview.id]);
  return store.get(preview.id) ?? preview;
}

/** Removes expired previews from the tree: the named ones, else all. */
export async function dismiss({ store }: Ctx, args: readonly unknown[]): Promise<void> {
  const previews = named(store, args);
  for (const { id } of previews.length > 0 ? previews : shownExpired(store)) await store.dismiss(id);
}

function named(store: PreviewStore, args: readonly unknown[]): Preview[] {
  return targetsOf(args).flatMap(({ id }) => store.get(id) ?? []);
}

/** The named preview, or one that the user picks from those that `actionOf` accepts. */
async function chosen(
  { store }: Ctx,
  args: readonly unknown[],
  actionOf: (preview: Preview) => PendingAction | undefined,
  texts: { readonly title: string; readonly none: string; readonly cannot: (preview: Preview) => string },
): Promise<Preview | undefined> {
  // A button in a view's title passes the focused row, which is not the one to undo or reopen.
  const [preview] = typeof args[0] === 'string' ? named(store, args) : [];
  if (preview && actionOf(preview)) return preview;
  if (preview) return void showInfo(texts.cannot(preview));
  const candidates = resolvedLast(store).filter(candidate => actionOf(candidate) !== undefined);
  if (candidates.length === 0) return void showInfo(texts.none);
  return pickPreview(candidates, texts.title);
}

async function show({ opener }: Ctx, preview: Preview | undefined): Promise<string | undefined> {
  if (preview) await opener.open(preview);
  return preview?.id;
}

/** Each resolved preview once, the last resolved first. */
function resolvedLast(store: PreviewStore): Preview[] {
  const ids = new Set(
    store
      .ledger()
      .map(entry => entry.previewId)
      .reverse(),
  );
  return [...ids].flatMap(id => store.get(id) ?? []);
}

async function pickPreview(previews: readonly Preview[], title: string): Promise<Preview | undefined> {
  const items = previews.map(preview => ({
    label: withoutIcons(titleOf(preview)),
    description: preview.id,
    detail: withoutIcons(preview.changes?.map(({ path }) => path).join(', ') ?? ''),
    preview,
  }));
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.preview;
}
