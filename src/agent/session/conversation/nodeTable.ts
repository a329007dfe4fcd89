import type { NodeId } from './nodeId.ts';

const NONE = -1;

/**
 * The shape of a tree: parents, first children and next siblings in typed arrays. Their index is a dense integer that
 * counts up from 0 in the order of appending; ids may have gaps, where lines of a log could not be parsed.
 */
export class NodeTable {
  #size = 0;
  #ids = new Int32Array(256);
  #parent = new Int32Array(256);
  #firstChild = new Int32Array(256);
  #lastChild = new Int32Array(256);
  #nextSibling = new Int32Array(256);
  #depth = new Int32Array(256);
  #firstRoot = NONE;
  #lastRoot = NONE;

  get size(): number {
    return this.#size;
  }

  /** The id after the highest one. */
  get nextId(): NodeId {
    return this.#size === 0 ? 0 : (this.#ids[this.#size - 1] ?? 0) + 1;
  }

  /** The dense integer of an id; -1 for an unknown one. The two are equal as long as there are no gaps. */
  indexOf(id: NodeId): number {
    if (id < this.#size && this.#ids[id] === id) return id;
    let low = 0;
    let high = this.#size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#ids[middle] ?? NONE;
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return NONE;
  }

  /**
   * Adds a node and returns its dense integer. Its id must be above all others. `parent` is a dense integer, -1 for a
   * root.
   */
  add(id: NodeId, parent: number): number {
    const index = this.#size++;
    if (index === this.#ids.length) this.#grow();
    this.#ids[index] = id;
    this.#parent[index] = parent;
    this.#firstChild[index] = this.#lastChild[index] = this.#nextSibling[index] = NONE;
    this.#depth[index] = parent === NONE ? 0 : (this.#depth[parent] ?? 0) + 1;
    const before = parent === NONE ? this.#lastRoot : (this.#lastChild[parent] ?? NONE);
    if (before !== NONE) this.#nextSibling[before] = index;
    else if (parent === NONE) this.#firstRoot = index;
    else this.#firstChild[parent] = index;
    if (parent === NONE) this.#lastRoot = index;
    else this.#lastChild[parent] = index;
    return index;
  }

  idOf(index: number): NodeId {
    return this.#ids[index] ?? NONE;
  }

  /** The parent's dense integer; -1 for a root. */
  parentOf(index: number): number {
    return this.#parent[index] ?? NONE;
  }

  /** The number of its ancestors. */
  depthOf(index: number): number {
    return this.#depth[index] ?? 0;
  }

  /** The child that was added last, for -1 the root; -1 if there is none. */
  lastChildOf(index: number): number {
    return index === NONE ? this.#lastRoot : (this.#lastChild[index] ?? NONE);
  }

  /** Whether it has several children. */
  isFork(index: number): boolean {
    return this.#firstChild[index] !== this.#lastChild[index];
  }

  /** The children in the order in which they were added; for -1 the roots. */
  childrenOf(index: number): number[] {
    const children: number[] = [];
    let child = index === NONE ? this.#firstRoot : (this.#firstChild[index] ?? NONE);
    for (; child !== NONE; child = this.#nextSibling[child] ?? NONE) children.push(child);
    return children;
  }

  #grow(): void {
    const grown = (array: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(array.length * 2);
      larger.set(array);
      return larger;
    };
    this.#ids = grown(this.#ids);
    this.#parent = grown(this.#parent);
    this.#firstChild = grown(this.#firstChild);
    this.#lastChild = grown(this.#lastChild);
    this.#nextSibling = grown(this.#nextSibling);
    this.#depth = grown(this.#depth);
  }
}
