import { TimeSlice } from '../../base/async.ts';
import type { SessionMessage, SteeringMessage } from '../model/messages.ts';
import { Bodies, type StoredBody } from './bodies.ts';
import type { NodeId } from './nodeId.ts';
import { NodeTable } from './nodeTable.ts';
import { REVERT_TOOL, summaryLine, tagKindOf, tagText, type NodeTag, type RevertRecord } from './revert.ts';

/** A message and its place in the tree. */
export interface TreeNode {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly message: SessionMessage;
}

/** A node read from a log, whose message may be parsed later. */
export interface StoredNode extends Omit<TreeNode, 'message'> {
  readonly message: SessionMessage | StoredBody;
}

const NONE = -1;
/** How many messages are parsed before the event loop gets a turn. */
const PER_SLICE = 100;

/**
 * Every message of a session, on all branches. The tree only grows: abandoned branches stay in it. The next request is built from
 * the trunk, the path from the root to the active node, which is cached. Appending is O(1), moving is O(distance).
 */
export class ConversationTree {
  readonly #table = new NodeTable();
  readonly #bodies = new Bodies();
  readonly #tags = new Map<number, NodeTag[]>();
  /** Dense integers from the root to the active node. */
  readonly #trunk: number[] = [];
  readonly #trunkMessages: SessionMessage[] = [];
  #turns = 0;
  #steeringAfter: NodeId | undefined;

  /** The number of nodes on all branches. */
  get size(): number {
    return this.#table.size;
  }

  /** The id that the next message will get. */
  get nextId(): NodeId {
    return this.#table.nextId;
  }

  /** The node that the next message follows; `null` before the first one. */
  get active(): NodeId | null {
    const last = this.#trunk.at(-1);
    return last === undefined ? null : this.#table.idOf(last);
  }

  /** The messages on the trunk, root first. This is the tree's own list, which changes with it. */
  get messages(): readonly SessionMessage[] {
    this.#readTrunk(Infinity);
    return this.#trunkMessages;
  }

  /**
   * Parses the messages on the trunk in slices that leave room for other work, so that {@link messages} is ready at
   * once.
   */
  async readAhead(): Promise<void> {
    const slice = new TimeSlice();
    for (let left = this.#readTrunk(PER_SLICE); left > 0; left = this.#readTrunk(PER_SLICE))
      await slice.turn();
  }

  /** The number of nodes on the trunk. */
  get length(): number {
    return this.#trunk.length;
  }

  /** The role of the message at a position in {@link messages}. */
  roleAt(position: number): SessionMessage['role'] | undefined {
    return this.#bodies.roleOf(this.#trunk[position] ?? NONE);
  }

  /** The role of a node's message; `undefined` for an unknown id. */
  roleOf(id: NodeId): SessionMessage['role'] | undefined {
    return this.#bodies.roleOf(this.#table.indexOf(id));
  }

  /** The node above this one, found without parsing a message; `null` for a root or an unknown id. */
  parentOf(id: NodeId): NodeId | null {
    return this.#idOrNull(this.#table.parentOf(this.#table.indexOf(id)));
  }

  /** Whether the trunk is empty or holds only local messages. */
  get hasNothingForModel(): boolean {
    return this.#trunk.every(index => this.#bodies.roleOf(index) === 'local');
  }

  /** The position of the last message with this role in {@link messages}; -1 if there is none. */
  lastPositionOf(role: SessionMessage['role']): number {
    return this.#trunk.findLastIndex(index => this.#bodies.roleOf(index) === role);
  }

  /** The steering messages on the trunk, from a position in {@link messages} on. */
  steeringFrom(position: number): readonly SteeringMessage[] {
    const found: SteeringMessage[] = [];
    for (let at = position; at < this.#trunk.length; at++) {
      if (this.roleAt(at) !== 'steering') continue;
      const message = this.#bodies.get(this.#trunk[at] ?? NONE);
      if (message?.role === 'steering') found.push(message);
    }
    return found;
  }

  /** The ids of {@link messages}. */
  get trunk(): readonly NodeId[] {
    return this.#trunk.map(index => this.#table.idOf(index));
  }

  /** The number of answers on all branches. */
  get turns(): number {
    return this.#turns;
  }

  /** The node that the last revert went back to. `undefined` once the model has answered from there. */
  get steeringAfter(): NodeId | undefined {
    return this.#steeringAfter;
  }

  has(id: NodeId): boolean {
    return this.#table.indexOf(id) !== NONE;
  }

  /** The node; `undefined` for an unknown id. */
  get(id: NodeId): TreeNode | undefined {
    const index = this.#table.indexOf(id);
    const message = this.#bodies.get(index);
    if (message === undefined) return undefined;
    return { id, parentId: this.#idOrNull(this.#table.parentOf(index)), message };
  }

  /** The id of the node at a position in {@link messages}. */
  idAt(position: number): NodeId | undefined {
    const index = this.#trunk[position];
    return index === undefined ? undefined : this.#table.idOf(index);
  }

  /** The node's position in {@link messages}; -1 if it is not on the trunk. */
  positionOf(id: NodeId): number {
    const index = this.#table.indexOf(id);
    if (index === NONE) return NONE;
    const depth = this.#table.depthOf(index);
    return this.#trunk[depth] === index ? depth : NONE;
  }

  isOnTrunk(id: NodeId): boolean {
    return this.positionOf(id) !== NONE;
  }

  /** The children of a node, oldest first; for `null` the roots. */
  childrenOf(id: NodeId | null): NodeId[] {
    const index = id === null ? NONE : this.#table.indexOf(id);
    if (id !== null && index === NONE) return [];
    return this.#table.childrenOf(index).map(child => this.#table.idOf(child));
  }

  /** The child of a node that was added last; for `null` the root. */
  newestChildOf(id: NodeId | null): NodeId | undefined {
    const index = id === null ? NONE : this.#table.indexOf(id);
    const child = id !== null && index === NONE ? NONE : this.#table.lastChildOf(index);
    return child === NONE ? undefined : this.#table.idOf(child);
  }

  /** Whether a node has several children. */
  isFork(id: NodeId): boolean {
    const index = this.#table.indexOf(id);
    return index !== NONE && this.#table.isFork(index);
  }

  /** The end of the branch that continues from this node, following the newest child each time. */
  tipOf(id: NodeId): NodeId {
    let index = this.#table.indexOf(id);
    for (let next = index; next !== NONE; next = this.#table.lastChildOf(index)) index = next;
    return index === NONE ? id : this.#table.idOf(index);
  }

  /** The nodes on the trunk after this one, in order; for `null` all of them. */
  nodesAfter(id: NodeId | null): NodeId[] {
    const position = id === null ? NONE : this.positionOf(id);
    if (id !== null && position === NONE) return [];
    return this.#trunk.slice(position + 1).map(index => this.#table.idOf(index));
  }

  /**
   * The nodes that would leave the trunk if the target became the active node, in order. `undefined` for an unknown
   * target.
   */
  nodesLeaving(target: NodeId | null): NodeId[] | undefined {
    const path = this.#pathTo(target);
    return path && this.#trunk.slice(path.shared).map(index => this.#table.idOf(index));
  }

  /** The tags of a node, oldest first, without those whose branch is back on the trunk. */
  tagsOf(id: NodeId): readonly NodeTag[] {
    const tags = this.#tags.get(this.#table.indexOf(id));
    return (
      tags?.filter(({ abandonedNodeIds: [first] }) => first === undefined || !this.isOnTrunk(first)) ?? []
    );
  }

  /** Whether any node has a tag. */
  get hasTags(): boolean {
    return this.#tags.size > 0;
  }

  /** The nodes with tags on all branches, in the order of appending. */
  get tagged(): readonly NodeId[] {
    return [...this.#tags.keys()].sort((a, b) => a - b).map(index => this.#table.idOf(index));
  }

  /** Adds a message after the active node and makes it the active one. */
  append(message: SessionMessage): TreeNode {
    const parentId = this.active;
    const id = this.nextId;
    this.#push(this.#table.add(id, this.#trunk.at(-1) ?? NONE), message);
    return { id, parentId, message };
  }

  /**
   * Adds a message from a log. If its parent is missing, it follows the active node.
   * @returns false, and adds nothing, if the id is not above all others, except to replace a message that cannot be parsed.
   */
  restore({ id, parentId, message }: StoredNode): boolean {
    // The same message again: its first line was torn, so it was written once more.
    if (id < this.nextId) return this.#bodies.replaceLost(this.#table.indexOf(id), message);
    if (parentId !== this.active && (parentId === null || this.has(parentId))) this.#moveTo(parentId);
    this.#push(this.#table.add(id, this.#trunk.at(-1) ?? NONE), message);
    return true;
  }

  /**
   * Carries out the record of a revert: its target becomes the active node and gets the tag. Does nothing if the revert
   * was refused.
   */
  apply({ applied, category, target, abandonedNodeIds, summary }: RevertRecord): void {
    if (!applied) return;
    const place = this.#placeOf(target, abandonedNodeIds);
    if (place === undefined) return;
    this.#moveTo(place);
    const index = this.#trunk.at(-1);
    this.#steeringAfter = category === null ? undefined : (this.active ?? undefined);
    if (category === null || index === undefined) return;
    const line = summaryLine(summary);
    let text: string | undefined;
    const readText = (): string => (text ??= tagText(line, this.#toolsIn(abandonedNodeIds)));
    const tag: NodeTag = {
      kind: tagKindOf(category),
      get text() {
        return readText();
      },
      summary: line,
      createdAtTurn: this.#turns,
      abandonedNodeIds,
    };
    const tags = this.#tags.get(index);
    if (tags) tags.push(tag);
    else this.#tags.set(index, [tag]);
  }

  /**
   * The nodes with the results of a message's calls, on any branch, by the ids of the calls. A result that is missing
   * here was never stored.
   */
  resultsOf(id: NodeId): ReadonlyMap<string, NodeId> {
    const found = new Map<string, NodeId>();
    const open = this.#table.childrenOf(this.#table.indexOf(id));
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const role = this.#bodies.roleOf(index);
      if (role !== 'tool' && role !== 'local') continue;
      const message = this.#bodies.get(index);
      if (message?.role === 'tool' && !found.has(message.toolCallId))
        found.set(message.toolCallId, this.#table.idOf(index));
      open.push(...this.#table.childrenOf(index));
    }
    return found;
  }

  /** Parses up to `count` more messages of the trunk. @returns how many are left. */
  #readTrunk(count: number): number {
    const end = Math.min(this.#trunk.length, this.#trunkMessages.length + count);
    for (let at = this.#trunkMessages.length; at < end; at++)
      this.#trunkMessages.push(this.#bodies.get(this.#trunk[at] ?? NONE) as SessionMessage);
    return this.#trunk.length - end;
  }

  #push(index: number, body: SessionMessage | StoredBody): void {
    this.#bodies.push(body);
    this.#trunk.push(index);
    if (body.role !== 'assistant') return;
    this.#turns++;
    if (this.#steeringAfter === undefined) return;
    const message = this.#bodies.get(index);
    if (message?.role !== 'assistant') return;
    if (message.stopReason !== 'error' && message.stopReason !== 'aborted') this.#steeringAfter = undefined;
  }

  /** The target or, if its line was lost, the parent of the first abandoned node. */
  #placeOf(target: NodeId | null, abandoned: readonly NodeId[]): NodeId | null | undefined {
    if (target === null || this.has(target)) return target;
    const first = abandoned.find(id => this.has(id));
    return first === undefined ? undefined : (this.get(first)?.parentId ?? null);
  }

  #moveTo(target: NodeId | null): void {
    const path = this.#pathTo(target);
    if (!path) return;
    this.#trunk.length = path.shared;
    this.#trunkMessages.length = Math.min(this.#trunkMessages.length, path.shared);
    for (const index of path.entered) this.#trunk.push(index);
  }

  /** The path to the target: how many nodes of the trunk it shares, and the nodes after those. */
  #pathTo(target: NodeId | null): { readonly shared: number; readonly entered: number[] } | undefined {
    if (target === null) return { shared: 0, entered: [] };
    let index = this.#table.indexOf(target);
    if (index === NONE) return undefined;
    const entered: number[] = [];
    while (index !== NONE && this.#trunk[this.#table.depthOf(index)] !== index) {
      entered.push(index);
      index = this.#table.parentOf(index);
    }
    return { shared: index === NONE ? 0 : this.#table.depthOf(index) + 1, entered: entered.reverse() };
  }

  #toolsIn(ids: readonly NodeId[]): string[] {
    const names = ids.flatMap(id => {
      const index = this.#table.indexOf(id);
      const message = this.#bodies.roleOf(index) === 'tool' ? this.#bodies.get(index) : undefined;
      return message?.role === 'tool' && message.toolName !== REVERT_TOOL ? [message.toolName] : [];
    });
    return [...new Set(names)];
  }

  #idOrNull(index: number): NodeId | null {
    return index === NONE ? null : this.#table.idOf(index);
  }
}
