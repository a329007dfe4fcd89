import { isDeepStrictEqual } from 'node:util';
import { nodeKey, type PendingNode } from './pendingNode.ts';

/**
 * Mirrors the rows that VS Code has of the tree, so that a change redraws only rows that look different now. VS Code knows a row
 * by its object, so a row keeps its object as long as it is there.
 */
export class DrawnRows {
  /** By key, each row and its look. */
  readonly #rows = new Map<string, { readonly node: PendingNode; look: string }>();
  /** By the key of a row, empty for the top: that row, and the rows below it. */
  readonly #below = new Map<
    string,
    { readonly above?: PendingNode; readonly rows: readonly PendingNode[] }
  >();
  /** By key, the row above. */
  readonly #above = new Map<string, PendingNode | undefined>();

  /**
   * Takes the rows below `above`. The rows at the top come first, when VS Code reads the whole tree.
   * @returns them, as the objects that VS Code may know
   */
  giveBelow(above: PendingNode | undefined, now: readonly PendingNode[]): PendingNode[] {
    const key = above ? nodeKey(above) : '';
    const before = this.#below.get(key)?.rows ?? [];
    const known = new Map(before.map(row => [nodeKey(row), row]));
    const rows = now.map(row => Object.assign(known.get(nodeKey(row)) ?? row, row));
    const kept = new Set(rows.map(nodeKey));
    for (const row of before) if (!kept.has(nodeKey(row))) this.#forget(nodeKey(row));
    this.#below.set(key, { above, rows });
    for (const row of rows) this.#above.set(nodeKey(row), above);
    return rows;
  }

  /** @param look everything that the row shows */
  give(node: PendingNode, look: string): void {
    this.#rows.set(nodeKey(node), { node, look });
  }

  get(key: string): PendingNode | undefined {
    return this.#rows.get(key)?.node;
  }

  above(node: PendingNode): PendingNode | undefined {
    return this.#above.get(nodeKey(node));
  }

  /**
   * Brings the rows up to date.
   * @param readBelow reads the rows below one, or those at the top
   * @returns the rows to draw again, each with those below it; 'all' if the top has other rows
   */
  changed(
    readBelow: (above: PendingNode | undefined) => readonly PendingNode[],
    lookOf: (node: PendingNode) => string,
  ): readonly PendingNode[] | 'all' {
    const changed = new Set<PendingNode>();
    for (const { above, rows } of this.#below.values()) {
      const now = readBelow(above);
      const isSame =
        now.length === rows.length && now.every((row, at) => nodeKey(row) === nodeKey(rows[at] ?? row));
      if (!isSame && !above) return 'all';
      if (!isSame && above) changed.add(above);
      else
        for (const [at, row] of rows.entries()) {
          if (isDeepStrictEqual(row, now[at])) continue;
          changed.add(Object.assign(row, now[at]));
        }
    }
    for (const { node, look } of this.#rows.values()) if (lookOf(node) !== look) changed.add(node);
    const isBelowChanged = (node: PendingNode): boolean => {
      const above = this.above(node);
      return above !== undefined && (changed.has(above) || isBelowChanged(above));
    };
    return [...changed].filter(node => this.#rows.get(nodeKey(node))?.node === node && !isBelowChanged(node));
  }

  #forget(key: string): void {
    for (const row of this.#below.get(key)?.rows ?? []) this.#forget(nodeKey(row));
    for (const map of [this.#rows, this.#below, this.#above]) map.delete(key);
  }
}
