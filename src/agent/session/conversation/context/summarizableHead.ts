import { tokensOf } from '../../model/contextWindow.ts';
import type { ConversationTree } from '../conversationTree.ts';
import type { NodeId } from '../nodeId.ts';
import type { Line } from '../validTrunk.ts';

/** The beginning of a conversation that a summary is to stand for. */
export interface Head {
  /** Its messages: the last summary, if there is one, and those after it. */
  readonly lines: readonly Line[];
  readonly through: NodeId;
}

/**
 * Divides the lines of a request into the head, which is to be summarized, and the tail, which is sent on. The tail begins
 * with a prompt or an answer, so that no result loses its call, and it has at least the last one of them.
 * @param lines the lines of `summarizedTrunk`.
 * @param keep the most tokens of the tail, unless its one answer has more.
 * @returns `undefined` if a summary would stand for nothing new.
 */
export function summarizableHead(
  tree: ConversationTree,
  lines: readonly Line[],
  keep: number,
): Head | undefined {
  let tokens = 0;
  let start = lines.length;
  for (let at = lines.length - 1; at >= 0; at--) {
    const { message } = lines[at] as Line;
    tokens += tokensOf(message);
    if (tokens > keep && start < lines.length) break;
    if (message.role === 'user' || message.role === 'assistant') start = at;
  }
  const head = lines.slice(0, start);
  const summaryAt = head.findLastIndex(
    ({ message }) => message.role === 'steering' && message.kind === 'summary',
  );
  const fresh = head.slice(summaryAt + 1);
  // Prompts alone are nothing new: a summary leaves them where they are.
  if (start === lines.length || fresh.every(({ message }) => message.role === 'user')) return undefined;
  const last = Math.max(...fresh.map(({ id }) => (id === null ? -1 : tree.positionOf(id))));
  const through = tree.idAt(last);
  return through === undefined ? undefined : { lines: head, through };
}
