import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf } from '../../../agent/base/errors.ts';
import type { Agent } from '../../agent.ts';
import { views } from '../../contributions.ts';
import type { Branch } from './branches.ts';
import type { ListedSession, ListedSessions } from './listedSessions.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 100;

/** A session, or a branch of the open one. Commands on a branch take `node`. */
type HistoryRow =
  | {
      readonly kind: 'session';
      readonly id: string;
      readonly session: ListedSession;
      readonly branches: readonly Branch[];
    }
  | { readonly kind: 'branch'; readonly node: number; readonly branch: Branch };

/** The rows of the History view, read whenever VS Code asks. */
class HistoryTree extends Owner implements vscode.TreeDataProvider<HistoryRow> {
  readonly #agent: Agent;
  readonly #changed = this.own(new vscode.EventEmitter<undefined>());
  readonly onDidChangeTreeData = this.#changed.event;
  #listed: ListedSessions | undefined;

  constructor(agent: Agent) {
    super();
    this.#agent = agent;
    const refresh = coalesce(() => this.#changed.fire(undefined), GATHER_MS);
    this.own({ dispose: refresh.cancel });
    this.own(
      agent.session.onDidEmit(({ type }) => {
        if (['message_end', 'revert_applied', 'reset', 'renamed'].includes(type)) refresh();
      }),
    );
    this.own(agent.sessions.onDidChangeStored(refresh));
  }

  async getChildren(row?: HistoryRow): Promise<HistoryRow[]> {
    if (row)
      return row.kind === 'session'
        ? row.branches.map(branch => ({ kind: 'branch', node: branch.node, branch }))
        : [];
    const [{ ListedSessions }, { branchesOf }] = await Promise.all([
      import('./listedSessions.ts'),
      import('./branches.ts'),
    ]);
    const { session, sessions, logger } = this.#agent;
    this.#listed ??= new ListedSessions(sessions, session);
    const listed = await this.#listed.list().catch((error: unknown) => {
      logger.warn(`The stored sessions cannot be listed: ${detailOf(error)}`);
      return [];
    });
    return listed.map(each => ({
      kind: 'session',
      id: each.id,
      session: each,
      branches: each.isOpen ? branchesOf(session.tree) : [],
    }));
  }

  async getTreeItem(row: HistoryRow): Promise<vscode.TreeItem> {
    const { sessionItem, branchItem } = await import('./historyItems.ts');
    const { session } = this.#agent;
    const item =
      row.kind === 'session'
        ? sessionItem(row.session, row.branches.length)
        : branchItem(session.tree, row.branch);
    // VS Code remembers unfolded rows by id. The mark gives a session a new id with its first branch; otherwise it would stay
    // folded.
    item.id =
      row.kind === 'session'
        ? `${row.id}${row.branches.length > 0 ? '+' : ''}`
        : `${session.id}:${row.branch.node}`;
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, row: HistoryRow): Promise<vscode.TreeItem> {
    if (row.kind === 'session') return item;
    const { branchTooltip } = await import('./historyItems.ts');
    item.tooltip = branchTooltip(this.#agent.session.tree, row.branch);
    return item;
  }
}

/** The History view: the sessions, and the branches of the open one. */
export function registerHistoryView(agent: Agent): vscode.Disposable {
  const treeDataProvider = new HistoryTree(agent);
  const view = vscode.window.createTreeView(views.history, { treeDataProvider });
  return vscode.Disposable.from(treeDataProvider, view);
}
