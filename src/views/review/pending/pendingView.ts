import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf } from '../../../agent/base/errors.ts';
import { views } from '../../contributions.ts';
import { parsePreviewUri } from '../../workspace/previewUri.ts';
import { shownChange } from '../shownChange.ts';
import { nodeKey, type PendingNode } from './pendingNode.ts';
import type { PendingParts } from './pendingParts.ts';
import type { PendingTree } from './pendingTree.ts';
import { plural } from '../../plainText.ts';

/** How long changes are collected before the badge is changed, in milliseconds. */
const GATHER_MS = 50;

/** The pending view with its badge, which shows the number of pending previews. */
export class PendingView extends Owner {
  readonly #view: vscode.TreeView<PendingNode>;
  /** Loaded once the view is shown. */
  #tree: PendingTree | undefined;
  readonly #changed = this.own(new vscode.EventEmitter<PendingNode[] | undefined>());
  #loading: Promise<PendingTree> | undefined;
  readonly #parts: PendingParts;
  /** The preview that the editor shows, until its row is selected, or the person has selected another. */
  #shown: { readonly id: string; readonly path: string | undefined } | undefined;

  constructor(parts: PendingParts) {
    super();
    this.#parts = parts;
    const { store, review } = parts;
    this.#view = this.own(
      vscode.window.createTreeView(views.pending, {
        treeDataProvider: {
          onDidChangeTreeData: this.#changed.event,
          getChildren: async node => (await this.#loadedTree()).getChildren(node),
          getTreeItem: async node => (await this.#loadedTree()).getTreeItem(node),
          getParent: async node => (await this.#loadedTree()).getParent(node),
          resolveTreeItem: async (item, node) => (await this.#loadedTree()).resolveTreeItem(item, node),
        },
        showCollapseAll: true,
        canSelectMany: true,
      }),
    );
    const show = (): void => this.#showCount(store.open.size);
    const update = coalesce(show, GATHER_MS);
    this.own({ dispose: update.cancel });
    this.own(review.onDidChange(update));
    this.own(vscode.window.onDidChangeActiveTextEditor(editor => this.#follow(editor)));
    this.own(this.#view.onDidChangeSelection(() => (this.#shown = undefined)));
    show();
  }

  #loadedTree(): Promise<PendingTree> {
    return (this.#loading ??= import('./pendingTree.ts').then(({ PendingTree }) => {
      const tree = this.own(new PendingTree(this.#parts));
      this.own(tree.onDidChangeTreeData(rows => this.#changed.fire(rows)));
      this.own(tree.onDidGive(() => this.#select()));
      return (this.#tree = tree);
    }));
  }

  /** The row that was clicked last, or opened by a key. */
  get selected(): PendingNode | undefined {
    return this.#view.selection[0];
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
    const [had, has] = [before, after].map(rows => new Set(rows.map(nodeKey)));
    const added = after.filter(node => !had?.has(nodeKey(node)));
    const removed = before.filter(node => !has?.has(nodeKey(node)));
    // If the rows were refreshed meanwhile, the focus is not known.
    if (added.length + removed.length !== 1) return [];
    return removed.length === 1 ? before : added;
  }

  /** The selection follows the editor, so that its buttons do not belong to the previous preview. */
  #follow(editor: vscode.TextEditor | undefined): void {
    const { store, files } = this.#parts;
    const address = editor && parsePreviewUri(editor.document.uri);
    if (!address) return;
    this.#shown = { id: address.previewId, path: shownChange(store, files, address)?.change.path };
    this.#select();
  }

  /** Selects the row of the shown preview, once VS Code has it. A folded row is not unfolded for the row of a file. */
  #select(): void {
    const { id, path } = this.#shown ?? {};
    const [selected, ...others] = this.#view.selection;
    if (id === undefined || !this.#view.visible || others.length > 0) return;
    const isOfFile = selected?.kind === 'file' && selected.previewId === id;
    const row = isOfFile && path !== selected.path ? this.#tree?.rowOf(id, path) : this.#tree?.rowOf(id);
    if (!row) return;
    this.#shown = undefined;
    if (selected && 'previewId' in selected && selected.previewId === id && row.kind === 'preview') return;
    const onFailure = (error: unknown): void =>
      this.#parts.logger.debug(`The row of ${id} cannot be selected: ${detailOf(error)}`);
    this.#view.reveal(row, { select: true, focus: false }).then(undefined, onFailure);
  }

  #showCount(count: number): void {
    const tooltip = plural(vscode.l10n.t('1 preview is pending|{0} previews are pending'), count);
    this.#view.badge = count === 0 ? undefined : { value: count, tooltip };
  }
}
