import assert from 'node:assert/strict';
import type { SessionMessage } from '../../src/agent/model/messages.ts';
import { ConversationTree } from '../../src/agent/tree/conversationTree.ts';
import { judgeRevert } from '../../src/agent/tree/judgeRevert.ts';
import type { NodeId } from '../../src/agent/tree/nodeId.ts';
import { renderTrunk } from '../../src/agent/tree/renderTrunk.ts';
import type { RevertCategory } from '../../src/agent/model/revertCategories.ts';
import type { RevertRecord } from '../../src/agent/tree/revert.ts';
import { historyViolations } from './scriptedProvider.ts';

/** A tree that is grown by hand. Calls get ids `c1`, `c2`, …, and results that say so. */
export class TreeMaker {
  readonly tree = new ConversationTree();
  readonly records: RevertRecord[] = [];
  #calls = 0;

  user(text: string): NodeId {
    return this.#add({ role: 'user', text });
  }

  /** An answer without calls. */
  says(text: string): NodeId {
    return this.#add({ role: 'assistant', text, toolCalls: [], stopReason: 'stop' });
  }

  steering(text: string): NodeId {
    return this.#add({ role: 'steering', kind: 'notice', text, previewIds: [] });
  }

  local(text: string): NodeId {
    return this.#add({ role: 'local', text, answer: '' });
  }

  /** An answer that calls these tools, and the results; their nodes. */
  calls(text: string, ...names: string[]): [answer: NodeId, ...results: NodeId[]] {
    const answer = this.asks(text, ...names);
    const message = this.tree.get(answer)?.message;
    assert.ok(message?.role === 'assistant');
    return [answer, ...message.toolCalls.map(({ id, name }) => this.result(id, name))];
  }

  /** An answer that calls these tools, without results. */
  asks(text: string, ...names: string[]): NodeId {
    const toolCalls = names.map(name => ({ id: `c${++this.#calls}`, name, arguments: '{}' }));
    return this.#add({ role: 'assistant', text, toolCalls, stopReason: 'toolCalls' });
  }

  result(toolCallId: string, toolName: string): NodeId {
    return this.#add({
      role: 'tool',
      toolCallId,
      toolName,
      content: `result of ${toolCallId}`,
      isError: false,
    });
  }

  /** The model goes back, by rights or not. */
  revert(category: RevertCategory, target: NodeId, summary: string | null = null): RevertRecord {
    return this.#go({ category, target, summary, actor: 'model' });
  }

  /** A person goes somewhere, with a category or just so. */
  go(
    target: NodeId | null,
    category: RevertCategory | null = null,
    summary: string | null = null,
  ): RevertRecord {
    return this.#go({ category, target, summary, actor: 'human' });
  }

  /** What the next request says, each message as one text; the request must be valid. */
  request(markers = false): string[] {
    const messages = renderTrunk(this.tree, { markers });
    assert.deepEqual(historyViolations(messages), []);
    return messages.map(said);
  }

  #go(request: Parameters<typeof judgeRevert>[1]): RevertRecord {
    const record = judgeRevert(this.tree, request);
    this.records.push(record);
    this.tree.apply(record);
    return record;
  }

  #add(message: SessionMessage): NodeId {
    return this.tree.append(message).id;
  }
}

function said(message: SessionMessage): string {
  switch (message.role) {
    case 'tool':
      return `${message.toolCallId}: ${message.content}`;
    case 'assistant':
      return [message.text, ...message.toolCalls.map(call => `<${call.id}>`)].filter(Boolean).join(' ');
    case 'user':
    case 'steering':
    case 'local':
      return message.text;
  }
}
