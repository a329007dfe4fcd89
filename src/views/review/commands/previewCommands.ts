import * as vscode from 'vscode';
import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import { isFromKey, onRow, type CommandHandlers } from '../../commandRegistry.ts';
import type { Ctx } from '../../ctx.ts';
import { agentLabel } from '../../plainText.ts';
import { isFromEditor, PreviewTargets, targetsOf, type PreviewTarget } from './previewTargets.ts';
import type { PreviewVotes } from './previewVotes.ts';

/** A command that resolves the previews that were named. */
type Vote = (
  votes: PreviewVotes,
  args: readonly unknown[],
  named: readonly PreviewTarget[],
) => Promise<unknown>;

/** The commands for whole previews, whether run by lens, editor title, key, tree, chat or palette. */
export function previewCommands(ctx: Ctx): CommandHandlers {
  const { store, opener, overview, tabs } = ctx;
  const targets = new PreviewTargets(ctx);
  // Loaded on first use, after the editor was asked for the revision that it shows.
  const votes = async () => new (await import('./previewVotes.ts')).PreviewVotes(ctx, targets);
  const isOpenNow = ({ id }: PreviewTarget): boolean => {
    const preview = store.get(id);
    return preview !== undefined && isOpen(preview);
  };
  const onNamed = (vote: Vote) =>
    onRow(async (...given) => {
      const args = isFromKey(given) ? [] : given;
      const isForNext = isFromKey(given) && opener.isBetweenDiffs;
      const named = isForNext ? [] : await targets.named(args);
      const wereOpen = named.every(isOpenNow);
      const cast = async (): Promise<unknown> => {
        if (isForNext) {
          const next = (await targets.named(args)).filter(isOpenNow);
          return next.length > 0 ? vote(await votes(), args, next) : undefined;
        }
        // A second press or click, while the vote of the first was cast.
        if (wereOpen && named.length === 1 && !named.every(isOpenNow)) return undefined;
        return vote(await votes(), args, named);
      };
      return isFromEditor(args, tabs) ? opener.voteInEditor(cast) : cast();
    });
  const openOne = async (preview: Preview, path?: string): Promise<void> => {
    await opener.open(preview, path);
    overview.noteOpened([preview]);
  };
  const open = async (...args: unknown[]): Promise<void> => {
    const [first] = await targets.named(args);
    const preview = first && store.get(first.id);
    const path = first?.path ?? (typeof args[1] === 'string' ? args[1] : undefined);
    if (!preview) return targets.openHead();
    const hunk = args[2];
    // An editor that shows it already, such as the diff of several files, stays.
    if (typeof hunk !== 'number' || tabs.activeId() !== preview.id) await openOne(preview, path);
    if (typeof hunk !== 'number' || path === undefined) return;
    await (await import('./showHunk.ts')).showHunk(ctx, { id: preview.id, path, hunk });
    await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  };
  const openAll = async (...args: unknown[]): Promise<void> => {
    const set = setIn(args).flatMap(id => store.get(id) ?? []);
    const [only] = set;
    const agent = only?.origin?.agent;
    if (set.length > 1) return overview.openSet(set, titleIn(args) ?? (agent && agentLabel(agent)));
    if (only) return openOne(only);
    const shown = ctx.review.list();
    return shown.length > 1 ? overview.open(shown) : targets.openHead();
  };
  return {
    'redline.preview.apply': onNamed((on, args, named) => on.vote('apply', args, named)),
    'redline.preview.discard': onNamed((on, args, named) => on.vote('discard', args, named)),
    'redline.preview.discardWithReason': onNamed((on, _args, named) => on.discardWithReason(named)),
    'redline.preview.applyAll': async () => (await votes()).applyAll(),
    'redline.preview.discardAll': async () => (await votes()).discardAll(),
    'redline.preview.open': onRow(open),
    'redline.preview.openSelected': async () => {
      const row = ctx.pendingView.selected;
      if (row?.kind === 'all') await (await votes()).applyAll(true);
      else if (row) await (row.kind === 'set' ? openAll(row) : open(row));
    },
    'redline.preview.openFile': onRow(async (...args) => {
      const [target = targets.head] = await targets.named(args);
      if (!target) return targets.openHead();
      const clicked = args[0] instanceof vscode.Uri ? args[0] : undefined;
      const { openFileOf } = await import('./openFile.ts');
      await openFileOf(ctx, target, clicked ?? vscode.window.activeTextEditor?.document.uri);
    }),
    'redline.preview.markViewed': onRow(async (...args) => {
      for (const { id, path } of await targets.named(args)) {
        const preview = store.get(id);
        if (preview) ctx.looks.mark(preview, path);
      }
    }),
    'redline.preview.openAll': openAll,
    'redline.preview.next': () => opener.step(1),
    'redline.preview.previous': () => opener.step(-1),
  };
}

/**
 * The preview ids that were passed, or those of the open previews in the change sets whose rows were passed. A button in the
 * view's title passes the focused row, too.
 */
function setIn(args: readonly unknown[]): readonly string[] {
  const [first] = args;
  if (Array.isArray(first)) return first.filter(id => typeof id === 'string');
  const isSet = typeof first === 'object' && first !== null && 'setId' in first;
  return isSet ? targetsOf(args).map(({ id }) => id) : [];
}

/** The common title of the previews, if it was passed. */
function titleIn([first, title]: readonly unknown[]): string | undefined {
  const given = typeof first === 'object' && first !== null && 'title' in first ? first.title : title;
  return typeof given === 'string' ? given : undefined;
}
