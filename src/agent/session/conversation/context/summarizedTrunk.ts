import { beginningOf } from '../../../base/cutText.ts';
import { charsFor } from '../../model/contextWindow.ts';
import type { SessionMessage, SteeringMessage, UserMessage } from '../../model/messages.ts';
import type { ConversationTree } from '../conversationTree.ts';
import type { NodeId } from '../nodeId.ts';
import { validTrunk, type Line } from '../validTrunk.ts';

/** The part of the room that a prompt from before a summary may take. */
const PROMPT_SHARE = 1 / 8;

/** A summary on the trunk that is in force, and where it is. */
export interface SummaryInForce {
  readonly id: NodeId;
  readonly message: SteeringMessage;
  /** The last node that it stands for. */
  readonly through: NodeId;
}

/**
 * The newest summary on the trunk. It stands for the trunk from the root through its `through`, which is an ancestor of it:
 * a revert to before the summary therefore brings all of that back. `undefined` if there is none.
 */
export function summaryInForce(tree: ConversationTree): SummaryInForce | undefined {
  for (let at = tree.length - 1; at >= 0; at--) {
    if (tree.roleAt(at) !== 'steering') continue;
    const message = tree.messages[at];
    const id = tree.idAt(at);
    if (message?.role !== 'steering' || message.kind !== 'summary' || id === undefined) continue;
    const { through } = message;
    if (through !== undefined && tree.isOnTrunk(through)) return { id, message, through };
  }
  return undefined;
}

/**
 * The trunk as {@link validTrunk} gives it, with the newest summary in place of the messages it stands for. Two prompts from before
 * it stay: the first one, and the one that is being worked on. Their attachments are left out, and a very long text is cut. The
 * time it takes grows with the part after the summary, not with the conversation.
 * @param room for all messages, in tokens; a kept prompt gets an eighth of it.
 */
export function summarizedTrunk(tree: ConversationTree, room = Infinity): Line[] {
  const summary = summaryInForce(tree);
  if (!summary) return withoutSummaries(validTrunk(tree));
  const tail = linesAfter(tree, summary.through);
  const { first, last } = promptsOfHead(tree, summary);
  const current = tail.some(({ message }) => message.role === 'user') ? undefined : last;
  const kept = new Set([first, current].filter(line => line !== undefined));
  const max = charsFor(room * PROMPT_SHARE);
  return [
    ...[...kept].map(line => ({ ...line, message: shortPrompt(line.message as UserMessage, max) })),
    { id: summary.id, message: summary.message },
    ...tail,
  ];
}

/** The lines without summaries, and so with all messages that those stand for. */
export function withoutSummaries(lines: readonly Line[]): Line[] {
  return lines.filter(({ message }) => message.role !== 'steering' || message.kind !== 'summary');
}

/** The lines after this node. A line without a node belongs to the one before it. */
function linesAfter(tree: ConversationTree, through: NodeId): Line[] {
  const last = tree.positionOf(through);
  let from = last + 1;
  // Results are lines of the answer that made their calls.
  while (from > 0 && (tree.roleAt(from) === 'tool' || tree.roleAt(from) === 'local')) from--;
  const lines = withoutSummaries(validTrunk(tree, from));
  const first = lines.findIndex(({ id }) => id !== null && tree.positionOf(id) > last);
  return first < 0 ? [] : lines.slice(first);
}

/** The first and the last prompt of a head; the same line if it has only one. */
interface PromptsOfHead {
  readonly first?: Line;
  readonly last?: Line;
}

/** Cached by summary: the messages before a node never change. */
const promptsOfHeads = new WeakMap<SteeringMessage, PromptsOfHead>();

/** The first and the last prompt that a summary stands for. */
function promptsOfHead(tree: ConversationTree, { message, through }: SummaryInForce): PromptsOfHead {
  const known = promptsOfHeads.get(message);
  if (known) return known;
  const end = tree.positionOf(through);
  let from = 0;
  while (from <= end && tree.roleAt(from) !== 'user') from++;
  let to = end;
  while (to > from && tree.roleAt(to) !== 'user') to--;
  const first = from <= end ? lineAt(tree, from) : undefined;
  const found = first ? { first, last: to === from ? first : lineAt(tree, to) } : {};
  promptsOfHeads.set(message, found);
  return found;
}

function lineAt(tree: ConversationTree, position: number): Line {
  return { id: tree.idAt(position) ?? null, message: tree.messages[position] as SessionMessage };
}

function shortPrompt(message: UserMessage, max: number): UserMessage {
  const { text, attachments } = message;
  if (!attachments && text.length <= max) return message;
  const isCut = text.length > max;
  const { attachments: _, ...rest } = message;
  return {
    ...rest,
    text: isCut
      ? `${beginningOf(text, max)}\n[The other ${text.length - max} characters of this prompt are left out to save room.]`
      : text,
    ...(attachments && {
      attachments: attachments.map(attachment => ({ ...attachment, text: '', note: ATTACHMENT_LEFT_OUT })),
    }),
  };
}

/** Stands for the text of an attachment that is no longer sent. */
export const ATTACHMENT_LEFT_OUT = 'Its text is left out to save room. Call read_file if you need it.';
