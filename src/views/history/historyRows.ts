import type { ConversationTree } from '../../agent/tree/conversationTree.ts';
import type { NodeId } from '../../agent/tree/nodeId.ts';
import type { NodeTag } from '../../agent/tree/revert.ts';

/**
 * One row of the drawn tree. A line of messages (the trunk, or one branch) is drawn flat, the newest first; what left it
 * is drawn below the message that it follows. So a conversation is as deep as its branches, not as its messages.
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
      /** Messages of its own line. */
      readonly length: number;
      /** What was kept of it, the newest last. */
      readonly tags: readonly NodeTag[];
    }
  /** A tag of a message whose branch is not there any more. */
  | { readonly kind: 'tag'; readonly node: NodeId; readonly at: number; readonly tag: NodeTag }
  /** Older rows of a line, so that thousands of them are made only when somebody looks. `node` is the line's first one. */
  | { readonly kind: 'earlier'; readonly node: NodeId | null; readonly from: number; readonly to: number };

/** Rows of one level from which on older ones are folded; twice as many are shown at most. */
export const PAGE = 250;

export type HistorySource = Pick<
  ConversationTree,
  'active' | 'size' | 'trunk' | 'get' | 'roleOf' | 'isOnTrunk' | 'childrenOf' | 'tagsOf'
>;

/** The rows below `row`, or the top ones. */
export function childrenOf(tree: HistorySource, row?: HistoryRow): readonly HistoryRow[] {
  switch (row?.kind) {
    case undefined:
      return tree.size === 0 ? [] : [...page(drawn(tree, tree.trunk), null), { kind: 'start' }];
    case 'start':
      return branches(tree, null, tree.trunk[0]);
    case 'message':
      return [...branches(tree, row.node, nextOf(tree, row.node)), ...loose(tree, row.node)];
    case 'branch':
      return page(drawn(tree, lineOf(tree, row.node)), row.node);
    case 'earlier': {
      const line = row.node === null ? tree.trunk : lineOf(tree, row.node);
      return drawn(tree, line).slice(row.from, row.to).map(messageRow).reverse();
    }
    case 'tag':
      return [];
  }
}

/** Names a row as long as it stands for the same thing. */
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

/** Branches and tags that a message, or the start, has below it. */
export function hangsOn(tree: HistorySource, node: NodeId | null): number {
  const next = node === null ? tree.trunk[0] : nextOf(tree, node);
  const left = tree.childrenOf(node).filter(child => child !== next).length;
  return node === null ? left : left + loose(tree, node).length;
}

/**
 * Where a person wants to be who goes back to a message: at it, and before it when it is a prompt of theirs, whose text is
 * then to be typed anew.
 */
export function placeOf(
  tree: HistorySource,
  node: NodeId,
): { readonly target: NodeId | null; readonly isPrompt: boolean } {
  const found = tree.get(node);
  const isPrompt = found?.message.role === 'user';
  return { target: isPrompt ? found.parentId : node, isPrompt };
}

/** The messages of a branch from its first one: at each fork it goes on where it was left last. */
function lineOf(tree: HistorySource, first: NodeId): NodeId[] {
  const line: NodeId[] = [];
  for (let node: NodeId | undefined = first; node !== undefined; node = tree.childrenOf(node).at(-1))
    line.push(node);
  return line;
}

function messageRow(node: NodeId): HistoryRow {
  return { kind: 'message', node };
}

/** The message behind this one on its own line. */
function nextOf(tree: HistorySource, node: NodeId): NodeId | undefined {
  const children = tree.childrenOf(node);
  if (!tree.isOnTrunk(node)) return children.at(-1);
  return children.find(child => tree.isOnTrunk(child));
}

function branches(tree: HistorySource, node: NodeId | null, next: NodeId | undefined): HistoryRow[] {
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
        length: drawn(tree, line).length,
        tags: tags.filter(({ abandonedNodeIds: [first] }) => first === child),
      };
    });
}

/** Tags that no branch below the message shows. */
function loose(tree: HistorySource, node: NodeId): HistoryRow[] {
  const next = nextOf(tree, node);
  const shown = new Set(tree.childrenOf(node).filter(child => child !== next));
  return tree.tagsOf(node).flatMap((tag, at): HistoryRow[] => {
    const [first] = tag.abandonedNodeIds;
    return first !== undefined && shown.has(first) ? [] : [{ kind: 'tag', node, at, tag }];
  });
}

/** What the runtime says to the model is left out, unless something hangs on it or one stands there. */
function drawn(tree: HistorySource, line: readonly NodeId[]): NodeId[] {
  const { active } = tree;
  return line.filter(node => {
    if (tree.roleOf(node) !== 'steering' || node === active) return true;
    const message = tree.get(node)?.message;
    if (message?.role === 'steering' && message.kind === 'notice') return true;
    return hangsOn(tree, node) > 0;
  });
}

/** The newest rows, and the older ones in folds of one page each. */
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
