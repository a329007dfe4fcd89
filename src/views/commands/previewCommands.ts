import * as vscode from 'vscode';
import type { Logger } from '../../agent/base/log.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import { isOpen, type Preview, type ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Settings } from '../host/settings.ts';
import type { PendingView } from '../pending/pendingTree.ts';
import { oneLine } from '../plainText.ts';
import type { FileUris } from '../preview/previewUri.ts';
import type { Overview } from '../preview/overview.ts';
import type { PreviewOpener } from '../preview/previewOpener.ts';
import type { PreviewTabs } from '../preview/previewTabs.ts';
import type { ProposalEdits } from '../preview/proposalEdits.ts';
import type { Restaging } from '../preview/restaging.ts';
import { showInfo } from '../toast.ts';
import { ApplyGuard } from './applyGuard.ts';
import type { BulkVotes } from './bulkVotes.ts';
import { openFileOf } from './openFile.ts';
import { isFromTree, seenRevisions, targetsOf, type PreviewTarget } from './previewTarget.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface PreviewCommandsOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly session: Session;
  readonly opener: PreviewOpener;
  readonly overview: Overview;
  readonly pendingView: PendingView;
  readonly restaging: Restaging;
  readonly edits: ProposalEdits;
  readonly tabs: PreviewTabs;
  readonly settings: Settings;
  readonly files: FileUris;
  readonly logger: Logger;
}

/** Everything that a person does to previews, by lens, editor title, key, tree, chat or palette. */
export function previewCommands(options: PreviewCommandsOptions): CommandHandlers {
  const { store, invoker, session, opener, overview, pendingView, tabs, settings } = options;
  const guard = new ApplyGuard(options);
  /** Loaded on first use: activation does not pay for it. */
  const bulk = async (): Promise<BulkVotes> => new (await import('./bulkVotes.ts')).BulkVotes(options);

  /** In the order of staging: an earlier one may be what a later one builds on. */
  const pending = (): readonly Preview[] =>
    store.list('oldestFirst').filter(preview => preview.state.kind === 'pending');

  /** The previews that were named or focused, else the one in the active editor. */
  const targets = async (args: readonly unknown[]): Promise<readonly PreviewTarget[]> => {
    if (isFromTree(args[0])) return targetsOf([undefined, await pendingView.focused()]);
    const named = targetsOf(args);
    const active = named.length > 0 ? undefined : tabs.activeId();
    return active === undefined ? named : [{ id: active }];
  };

  /** With nothing named and no preview active, a person is shown the head instead of voting on it unseen. */
  const openHead = async (): Promise<void> => {
    const [head] = store.list(settings.order);
    if (head) await opener.open(head);
    else void showInfo(vscode.l10n.t('Nothing is pending.'));
  };

  const vote = async (action: ResolveAction, args: readonly unknown[]): Promise<unknown> => {
    const named = await targets(args);
    const [first] = named;
    if (named.length > 1)
      return action === 'apply' ? (await bulk()).applyAll(named) : (await bulk()).discardAll(named);
    if (first?.path !== undefined) {
      return vscode.commands.executeCommand(
        `redline.preview.${action}File`,
        first.id,
        first.path,
        first.revision,
      );
    }
    const preview = first && store.get(first.id);
    if (!preview) return openHead();
    if (!isOpen(preview)) return void showInfo(alreadyText(preview));
    const consent = action === 'apply' ? await guard.ask(preview, seenRevisions(args[3])) : {};
    if (!consent) return undefined;
    const typed = typeof args[1] === 'string' ? args[1] : undefined;
    const asks = action === 'discard' && typed === undefined && planOf(preview) !== undefined;
    const reason = asks ? await askReason(preview) : (typed ?? '');
    if (reason === undefined) return undefined;
    return invoker.resolve({
      id: preview.id,
      revision: first.revision ?? preview.revision,
      action,
      reason: humanReason(action, reason),
      actor: 'human',
      ...consent,
    });
  };

  const step = async (direction: 1 | -1): Promise<void> => {
    const previews = store.list(settings.order);
    const at = previews.findIndex(preview => preview.id === tabs.activeId());
    const next = previews.at(at < 0 ? 0 : (at + direction) % previews.length);
    if (next) await opener.open(next);
  };

  return {
    'redline.preview.apply': (...args) => vote('apply', args),
    'redline.preview.discard': (...args) => vote('discard', args),
    'redline.preview.discardWithReason': async (...args) => {
      const named = await targets(args);
      const [first] = named;
      const preview = first && store.get(first.id);
      if (!preview) return openHead();
      const isWhole = named.length === 1 && first.path === undefined;
      const reason = await (isWhole ? askReason(preview) : askReasonOfSeveral(named.length));
      if (reason === undefined) return undefined;
      if (!isWhole) return (await bulk()).discardAll(named, reason);
      return vote('discard', [preview.id, reason, first.revision ?? preview.revision]);
    },
    'redline.preview.open': async (...args) => {
      const [first] = await targets(args);
      const preview = first && store.get(first.id);
      const path = first?.path ?? (typeof args[1] === 'string' ? args[1] : undefined);
      await (preview ? opener.open(preview, path) : openHead());
    },
    'redline.preview.openFile': async (...args) => {
      const [first] = await targets(args);
      const [head] = store.list(settings.order);
      const target = first ?? (head && targetOf(head));
      if (!target) return openHead();
      const clicked = args[0] instanceof vscode.Uri ? args[0] : undefined;
      await openFileOf(options, target, clicked ?? vscode.window.activeTextEditor?.document.uri);
    },
    'redline.preview.openAll': () => {
      const all = pending();
      return all.length > 1 ? overview.open(all) : openHead();
    },
    'redline.preview.applyAll': async () => {
      const all = pending();
      return all.length === 0 ? openHead() : (await bulk()).applyAll(all.map(targetOf));
    },
    'redline.preview.discardAll': async () => {
      const all = pending();
      if (all.length === 0) return openHead();
      session.endReview();
      return (await bulk()).discardAll(all.map(targetOf));
    },
    'redline.preview.next': () => step(1),
    'redline.preview.previous': () => step(-1),
  };
}

/** The person's words for a discard; `undefined` when they think better of it. */
function askReason(preview: Preview): Thenable<string | undefined> {
  const plan = planOf(preview);
  return vscode.window.showInputBox(
    plan
      ? {
          title: vscode.l10n.t('Send back the plan “{0}”', oneLine(plan.title)),
          prompt: vscode.l10n.t('What should be different? The model refines the plan with your words.'),
        }
      : {
          title: vscode.l10n.t('Discard {0}', oneLine(preview.label)),
          prompt: vscode.l10n.t('Why? The model is told your words.'),
        },
  );
}

function askReasonOfSeveral(count: number): Thenable<string | undefined> {
  const title =
    count === 1 ? vscode.l10n.t('Discard 1 file') : vscode.l10n.t('Discard all {0} selected', count);
  return vscode.window.showInputBox({ title, prompt: vscode.l10n.t('Why? The model is told your words.') });
}

function targetOf({ id, revision }: Preview): PreviewTarget {
  return { id, revision };
}

/** Why there is nothing left to vote on. */
function alreadyText({ id, label, state }: Preview): string {
  const name = `${oneLine(label)} (${id})`;
  switch (state.kind) {
    case 'applied':
      return vscode.l10n.t('{0} is already applied: {1}', name, oneLine(state.by.reason));
    case 'discarded':
      return vscode.l10n.t('{0} is already discarded: {1}', name, oneLine(state.by.reason));
    case 'expired':
    case 'applying':
    case 'pending':
      return vscode.l10n.t('{0} has expired: what it would have run is gone.', name);
  }
}
