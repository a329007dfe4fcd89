import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import type { Session } from '../../agent/session/session.ts';
import { coalesce } from '../coalesce.ts';
import { views } from '../contributions.ts';
import { itemOf, tooltipOf } from './historyItems.ts';
import { childrenOf, keyOf, type HistoryRow } from './historyRows.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 100;

type HistorySession = Pick<Session, 'id' | 'tree' | 'title' | 'onDidEmit'>;

/** The rows of the History view, read from the session whenever VS Code asks. */
class HistoryTree implements vscode.TreeDataProvider<HistoryRow>, vscode.Disposable {
  readonly #session: HistorySession;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<undefined>());
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(session: HistorySession) {
    this.#session = session;
    const refresh = coalesce(() => this.#changed.fire(undefined), GATHER_MS);
    this.#owned.add({ dispose: refresh.cancel });
    this.#owned.add(
      session.onDidEmit(({ type }) => {
        if (type === 'message_end' || type === 'revert_applied' || type === 'reset') refresh();
      }),
    );
  }

  getChildren(row?: HistoryRow): HistoryRow[] {
    return [...childrenOf(this.#session.tree, row)];
  }

  getTreeItem(row: HistoryRow): vscode.TreeItem {
    const { id, tree } = this.#session;
    const item = itemOf(tree, row);
    // VS Code keeps what is unfolded by id. The session's id keeps conversations apart; the `+` makes a row that gets its
    // first branch a new one, which would otherwise stay folded.
    const hasRows = item.collapsibleState !== vscode.TreeItemCollapsibleState.None;
    item.id = `${id}:${keyOf(row)}${hasRows ? '+' : ''}`;
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, row: HistoryRow): vscode.TreeItem {
    const tooltip = tooltipOf(this.#session.tree, row);
    if (tooltip) item.tooltip = tooltip;
    return item;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** The History view, which shows the session's title beside its own. */
export function registerHistoryView(session: HistorySession): vscode.Disposable {
  const treeDataProvider = new HistoryTree(session);
  const view = vscode.window.createTreeView(views.history, { treeDataProvider, showCollapseAll: true });
  const name = (): void => {
    view.description = session.title ?? '';
  };
  name();
  const following = session.onDidEmit(({ type }) => {
    if (type === 'renamed' || type === 'reset') name();
  });
  return vscode.Disposable.from(treeDataProvider, view, following);
}
