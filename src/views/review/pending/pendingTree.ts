import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import { PathError } from '../../../agent/base/errors.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { setVotes } from '../../../agent/hold/preview/setVotes.ts';
import { escapeInvisible } from '../../plainText.ts';
import { DrawnRows } from './drawnRows.ts';
import { fileItem, groupItem, previewItem, ResolvedFacts } from './pendingItems.ts';
import { childrenOf } from './pendingNodes.ts';
import { nodeKey, type PendingNode } from './pendingNode.ts';
import type { PendingParts } from './pendingParts.ts';
import { previewTooltip } from './pendingTooltip.ts';
import { SetItems } from './setItems.ts';

/** How long changes are collected before the rows are refreshed, in milliseconds. */
const GATHER_MS = 50;

/** The rows of the pending view, read from the store whenever VS Code asks. */
export class PendingTree extends Owner implements vscode.TreeDataProvider<PendingNode> {
  readonly #parts: PendingParts;
  readonly #sets: SetItems;
  /** Until the store changes. */
  #resolved: ResolvedFacts | undefined;
  readonly #drawn = new DrawnRows();
  readonly #changed = this.own(new vscode.EventEmitter<PendingNode[] | undefined>());
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #given = this.own(new vscode.EventEmitter<void>());
  /** VS Code was given rows. */
  readonly onDidGive = this.#given.event;
  readonly #tellGiven = coalesce(() => this.#given.fire(), GATHER_MS);

  constructor(parts: PendingParts) {
    super();
    this.#parts = parts;
    this.#sets = this.own(new SetItems(parts));
    const refresh = coalesce(() => this.#redraw(), GATHER_MS);
    for (const { cancel } of [refresh, this.#tellGiven]) this.own({ dispose: cancel });
    this.own(
      parts.review.onDidChange(() => {
        this.#resolved = undefined;
        refresh();
      }),
    );
    this.own(parts.looks.onDidChange(() => this.#redraw()));
    this.own(parts.checks.onDidChange(refresh));
    this.own(parts.risks.onDidChange(refresh));
    this.own(parts.edits.onDidChangeUnsaved(refresh));
  }

  getChildren(node?: PendingNode): PendingNode[] {
    return this.#drawn.giveBelow(node, this.#below(node));
  }

  getParent(node: PendingNode): PendingNode | undefined {
    return this.#drawn.above(node);
  }

  /** The row of a preview, or of one of its files, if VS Code has it. */
  rowOf(previewId: string, path?: string): PendingNode | undefined {
    return this.#drawn.get(
      nodeKey(
        path === undefined
          ? { kind: 'preview', previewId, revision: 0 }
          : { kind: 'file', previewId, revision: 0, path },
      ),
    );
  }

  getTreeItem(node: PendingNode): vscode.TreeItem {
    const item = this.#itemOf(node);
    item.id = nodeKey(node);
    this.#drawn.give(node, lookOf(item));
    this.#tellGiven();
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, node: PendingNode): vscode.TreeItem {
    const preview = node.kind === 'preview' ? this.#parts.store.get(node.previewId) : undefined;
    if (!preview) return item;
    const { checks, risks } = this.#parts;
    item.tooltip = previewTooltip(preview, checks.marksOf(preview), risks.of(preview));
    return item;
  }

  #below(node: PendingNode | undefined): readonly PendingNode[] {
    const { store, review, edits } = this.#parts;
    const rows = childrenOf(store, review.list(), node);
    if (node) return rows;
    const { apply } = setVotes(store.open, { isEdited: id => edits.hasUnsaved(id) });
    return apply > 1 ? [{ kind: 'all', count: apply }, ...rows] : rows;
  }

  /** VS Code also redraws the rows below a row, and forgets their buttons. */
  #redraw(): void {
    const changed = this.#drawn.changed(
      node => this.#below(node),
      node => lookOf(this.#itemOf(node)),
    );
    if (changed === 'all') this.#changed.fire(undefined);
    else if (changed.length > 0) this.#changed.fire([...changed]);
  }

  #itemOf(node: PendingNode): vscode.TreeItem {
    if (node.kind === 'set') return this.#sets.itemOf(node);
    if (!('previewId' in node)) return groupItem(node);
    const preview = this.#parts.store.get(node.previewId);
    if (!preview) return new vscode.TreeItem(node.previewId);
    if (node.kind === 'preview') {
      const { files, looks, checks, risks, store } = this.#parts;
      const facts = (this.#resolved ??= new ResolvedFacts(store)).of(preview);
      const known = { ...facts, checks: checks.marksOf(preview), risks: risks.of(preview) };
      return previewItem(preview, files, looks.count(preview), known);
    }
    return this.#fileItem(preview, node.path);
  }

  /** A file whose folder is no longer open has no URI; its row stays. */
  #fileItem(preview: Preview, path: string): vscode.TreeItem {
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

/** Everything that a row shows. Of its URI, only the path counts. */
function lookOf(item: vscode.TreeItem): string {
  const { label, description, iconPath, contextValue, collapsibleState, accessibilityInformation } = item;
  const { resourceUri, tooltip } = item;
  const said = [label, description, accessibilityInformation?.label, tooltip];
  return JSON.stringify([...said, iconPath, contextValue, collapsibleState, resourceUri?.path]);
}
