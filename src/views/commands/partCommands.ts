import * as vscode from 'vscode';
import { conflictPaths } from '../../agent/preview/conflictMarkers.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { Preview, ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Rebaser } from '../../agent/preview/rebaser.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import type { PreviewOpener } from '../preview/previewOpener.ts';
import type { PreviewTabs } from '../preview/previewTabs.ts';
import { changeUri, type FileUris } from '../preview/previewUri.ts';
import type { ProposalEdits } from '../preview/proposalEdits.ts';
import { showInfo } from '../toast.ts';
import { ApplyGuard } from './applyGuard.ts';
import { fileTarget, hunkTarget, type PartTarget } from './partTarget.ts';
import { targetsOf } from './previewTarget.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface PartCommandsOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly rebaser: Rebaser;
  readonly opener: PreviewOpener;
  readonly edits: ProposalEdits;
  readonly tabs: PreviewTabs;
  readonly files: FileUris;
}

/** Votes on single files and hunks, and what a person does to a proposal before they vote: edit it, rebase it. */
export function partCommands(options: PartCommandsOptions): CommandHandlers {
  const { store, invoker, rebaser, opener, edits, tabs, files } = options;
  const guard = new ApplyGuard(options);

  const vote = async (action: ResolveAction, target: PartTarget | undefined): Promise<unknown> => {
    if (!target) {
      return void showInfo(vscode.l10n.t('Open a preview and put the cursor into a changed line first.'));
    }
    const { id, revision, path, hunk } = target;
    const preview = store.get(id);
    const consent = action === 'apply' && preview ? await guard.ask(preview) : {};
    if (!consent) return undefined;
    const { resolvePart } = await import('../../agent/preview/resolvePart.ts');
    return resolvePart(
      { store, invoker },
      {
        id,
        revision,
        action,
        reason: humanReason(action),
        actor: 'human',
        ...consent,
      },
      { path, ...(hunk === undefined ? {} : { hunk }) },
    );
  };

  /** What was named or is active; with neither, the head opens, so that it is seen first. */
  const named = async (args: readonly unknown[]): Promise<Preview | undefined> => {
    const id = targetsOf(args)[0]?.id ?? tabs.activeId();
    if (id === undefined) await vscode.commands.executeCommand('redline.preview.open');
    return id === undefined ? undefined : store.get(id);
  };

  const edit = async (preview: Preview, path: string | undefined): Promise<void> => {
    const changes = preview.state.kind === 'pending' ? (preview.changes ?? []) : [];
    const change =
      changes.find(candidate => candidate.path === path) ?? (path === undefined ? changes[0] : undefined);
    if (!change?.after) {
      return void showInfo(vscode.l10n.t('There is no proposed text to edit.'));
    }
    edits.begin(changeUri(preview.id, change, 'proposal', files));
    await opener.open(preview, change.path);
  };

  /** Several selected rows are voted on like any others. */
  const voteOnFile = (action: ResolveAction, args: readonly unknown[]): unknown =>
    targetsOf(args).length > 1
      ? vscode.commands.executeCommand(`redline.preview.${action}`, ...args)
      : vote(action, fileTarget(options, args));

  return {
    'redline.preview.applyFile': (...args) => voteOnFile('apply', args),
    'redline.preview.discardFile': (...args) => voteOnFile('discard', args),
    'redline.preview.applyHunk': async (...args) => vote('apply', await hunkTarget(options, args)),
    'redline.preview.discardHunk': async (...args) => vote('discard', await hunkTarget(options, args)),
    'redline.preview.rebase': async (...args) => {
      const preview = await named(args);
      if (preview?.state.kind !== 'pending') return;
      const [conflict] = await rebaser.rebaseNow(preview.id);
      const rebased = store.get(preview.id);
      if (!rebased) return;
      if (conflict === undefined) await opener.open(rebased);
      else await edit(rebased, conflict);
    },
    'redline.preview.edit': async (...args) => {
      const preview = await named(args);
      if (!preview) return;
      const [conflict] = conflictPaths(preview.changes ?? []);
      const path = fileTarget(options, args)?.path ?? conflict;
      await edit(preview, path);
    },
  };
}
