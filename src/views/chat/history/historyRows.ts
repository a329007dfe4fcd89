import type { ConversationTree } from '../../../agent/session/conversation/conversationTree.ts';
import type { NodeId } from '../../../agent/session/conversation/nodeId.ts';
import type { NodeTag } from '../../../agent/session/conversation/revert.ts';

/**
 * One row of the History view. A line of messages (the trunk, or one branch) is listed by its prompts, newest first, with
 * the steps of the turn below each of them; a branch is nested below the row of the message that it starts from.
 * `node` is what a command on the row is about.
 */
export type HistoryRow = TurnRow | StepRow | StepsRow | StartRow | BranchRow | TagRow | EarlierRow;

/** A prompt and what followed it. */
export interface TurnRow {
  readonly kind: 'turn';
  /** The prompt. */
  readonly node: NodeId;
  /** The last message of the turn; the prompt itself if there is no other. */
  readonly end: NodeId;
}

/** An answer with the results of its calls, or another message. */
export interface StepRow {
  readonly kind: 'step';
  /** The last of its messages: to go back to the step is to go back to after it. */
  readonly node: NodeId;
  readonly nodes: readonly NodeId[];
}

/** Several steps in a row that only called tools, folded into one. */
export interface StepsRow {
  readonly kind: 'steps';
  /** The last message of the last step. */
  readonly node: NodeId;
  readonly steps: readonly StepRow[];
}

/** Before the first message. */
interface StartRow {
  readonly kind: 'start';
}

/** A branch that is not on the trunk; `node` is its first message, `tip` its last. */
export interface BranchRow {
  readonly kind: 'branch';
  readonly node: NodeId;
  readonly tip: NodeId;
  /** The number of visible messages on its own line. */
  readonly length: number;
  /** The tags that reverts left on it, newest last. */
  readonly tags: readonly NodeTag[];
}

/** A tag whose branch is not shown below the message. */
interface TagRow {
  readonly kind: 'tag';
  readonly node: NodeId;
  readonly at: number;
  readonly tag: NodeTag;
}

/** Older rows of the trunk, a branch, a turn or a group of steps, folded: they are only built when unfolded. */
export interface EarlierRow {
  readonly kind: 'earlier';
  readonly of: TurnRow | StepsRow | BranchRow | undefined;
  readonly from: number;
  readonly to: number;
}

/** How many rows a fold holds; a level shows fewer than twice as many before older rows are folded. */
export const PAGE = 250;

/** The rows below `row`, or the top ones. */
export function childrenOf(tree: ConversationTree, row?: HistoryRow): readonly HistoryRow[] {
  switch (row?.kind) {
    case undefined:
      return tree.size === 0 ? [] : [...page(entriesOf(tree, undefined), undefined), { kind: 'start' }];
    case 'start':
      return branchRows(tree, null);
    case 'turn':
      return [...attached(tree, row.node), ...page(entriesOf(tree, row), row)];
    case 'step':
      return row.nodes.flatMap(node => attached(tree, node)).reverse();
    case 'steps':
    case 'branch':
      return page(entriesOf(tree, row), row);
    case 'earlier':
      return entriesOf(tree, row.of).slice(row.from, row.to).reverse();
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
      return `earlier:${row.of ? keyOf(row.of) : 'trunk'}:${row.from}`;
    case 'turn':
    case 'branch':
      return `${row.kind}:${row.node}`;
    case 'step':
      return `step:${row.nodes[0] ?? row.node}`;
    case 'steps':
      return `steps:${row.steps[0]?.nodes[0] ?? row.node}`;
  }
}

/** The number of branches and tags below a message, or below the start. */
export function countAttached(tree: ConversationTree, node: NodeId | null): number {
  if (node !== null && !hasAttached(tree, node)) return 0;
  const next = nextOnLine(tree, node);
  const left = tree.childrenOf(node).filter(child => child !== next).length;
  return node === null ? left : left + looseTags(tree, node).length;
}

/** The number of branches and tags below a row, on whatever level. */
export function countBelow(tree: ConversationTree, row: TurnRow | StepRow | StepsRow): number {
  const count = (nodes: readonly NodeId[]): number =>
    nodes.reduce((sum, node) => sum + countAttached(tree, node), 0);
  if (row.kind === 'turn') return count([row.node, ...nodesOf(tree, row)]);
  return row.kind === 'step' ? count(row.nodes) : count(row.steps.flatMap(({ nodes }) => nodes));
}

/** Whether the conversation continues from the row: from the end of its turn, or of its last step. */
export function isCurrent(tree: ConversationTree, row: TurnRow | StepRow | StepsRow): boolean {
  return tree.active === (row.kind === 'turn' ? row.end : row.node);
}

/**
 * Where reverting to a message leads: to the message itself, or, for a prompt, to before it, so that the user can edit
 * the prompt and send it again.
 */
export function revertTargetOf(tree: ConversationTree, node: NodeId): NodeId | null {
  const found = tree.get(node);
  return found?.message.role === 'user' ? found.parentId : node;
}

/** The rows of a line, a turn or a group of steps, oldest first. */
function entriesOf(tree: ConversationTree, of: TurnRow | StepsRow | BranchRow | undefined): HistoryRow[] {
  switch (of?.kind) {
    case undefined:
      return turnsOf(tree, tree.trunk);
    case 'branch':
      return turnsOf(tree, lineOf(tree, of.node));
    case 'turn':
      return stepsOf(tree, nodesOf(tree, of));
    case 'steps':
      return [...of.steps];
  }
}

/** The turns of a line. What precedes its first prompt is listed by its steps, and so is a command between two turns. */
function turnsOf(tree: ConversationTree, line: readonly NodeId[]): HistoryRow[] {
  const first = line.findIndex(node => tree.roleOf(node) === 'user');
  const rows = stepsOf(tree, first < 0 ? line : line.slice(0, first));
  let turn: { readonly node: NodeId; end: NodeId } | undefined;
  // Commands after a message belong to its turn only if that goes on.
  let commands: NodeId[] = [];
  const end = (): void => {
    if (turn) rows.push({ kind: 'turn', ...turn });
    rows.push(...commands.map(node => stepRow([node])));
    commands = [];
  };
  for (const node of first < 0 ? [] : line.slice(first)) {
    const role = tree.roleOf(node);
    if (role === 'user') {
      end();
      turn = { node, end: node };
    } else if (role === 'local') commands.push(node);
    else if (turn) {
      turn.end = node;
      commands = [];
    }
  }
  end();
  return rows;
}

/** The messages of a turn after its prompt. */
function nodesOf(tree: ConversationTree, { node, end }: TurnRow): NodeId[] {
  const nodes: NodeId[] = [];
  const place = tree.positionOf(node);
  let next: NodeId | undefined = node;
  for (let at = place + 1; next !== end; at++) {
    next = place < 0 ? tree.newestChildOf(next) : tree.idAt(at);
    // The tree may have changed since the row was made.
    if (next === undefined || tree.roleOf(next) === 'user') break;
    nodes.push(next);
  }
  return nodes;
}

/** Messages by their steps: results belong to the answer before them, and steps that only called tools are folded. */
function stepsOf(tree: ConversationTree, line: readonly NodeId[]): HistoryRow[] {
  const steps: NodeId[][] = [];
  for (const node of visible(tree, line)) {
    const last = steps.at(-1);
    if (tree.roleOf(node) === 'tool' && last && isAnswering(tree, last[0])) last.push(node);
    else steps.push([node]);
  }
  const rows: HistoryRow[] = [];
  let run: StepRow[] = [];
  const end = (): void => {
    const last = run.at(-1);
    if (last && run.length > 1) rows.push({ kind: 'steps', node: last.node, steps: run });
    else rows.push(...run);
    run = [];
  };
  for (const step of steps.map(stepRow)) {
    if (onlyCalls(tree, step)) run.push(step);
    else {
      end();
      rows.push(step);
    }
  }
  end();
  return rows;
}

function stepRow(nodes: readonly NodeId[]): StepRow {
  return { kind: 'step', node: nodes.at(-1) ?? 0, nodes };
}

function isAnswering(tree: ConversationTree, node: NodeId | undefined): boolean {
  return node !== undefined && tree.roleOf(node) === 'assistant';
}

/** Whether a step consists of calls alone, and nothing is below it. */
function onlyCalls(tree: ConversationTree, { nodes }: StepRow): boolean {
  const [first] = nodes;
  const message = first === undefined || !isAnswering(tree, first) ? undefined : tree.get(first)?.message;
  return (
    message?.role === 'assistant' &&
    message.toolCalls.length > 0 &&
    message.text.trim() === '' &&
    !nodes.some(node => hasAttached(tree, node))
  );
}

/** The messages of a branch from its first one; at each fork it follows the newest child. */
function lineOf(tree: ConversationTree, first: NodeId): NodeId[] {
  const line: NodeId[] = [];
  for (let node: NodeId | undefined = first; node !== undefined; node = tree.newestChildOf(node))
    line.push(node);
  return line;
}

/** The message that follows on the same line; for `null` the first one of the trunk. */
function nextOnLine(tree: ConversationTree, node: NodeId | null): NodeId | undefined {
  if (node === null) return tree.idAt(0);
  const place = tree.positionOf(node);
  return place < 0 ? tree.newestChildOf(node) : tree.idAt(place + 1);
}

/** Whether a message may have branches or tags below it. */
function hasAttached(tree: ConversationTree, node: NodeId): boolean {
  if (tree.isFork(node) || tree.tagsOf(node).length > 0) return true;
  return node === tree.active && tree.newestChildOf(node) !== undefined;
}

function attached(tree: ConversationTree, node: NodeId): HistoryRow[] {
  return hasAttached(tree, node) ? [...branchRows(tree, node), ...looseTags(tree, node)] : [];
}

function branchRows(tree: ConversationTree, node: NodeId | null): HistoryRow[] {
  const tags = node === null ? [] : tree.tagsOf(node);
  const next = nextOnLine(tree, node);
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
function looseTags(tree: ConversationTree, node: NodeId): HistoryRow[] {
  const next = nextOnLine(tree, node);
  const shown = new Set(tree.childrenOf(node).filter(child => child !== next));
  return tree.tagsOf(node).flatMap((tag, at): HistoryRow[] => {
    const [first] = tag.abandonedNodeIds;
    return first !== undefined && shown.has(first) ? [] : [{ kind: 'tag', node, at, tag }];
  });
}

/** Leaves out steering messages, except notices, summaries, the current message, and those with something below them. */
function visible(tree: ConversationTree, line: readonly NodeId[]): NodeId[] {
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
function page(entries: readonly HistoryRow[], of: EarlierRow['of']): HistoryRow[] {
  const folds = Math.max(0, Math.floor(entries.length / PAGE) - 1);
  const rows = entries.slice(folds * PAGE).reverse();
  for (let fold = folds - 1; fold >= 0; fold--)
    rows.push({ kind: 'earlier', of, from: fold * PAGE, to: (fold + 1) * PAGE });
  return rows;
}
