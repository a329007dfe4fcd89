import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import type { Session } from '../../../agent/session/session.ts';
import { views } from '../../contributions.ts';
import type { HistoryRow } from './historyRows.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 100;

/** What the id of a row ends with, by whether it has rows below it, folded or not. */
const MARKS = {
  [vscode.TreeItemCollapsibleState.None]: '',
  [vscode.TreeItemCollapsibleState.Collapsed]: '-',
  [vscode.TreeItemCollapsibleState.Expanded]: '+',
};

/** The rows of the History view, read from the session whenever VS Code asks. */
class HistoryTree extends Owner implements vscode.TreeDataProvider<HistoryRow> {
  readonly #session: Session;
  readonly #changed = this.own(new vscode.EventEmitter<undefined>());
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(session: Session) {
    super();
    this.#session = session;
    const refresh = coalesce(() => this.#changed.fire(undefined), GATHER_MS);
    this.own({ dispose: refresh.cancel });
    this.own(
      session.onDidEmit(({ type }) => {
        if (type === 'message_end' || type === 'revert_applied' || type === 'reset') refresh();
      }),
    );
  }

  async getChildren(row?: HistoryRow): Promise<HistoryRow[]> {
    const { childrenOf } = await import('./historyRows.ts');
    return [...childrenOf(this.#session.tree, row)];
  }

  async getTreeItem(row: HistoryRow): Promise<vscode.TreeItem> {
    const [{ itemOf }, { keyOf }] = await Promise.all([
      import('./historyItems.ts'),
      import('./historyRows.ts'),
    ]);
    const { id, tree } = this.#session;
    const item = itemOf(tree, row);
    // VS Code keeps what is unfolded by id. The session's id keeps conversations apart; the mark makes a row that gets its
    // first branch a new one, which would otherwise stay folded.
    item.id = `${id}:${keyOf(row)}${MARKS[item.collapsibleState ?? vscode.TreeItemCollapsibleState.None]}`;
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, row: HistoryRow): Promise<vscode.TreeItem> {
    const { tooltipOf } = await import('./historyItems.ts');
    const tooltip = tooltipOf(this.#session.tree, row);
    if (tooltip) item.tooltip = tooltip;
    return item;
  }
}

/** The History view, which shows the session's title beside its own. */
export function registerHistoryView(session: Session): vscode.Disposable {
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
