import type { ConversationTree } from '../../agent/conversation/conversationTree.ts';
import type { NodeId } from '../../agent/conversation/nodeId.ts';
import type { NodeTag } from '../../agent/conversation/revert.ts';

/**
 * One row of the History view. A line of messages (the trunk, or one branch) is listed flat, newest first; a branch is
 * nested below the message that it starts from. So the tree is as deep as its branches, not as its messages.
 */
export type HistoryRow =
  | { readonly kind: 'message'; readonly node: NodeId }
  /** Before the first message. */
  | { readonly kind: 'start' }
  /** A branch that is not on the trunk; `node` is its first message, `tip` its last. */
  | {
      readonly kind: 'branch';
      readonly node: NodeId;
      readonly tip: NodeId;
      /** The number of visible messages on its own line. */
      readonly length: number;
      /** The tags that reverts left on it, newest last. */
      readonly tags: readonly NodeTag[];
    }
  /** A tag whose branch is not shown below the message. */
  | { readonly kind: 'tag'; readonly node: NodeId; readonly at: number; readonly tag: NodeTag }
  /** Older rows of a line, folded: they are only built when unfolded. `node` is the line's first message. */
  | { readonly kind: 'earlier'; readonly node: NodeId | null; readonly from: number; readonly to: number };

/** How many rows a fold holds; a level shows fewer than twice as many before older rows are folded. */
export const PAGE = 250;

export type HistorySource = Pick<
  ConversationTree,
  'active' | 'size' | 'trunk' | 'get' | 'roleOf' | 'isOnTrunk' | 'childrenOf' | 'tagsOf'
>;

/** The rows below `row`, or the top ones. */
export function childrenOf(tree: HistorySource, row?: HistoryRow): readonly HistoryRow[] {
  switch (row?.kind) {
    case undefined:
      return tree.size === 0 ? [] : [...page(visible(tree, tree.trunk), null), { kind: 'start' }];
    case 'start':
      return branchRows(tree, null, tree.trunk[0]);
    case 'message':
      return [...branchRows(tree, row.node, nextOnLine(tree, row.node)), ...looseTags(tree, row.node)];
    case 'branch':
      return page(visible(tree, lineOf(tree, row.node)), row.node);
    case 'earlier': {
      const line = row.node === null ? tree.trunk : lineOf(tree, row.node);
      return visible(tree, line).slice(row.from, row.to).map(messageRow).reverse();
    }
    case 'tag':
      return [];
  }
}

/** A row's key, which stays the same while the row stands for the same thing. */
export function keyOf(row: HistoryRow): string {
  switch (row.kind) {
    case 'start':
      return 'start';
    case 'tag':
      return `tag:${row.node}:${row.at}`;
    case 'earlier':
      return `earlier:${row.node ?? 'trunk'}:${row.from}`;
    case 'message':
    case 'branch':
      return `${row.kind}:${row.node}`;
  }
}

/** The number of branches and tags below a message, or below the start. */
export function countAttached(tree: HistorySource, node: NodeId | null): number {
  const next = node === null ? tree.trunk[0] : nextOnLine(tree, node);
  const left = tree.childrenOf(node).filter(child => child !== next).length;
  return node === null ? left : left + looseTags(tree, node).length;
}

/**
 * Where reverting to a message leads: to the message itself, or, for a prompt, to before it, so that the user can edit
 * the prompt and send it again.
 */
export function revertTargetOf(
  tree: HistorySource,
  node: NodeId,
): { readonly target: NodeId | null; readonly isPrompt: boolean } {
  const found = tree.get(node);
  const isPrompt = found?.message.role === 'user';
  return { target: isPrompt ? found.parentId : node, isPrompt };
}

/** The messages of a branch from its first one; at each fork it follows the newest child. */
function lineOf(tree: HistorySource, first: NodeId): NodeId[] {
  const line: NodeId[] = [];
  for (let node: NodeId | undefined = first; node !== undefined; node = tree.childrenOf(node).at(-1))
    line.push(node);
  return line;
}

function messageRow(node: NodeId): HistoryRow {
  return { kind: 'message', node };
}

/** The message that follows on the same line. */
function nextOnLine(tree: HistorySource, node: NodeId): NodeId | undefined {
  const children = tree.childrenOf(node);
  if (!tree.isOnTrunk(node)) return children.at(-1);
  return children.find(child => tree.isOnTrunk(child));
}

function branchRows(tree: HistorySource, node: NodeId | null, next: NodeId | undefined): HistoryRow[] {
  const tags = node === null ? [] : tree.tagsOf(node);
  return tree
    .childrenOf(node)
    .filter(child => child !== next)
    .reverse()
    .map(child => {
      const line = lineOf(tree, child);
      return {
        kind: 'branch',
        node: child,
        tip: line.at(-1) ?? child,
        length: visible(tree, line).length,
        tags: tags.filter(({ abandonedNodeIds: [first] }) => first === child),
      };
    });
}

/** The tags that no branch below the message shows. */
function looseTags(tree: HistorySource, node: NodeId): HistoryRow[] {
  const next = nextOnLine(tree, node);
  const shown = new Set(tree.childrenOf(node).filter(child => child !== next));
  return tree.tagsOf(node).flatMap((tag, at): HistoryRow[] => {
    const [first] = tag.abandonedNodeIds;
    return first !== undefined && shown.has(first) ? [] : [{ kind: 'tag', node, at, tag }];
  });
}

/** Leaves out steering messages, except notices, summaries, the current message, and those with something below them. */
function visible(tree: HistorySource, line: readonly NodeId[]): NodeId[] {
  const { active } = tree;
  return line.filter(node => {
    if (tree.roleOf(node) !== 'steering' || node === active) return true;
    const message = tree.get(node)?.message;
    if (message?.role === 'steering' && (message.kind === 'notice' || message.kind === 'summary'))
      return true;
    return countAttached(tree, node) > 0;
  });
}

/** The newest rows, followed by folds of one page each with the older ones. */
function page(nodes: readonly NodeId[], line: NodeId | null): HistoryRow[] {
  const folds = Math.max(0, Math.floor(nodes.length / PAGE) - 1);
  const rows = nodes
    .slice(folds * PAGE)
    .map(messageRow)
    .reverse();
  for (let fold = folds - 1; fold >= 0; fold--)
    rows.push({ kind: 'earlier', node: line, from: fold * PAGE, to: (fold + 1) * PAGE });
  return rows;
}
