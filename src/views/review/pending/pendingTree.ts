import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf, PathError } from '../../../agent/base/errors.ts';
import { countText } from '../../../agent/base/localiser.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { contextKeys, views } from '../../contributions.ts';
import { escapeInvisible } from '../../plainText.ts';
import { parsePreviewUri } from '../../workspace/previewUri.ts';
import type * as pendingItems from './pendingItems.ts';
import { childrenOf, keyOf, type PendingNode } from './pendingNodes.ts';
import type { PendingParts } from './pendingParts.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 50;

/** The rows of the pending view, read from the store whenever VS Code asks. */
export class PendingTree extends Owner implements vscode.TreeDataProvider<PendingNode> {
  readonly #parts: PendingParts;
  #sets: pendingItems.SetItems | undefined;
  /** Until the store changes. */
  #resolved: pendingItems.ResolvedFacts | undefined;
  /** By id, the rows of previews that VS Code has: it knows a row by its object. */
  readonly #rows = new Map<string, PendingNode>();
  /** The row above each, by its key. */
  readonly #above = new Map<string, PendingNode | undefined>();
  readonly #changed = this.own(new vscode.EventEmitter<PendingNode[] | undefined>());
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(parts: PendingParts) {
    super();
    this.#parts = parts;
    const refresh = coalesce(() => this.#changed.fire(undefined), GATHER_MS);
    this.own({ dispose: refresh.cancel });
    this.own(
      parts.review.onDidChange(() => {
        this.#resolved = undefined;
        refresh();
      }),
    );
    // Whoever reviews looks at one file after the other, which is told in the rows of one preview.
    this.own(
      parts.looks.onDidChange(ids => {
        const rows = ids.flatMap(id => this.#rows.get(id) ?? []);
        if (rows.length > 0) this.#changed.fire(rows);
      }),
    );
    this.own(parts.checks.onDidChange(refresh));
    this.own(parts.risks.onDidChange(refresh));
    this.own(parts.edits.onDidChangeUnsaved(refresh));
  }

  getChildren(node?: PendingNode): PendingNode[] {
    if (!node) for (const map of [this.#rows, this.#above]) map.clear();
    const { store, review } = this.#parts;
    const rows = [...childrenOf(store, review.list(), node)];
    for (const row of rows) this.#above.set(keyOf(row), node);
    return rows;
  }

  getParent(node: PendingNode): PendingNode | undefined {
    return this.#above.get(keyOf(node));
  }

  /** The row of a preview, if VS Code has it. */
  rowOf(previewId: string): PendingNode | undefined {
    return this.#rows.get(previewId);
  }

  /** What makes the rows is loaded on first use. */
  async getTreeItem(node: PendingNode): Promise<vscode.TreeItem> {
    const item = this.#itemOf(await import('./pendingItems.ts'), node);
    item.id = keyOf(node);
    if (node.kind === 'preview') this.#rows.set(node.previewId, node);
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, node: PendingNode): Promise<vscode.TreeItem> {
    const preview = node.kind === 'preview' ? this.#parts.store.get(node.previewId) : undefined;
    if (!preview) return item;
    const { previewTooltip } = await import('./pendingTooltip.ts');
    const { checks, risks } = this.#parts;
    item.tooltip = previewTooltip(preview, checks.marksOf(preview), risks.of(preview));
    return item;
  }

  #itemOf(items: typeof pendingItems, node: PendingNode): vscode.TreeItem {
    const { groupItem, previewItem } = items;
    if (node.kind === 'set') return (this.#sets ??= this.own(new items.SetItems(this.#parts))).itemOf(node);
    if (node.kind === 'more' || node.kind === 'agent' || node.kind === 'expired') return groupItem(node);
    const preview = this.#parts.store.get(node.previewId);
    if (!preview) return new vscode.TreeItem(node.previewId);
    if (node.kind === 'preview') {
      const { files, looks, checks, risks, store } = this.#parts;
      const facts = (this.#resolved ??= new items.ResolvedFacts(store)).of(preview);
      const known = { ...facts, checks: checks.marksOf(preview), risks: risks.of(preview) };
      return previewItem(preview, files, looks.count(preview), known);
    }
    return this.#fileItem(items, preview, node.path);
  }

  /** A file whose folder is no longer open has no URI; its row stays. */
  #fileItem({ fileItem }: typeof pendingItems, preview: Preview, path: string): vscode.TreeItem {
    const { files, looks } = this.#parts;
    const change = preview.changes?.find(candidate => candidate.path === path);
    try {
      if (change) return fileItem(preview, change, files, looks.has(preview, change));
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
    }
    return new vscode.TreeItem(escapeInvisible(path));
  }
}

/** The pending view with its badge, which shows the number of pending previews. */
export class PendingView extends Owner {
  readonly #view: vscode.TreeView<PendingNode>;
  readonly #parts: PendingParts;
  /** What other windows on this folder have pending. */
  #elsewhere = '';

  constructor(parts: PendingParts) {
    super();
    this.#parts = parts;
    const { store, review } = parts;
    const tree = this.own(new PendingTree(parts));
    this.#view = this.own(
      vscode.window.createTreeView(views.pending, {
        treeDataProvider: tree,
        showCollapseAll: true,
        canSelectMany: true,
      }),
    );
    const show = (): void => {
      this.#showCount(store.openCount);
      this.#view.message = this.#elsewhere;
    };
    const update = coalesce(show, GATHER_MS);
    this.own({ dispose: update.cancel });
    this.own(review.onDidChange(update));
    this.own(vscode.window.onDidChangeActiveTextEditor(editor => this.#select(tree, editor)));
    show();
    // The storage of a second window on a folder has the name of the first one's, with a number.
    if (/-\d+$/.test(dirname(parts.storage))) void this.#followOtherWindows(show);
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
    const [had, has] = [before, after].map(rows => new Set(rows.map(keyOf)));
    const added = after.filter(node => !had?.has(keyOf(node)));
    const removed = before.filter(node => !has?.has(keyOf(node)));
    // If the rows were refreshed meanwhile, the focus is not known.
    if (added.length + removed.length !== 1) return [];
    return removed.length === 1 ? before : added;
  }

  /** The selected row follows the editor, so that its buttons are not those of what was shown before. */
  #select(tree: PendingTree, editor: vscode.TextEditor | undefined): void {
    const id = editor && parsePreviewUri(editor.document.uri)?.previewId;
    const [selected, ...others] = this.#view.selection;
    if (!id || !this.#view.visible || !selected || others.length > 0) return;
    const row = tree.rowOf(id);
    if (!row || ('previewId' in selected && selected.previewId === id)) return;
    const onFailure = (error: unknown): void =>
      this.#parts.logger.debug(`The row of ${id} cannot be selected: ${detailOf(error)}`);
    this.#view.reveal(row, { select: true, focus: false }).then(undefined, onFailure);
  }

  async #followOtherWindows(show: () => void): Promise<void> {
    const { OtherWindows, otherWindowsText } = await import('../../storage/otherWindows.ts');
    const { storage, logger } = this.#parts;
    const onCount = (count: number): void => {
      this.#elsewhere = otherWindowsText(count);
      void vscode.commands.executeCommand('setContext', contextKeys.otherWindow, count > 0);
      show();
    };
    await this.own(new OtherWindows(storage, onCount, logger)).start();
  }

  #showCount(count: number): void {
    const tooltip = countText(
      vscode.l10n.t('1 preview is pending|{0} previews are pending'),
      vscode.l10n,
    )(count);
    this.#view.badge = count === 0 ? undefined : { value: count, tooltip };
  }
}
