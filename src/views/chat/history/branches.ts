import type { ConversationTree } from '../../../agent/session/conversation/conversationTree.ts';
import type { NodeId } from '../../../agent/session/conversation/nodeId.ts';
import type { NodeTag } from '../../../agent/session/conversation/revert.ts';

/** A line of messages that the conversation has left; at each fork it follows the newest answer. */
export interface Branch {
  /** Its first message that is on no other line. */
  readonly node: NodeId;
  /** Its last message: where the conversation goes on if a person switches to the branch. */
  readonly tip: NodeId;
  /** How many messages are on its own line; notes for the model do not count. */
  readonly length: number;
  /** Its last prompt, else its first message. */
  readonly titled: NodeId;
  /** The tags that reverts left on it, newest last. */
  readonly tags: readonly NodeTag[];
}

/** The branches of a conversation, newest first. After a revert, the continuation from the current message counts as one. */
export function branchesOf(tree: ConversationTree): readonly Branch[] {
  const found: Branch[] = [];
  const lines: (readonly (NodeId | null)[])[] = [[null, ...tree.trunk]];
  for (let line = lines.pop(); line; line = lines.pop())
    for (const [at, node] of line.entries()) {
      // Any other node has at most one child, the next on the line.
      if (node !== null && node !== tree.active && !tree.isFork(node)) continue;
      for (const child of tree.childrenOf(node)) {
        if (child === line[at + 1]) continue;
        const own = lineFrom(tree, child);
        found.push(branchOf(tree, node, own));
        lines.push(own);
      }
    }
  return found.sort((a, b) => b.tip - a.tip);
}

/**
 * Target of reverting to a message: the message itself or, for a prompt, the point before it, so that the user can edit
 * the prompt and send it again.
 */
export function revertTargetOf(tree: ConversationTree, node: NodeId): NodeId | null {
  const found = tree.get(node);
  return found?.message.role === 'user' ? found.parentId : node;
}

function lineFrom(tree: ConversationTree, first: NodeId): NodeId[] {
  const line: NodeId[] = [];
  for (let node: NodeId | undefined = first; node !== undefined; node = tree.newestChildOf(node))
    line.push(node);
  return line;
}

function branchOf(tree: ConversationTree, from: NodeId | null, line: readonly NodeId[]): Branch {
  const [first = 0] = line;
  const shown = line.filter(node => tree.roleOf(node) !== 'steering');
  return {
    node: first,
    tip: line.at(-1) ?? first,
    length: shown.length,
    titled: shown.findLast(node => tree.roleOf(node) === 'user') ?? shown[0] ?? first,
    tags: from === null ? [] : tree.tagsOf(from).filter(({ abandonedNodeIds: [node] }) => node === first),
  };
}
