import assert from 'node:assert/strict';
import { ConversationTree } from '../../src/agent/session/conversation/conversationTree.ts';
import type { NodeId } from '../../src/agent/session/conversation/nodeId.ts';
import { renderTrunk } from '../../src/agent/session/conversation/renderTrunk.ts';
import type { RevertRecord } from '../../src/agent/session/conversation/revert.ts';
import { validateRevert } from '../../src/agent/session/conversation/validateRevert.ts';
import type { RevertCategory, SessionMessage } from '../../src/agent/session/model/messages.ts';
import { historyViolations } from './scriptedProvider.ts';

/** Builds a tree step by step. Calls get the ids `c1`, `c2`, …, and their results contain them. */
export class TreeMaker {
  readonly tree = new ConversationTree();
  readonly records: RevertRecord[] = [];
  #calls = 0;

  user(text: string): NodeId {
    return this.#add({ role: 'user', text });
  }

  /** Adds an answer without calls. */
  says(text: string): NodeId {
    return this.#add({ role: 'assistant', text, toolCalls: [], stopReason: 'stop' });
  }

  steering(text: string): NodeId {
    return this.#add({ role: 'steering', kind: 'notice', text, previewIds: [] });
  }

  local(text: string): NodeId {
    return this.#add({ role: 'local', text, answer: '' });
  }

  /** Adds an answer that calls these tools, and the results. @returns their nodes. */
  calls(text: string, ...names: string[]): [answer: NodeId, ...results: NodeId[]] {
    const answer = this.asks(text, ...names);
    const message = this.tree.get(answer)?.message;
    assert.ok(message?.role === 'assistant');
    return [answer, ...message.toolCalls.map(({ id, name }) => this.result(id, name))];
  }

  /** Adds an answer that calls these tools, without results. */
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

  /** The model reverts, whether that is allowed or not. */
  revert(category: RevertCategory, target: NodeId, summary: string | null = null): RevertRecord {
    return this.#go({ category, target, summary, actor: 'model' });
  }

  /** The user goes to a node, with a category or without. */
  go(
    target: NodeId | null,
    category: RevertCategory | null = null,
    summary: string | null = null,
  ): RevertRecord {
    return this.#go({ category, target, summary, actor: 'human' });
  }

  /** The next request, each message as one text. It must be valid. */
  request(markers = false): string[] {
    const messages = renderTrunk(this.tree, { markers });
    assert.deepEqual(historyViolations(messages), []);
    return messages.map(said);
  }

  #go(request: Parameters<typeof validateRevert>[1]): RevertRecord {
    const record = validateRevert(this.tree, request);
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
