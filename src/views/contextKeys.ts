import * as vscode from 'vscode';
import type { LedgerEntry } from '../agent/hold/preview/ledger.ts';
import { appliesAny, blockOf, type Preview } from '../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../agent/hold/preview/previewStore.ts';
import type { Session } from '../agent/session/session.ts';
import { contextKeys } from './contributions.ts';
import { shownExpired } from './review/pending/pendingNode.ts';
import type { ProposalEdits } from './review/documents/proposalEdits.ts';
import type { PreviewTabs } from './review/previewTabs.ts';

/** Keeps the context keys up to date, and sets each one only when its value changes. */
export function registerContextKeys(
  store: PreviewStore,
  session: Session,
  tabs: PreviewTabs,
  edits: ProposalEdits,
): vscode.Disposable {
  const hasPending = contextKey(contextKeys.hasPending, () => store.hasPending);
  const canApplyAll = contextKey(contextKeys.canApplyAll, () =>
    appliesAny(store.open, id => edits.hasUnsaved(id)),
  );
  const hasExpired = contextKey(contextKeys.hasExpired, () => shownExpired(store).length > 0);
  const hasReviewed = contextKey(contextKeys.hasReviewed, () => store.ledger().some(isReview));
  const running = contextKey(contextKeys.running, () => session.state === 'running');
  const multiDiff = contextKey(contextKeys.multiDiff, () => tabs.isMultiDiffActive);
  const shown = (): readonly Preview[] => {
    const together = tabs.togetherIn();
    const ids = together.length > 0 ? together : [tabs.activeId() ?? ''];
    return ids.flatMap(id => store.get(id) ?? []).filter(({ state }) => state.kind === 'pending');
  };
  const isShownPending = contextKey(contextKeys.shownPending, () => shown().length > 0);
  const isShownBlocked = contextKey(contextKeys.shownBlocked, () => shown().every(blockOf));
  const isShownStale = contextKey(contextKeys.shownStale, () => {
    const [only, ...others] = shown();
    return others.length === 0 && blockOf(only) === 'stale';
  });
  const shownPending = (): void => {
    isShownPending();
    isShownBlocked();
    isShownStale();
  };
  return vscode.Disposable.from(
    store.onDidChange(shownPending),
    vscode.window.onDidChangeActiveTextEditor(shownPending),
    vscode.window.tabGroups.onDidChangeTabs(shownPending),
    vscode.window.tabGroups.onDidChangeTabGroups(shownPending),
    store.onDidChange(hasPending),
    store.onDidChange(canApplyAll),
    edits.onDidChangeUnsaved(canApplyAll),
    store.onDidResolve(entries => entries.some(isReview) && hasReviewed()),
    store.onDidChange(({ state }) => state.kind === 'expired' && hasExpired()),
    session.onDidEmit(running),
    vscode.window.tabGroups.onDidChangeTabs(multiDiff),
    vscode.window.tabGroups.onDidChangeTabGroups(multiDiff),
  );
}

function isReview({ actor, outcome }: LedgerEntry): boolean {
  return actor === 'human' && outcome !== 'failed';
}

function contextKey(key: string, read: () => boolean): () => void {
  let written: boolean | undefined;
  const update = (): void => {
    const value = read();
    if (value === written) return;
    written = value;
    void vscode.commands.executeCommand('setContext', key, value);
  };
  update();
  return update;
}
