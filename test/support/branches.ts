import { nodeOfMessageId } from '../../src/agent/session/conversation/nodeId.ts';
import type { CallRef } from '../../src/agent/hold/preview/preview.ts';
import type { TestSession } from './testSession.ts';

type Tree = TestSession['session']['tree'];

/** The node of the answer that is being carried out: the last one on the trunk. */
export function currentAnswer(tree: Tree): number | undefined {
  return tree.trunk.findLast(id => tree.get(id)?.message.role === 'assistant');
}

/** The node of a call's result, found by looking at every node; `undefined` while there is none. */
export function resultNode(tree: Tree, answer: number, toolCallId: string): number | undefined {
  for (let id = answer + 1; id < tree.nextId; id++) {
    const node = tree.get(id);
    if (node?.message.role !== 'tool' || node.message.toolCallId !== toolCallId) continue;
    let above = node.parentId;
    while (above !== null && tree.get(above)?.message.role === 'tool')
      above = tree.get(above)?.parentId ?? null;
    if (above === answer) return id;
  }
  return undefined;
}

/** Where a call is in the open conversation: its result or, until it has one, its answer. */
export function nodeOfCall({ session }: TestSession, call: CallRef): number | undefined {
  const answer = call.sessionId === session.id ? nodeOfMessageId(call.messageId) : undefined;
  return answer === undefined ? undefined : (resultNode(session.tree, answer, call.toolCallId) ?? answer);
}
