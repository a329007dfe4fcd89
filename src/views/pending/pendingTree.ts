import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { PathError } from '../../agent/base/errors.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { coalesce } from '../coalesce.ts';
import { views } from '../contributions.ts';
import { escapeInvisible } from '../plainText.ts';
import type { FileUris } from '../review/previewUri.ts';
import type { LookedAt } from '../review/lookedAt.ts';
import type { ReviewList } from '../review/reviewList.ts';
import type { Arranger, ArrangerOptions } from './arranger.ts';
import type * as pendingItems from './pendingItems.ts';
import { childrenOf, keyOf, type PendingNode } from './pendingNodes.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 50;

export interface PendingTreeOptions {
  readonly store: PreviewStore;
  readonly files: FileUris;
  readonly review: Pick<ReviewList, 'list' | 'filterNote' | 'onDidChange'>;
  readonly looks: Pick<LookedAt, 'has' | 'count'>;
}

/** The rows of the pending view, read from the store whenever VS Code asks. */
export class PendingTree implements vscode.TreeDataProvider<PendingNode>, vscode.Disposable {
  readonly #options: PendingTreeOptions;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<undefined>());
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(options: PendingTreeOptions) {
    this.#options = options;
    const refresh = coalesce(() => this.#changed.fire(undefined), GATHER_MS);
    this.#owned.add({ dispose: refresh.cancel });
    this.#owned.add(options.review.onDidChange(refresh));
  }

  getChildren(node?: PendingNode): PendingNode[] {
    const { store, review } = this.#options;
    return [...childrenOf(store, review.list(), node)];
  }

  /** What makes the rows is loaded on first use. */
  async getTreeItem(node: PendingNode): Promise<vscode.TreeItem> {
    const item = this.#itemOf(await import('./pendingItems.ts'), node);
    item.id = keyOf(node);
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, node: PendingNode): Promise<vscode.TreeItem> {
    const preview = node.kind === 'preview' ? this.#options.store.get(node.previewId) : undefined;
    if (!preview) return item;
    const { previewTooltip } = await import('./pendingTooltip.ts');
    item.tooltip = previewTooltip(preview);
    return item;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #itemOf(items: typeof pendingItems, node: PendingNode): vscode.TreeItem {
    const { groupItem, previewItem } = items;
    if (node.kind === 'more' || node.kind === 'agent' || node.kind === 'expired') return groupItem(node);
    const preview = this.#options.store.get(node.previewId);
    if (!preview) return new vscode.TreeItem(node.previewId);
    if (node.kind === 'preview') return previewItem(preview, this.#options.looks.count(preview));
    return this.#fileItem(items, preview, node.path);
  }

  /** A file whose folder is no longer open has no URI; its row stays. */
  #fileItem({ fileItem }: typeof pendingItems, preview: Preview, path: string): vscode.TreeItem {
    const { files, looks } = this.#options;
    const change = preview.changes?.find(candidate => candidate.path === path);
    try {
      if (change) return fileItem(preview, change, files, looks.has(preview, change));
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
    }
    return new vscode.TreeItem(escapeInvisible(path));
  }
}

export interface PendingViewOptions extends PendingTreeOptions, ArrangerOptions {
  readonly review: ReviewList;
  readonly looks: LookedAt;
  readonly store: PreviewStore;
}

/** The pending view with its badge, which shows the number of pending previews. */
export class PendingView implements vscode.Disposable {
  readonly #owned = new DisposableStore();
  readonly #view: vscode.TreeView<PendingNode>;
  readonly #options: PendingViewOptions;
  #arranger: Promise<Arranger> | undefined;

  constructor(options: PendingViewOptions) {
    this.#options = options;
    const { store, review } = options;
    const treeDataProvider = this.#owned.add(new PendingTree(options));
    this.#view = this.#owned.add(
      vscode.window.createTreeView(views.pending, {
        treeDataProvider,
        showCollapseAll: true,
        canSelectMany: true,
      }),
    );
    const show = (): void => {
      this.#showCount(store.openCount);
      const note = review.filterNote;
      this.#view.description = note?.short ?? '';
      this.#view.message = note?.full ?? '';
    };
    const update = coalesce(show, GATHER_MS);
    this.#owned.add({ dispose: update.cancel });
    this.#owned.add(review.onDidChange(update));
    show();
    if (options.memory.get('redline.pending.sort') !== undefined) void this.arranger();
  }

  /** Sorts and filters the rows; loaded on first use. */
  arranger(): Promise<Arranger> {
    this.#arranger ??= import('./arranger.ts').then(({ Arranger }) =>
      this.#owned.add(new Arranger(this.#options)),
    );
    return this.#arranger;
  }

  /**
   * The rows that a key press applies to: the focused row, or the whole selection if that row is part of it. The stable
   * API exposes the selection but not the focus, which the arrow keys move. Toggling the selection of the focused row
   * twice reveals it.
   */
  async focused(): Promise<readonly PendingNode[]> {
    const before = this.#view.selection;
    await vscode.commands.executeCommand('list.toggleSelection');
    const after = this.#view.selection;
    await vscode.commands.executeCommand('list.toggleSelection');
    if (after.length < before.length) return before;
    const known = new Set(before.map(keyOf));
    return after.filter(node => !known.has(keyOf(node)));
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #showCount(count: number): void {
    const tooltip =
      count === 1 ? vscode.l10n.t('1 preview is pending') : vscode.l10n.t('{0} previews are pending', count);
    this.#view.badge = count === 0 ? undefined : { value: count, tooltip };
  }
}
