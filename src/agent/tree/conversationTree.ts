import { TimeSlice } from '../base/timeSlice.ts';
import type { SessionMessage, SteeringMessage } from '../model/messages.ts';
import { Bodies, type StoredBody } from './bodies.ts';
import type { NodeId } from './nodeId.ts';
import { NodeTable } from './nodeTable.ts';
import { REVERT_TOOL, summaryLine, tagKindOf, tagText, type NodeTag, type RevertRecord } from './revert.ts';

/** A message in its place. */
export interface TreeNode {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly message: SessionMessage;
}

/** A node as a log has it: its message may be parsed later. */
export interface StoredNode extends Omit<TreeNode, 'message'> {
  readonly message: SessionMessage | StoredBody;
}

const NONE = -1;
/** Messages that are read before others may have a turn. */
const AT_ONCE = 100;

/**
 * Every message of a session. It only grows: what is left stays where it is, and the trunk, from the active node back to
 * the root, is what the next request is made of. Appending is O(1), moving O(distance), the trunk is kept.
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

  /** How many nodes there are, on all branches. */
  get size(): number {
    return this.#table.size;
  }

  /** The id of the next message. */
  get nextId(): NodeId {
    return this.#table.nextId;
  }

  /** The node that the next message follows; `null` before the first one. */
  get active(): NodeId | null {
    const last = this.#trunk.at(-1);
    return last === undefined ? null : this.#table.idOf(last);
  }

  /** The messages of the trunk, from the root. The tree's own list, which changes with it. */
  get messages(): readonly SessionMessage[] {
    this.#readTrunk(Infinity);
    return this.#trunkMessages;
  }

  /** Makes {@link messages} of what a log has of the trunk while others have their turn: reading it then takes no time. */
  async readAhead(): Promise<void> {
    const slice = new TimeSlice();
    for (let left = this.#readTrunk(AT_ONCE); left > 0; left = this.#readTrunk(AT_ONCE)) await slice.turn();
  }

  /** How many nodes the trunk has. */
  get length(): number {
    return this.#trunk.length;
  }

  /** Whose message stands at that position of the trunk. */
  roleAt(position: number): SessionMessage['role'] | undefined {
    return this.#bodies.roleOf(this.#trunk[position] ?? NONE);
  }

  /** Whose message a node is; `undefined` for an unknown id. */
  roleOf(id: NodeId): SessionMessage['role'] | undefined {
    return this.#bodies.roleOf(this.#table.indexOf(id));
  }

  /** Whether the trunk says nothing to a model. */
  get isSilent(): boolean {
    return this.#trunk.every(index => this.#bodies.roleOf(index) === 'local');
  }

  /** The position of the last message of that role on the trunk; -1 without any. */
  lastOf(role: SessionMessage['role']): number {
    return this.#trunk.findLastIndex(index => this.#bodies.roleOf(index) === role);
  }

  /** What the runtime said on the trunk. */
  get steering(): readonly SteeringMessage[] {
    return this.#trunk.flatMap(index => {
      if (this.#bodies.roleOf(index) !== 'steering') return [];
      const message = this.#bodies.get(index);
      return message?.role === 'steering' ? [message] : [];
    });
  }

  /** The ids of {@link messages}. */
  get trunk(): readonly NodeId[] {
    return this.#trunk.map(index => this.#table.idOf(index));
  }

  /** How many answers there were in the whole session, on all branches. */
  get turns(): number {
    return this.#turns;
  }

  /** The node from which the model is to go on: it was just gone back to, and no answer was made since. */
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

  /** The id of the trunk's node at that position in {@link messages}. */
  idAt(position: number): NodeId | undefined {
    const index = this.#trunk[position];
    return index === undefined ? undefined : this.#table.idOf(index);
  }

  /** The node's position in {@link messages}; -1 for one that is not on the trunk. */
  positionOf(id: NodeId): number {
    const index = this.#table.indexOf(id);
    if (index === NONE) return NONE;
    const depth = this.#table.depthOf(index);
    return this.#trunk[depth] === index ? depth : NONE;
  }

  isOnTrunk(id: NodeId): boolean {
    return this.positionOf(id) !== NONE;
  }

  /** In the order in which they were made; of `null` the first messages. */
  childrenOf(id: NodeId | null): NodeId[] {
    const index = id === null ? NONE : this.#table.indexOf(id);
    if (id !== null && index === NONE) return [];
    return this.#table.childrenOf(index).map(child => this.#table.idOf(child));
  }

  /** Where the branch ends that goes on from this node: the newest of each node's children, to the last. */
  tipOf(id: NodeId): NodeId {
    let index = this.#table.indexOf(id);
    for (let next = index; next !== NONE; next = this.#table.lastChildOf(index)) index = next;
    return index === NONE ? id : this.#table.idOf(index);
  }

  /** What stands on the trunk after a node of it, in order; after `null` all of it. */
  after(id: NodeId | null): NodeId[] {
    const position = id === null ? NONE : this.positionOf(id);
    if (id !== null && position === NONE) return [];
    return this.#trunk.slice(position + 1).map(index => this.#table.idOf(index));
  }

  /**
   * What would leave the trunk if the target became the active node: all that does not lead to it. `undefined` for an
   * unknown target.
   */
  leaving(target: NodeId | null): NodeId[] | undefined {
    const path = this.#pathTo(target);
    return path && this.#trunk.slice(path.shared).map(index => this.#table.idOf(index));
  }

  /** The tags of a node whose branches are still abandoned, in the order of their making. */
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

  /** Adds a message behind the active node, which it becomes. */
  append(message: SessionMessage): TreeNode {
    const parentId = this.active;
    const id = this.nextId;
    this.#push(this.#table.add(id, this.#trunk.at(-1) ?? NONE), message);
    return { id, parentId, message };
  }

  /**
   * Adds a message as a log has it. One whose parent could not be read follows what was said before it.
   * @returns false, and nothing is added, for an id that is not above all others and can be read.
   */
  restore({ id, parentId, message }: StoredNode): boolean {
    // Written once more, because writing it was cut off before.
    if (id < this.nextId) return this.#bodies.replaceLost(this.#table.indexOf(id), message);
    if (parentId !== this.active && (parentId === null || this.has(parentId))) this.#moveTo(parentId);
    this.#push(this.#table.add(id, this.#trunk.at(-1) ?? NONE), message);
    return true;
  }

  /**
   * Does what an applied record says: its target becomes the active node and is given the tag. Does nothing for one that
   * was not applied.
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
   * The results on the trunk or off it of the calls that a node made. One that is missing here was never stored.
   */
  resultsOf(id: NodeId): ReadonlySet<string> {
    const found = new Set<string>();
    const open = this.#table.childrenOf(this.#table.indexOf(id));
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const role = this.#bodies.roleOf(index);
      if (role !== 'tool' && role !== 'local') continue;
      const message = this.#bodies.get(index);
      if (message?.role === 'tool') found.add(message.toolCallId);
      open.push(...this.#table.childrenOf(index));
    }
    return found;
  }

  /** Reads so many more messages of the trunk; gives how many are left. */
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

  /** The target; where it could not be read, what stood before that which was abandoned. */
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

  /** How many nodes of the trunk stay on the way to the target, and what follows them. */
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
