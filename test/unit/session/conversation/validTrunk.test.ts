import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ConversationTree } from '../../../../src/agent/session/conversation/conversationTree.ts';
import { messagesAfterInterruption } from '../../../../src/agent/session/conversation/validTrunk.ts';
import type { SessionMessage } from '../../../../src/agent/session/model/messages.ts';
import { historyViolations } from '../../../support/scriptedProvider.ts';

const user: SessionMessage = { role: 'user', text: 'q' };
const calling = (...ids: string[]): SessionMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: ids.map(id => ({ id, name: 'read_file', arguments: '{}' })),
  stopReason: 'toolCalls',
});
const result = (toolCallId: string): SessionMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'read_file',
  content: 'ok',
  isError: false,
});

const treeOf = (...messages: SessionMessage[]): ConversationTree => {
  const tree = new ConversationTree();
  for (const message of messages) tree.append(message);
  return tree;
};

test('a complete conversation needs nothing', () => {
  assert.deepEqual(messagesAfterInterruption(treeOf(), { wasRunning: false }), []);
  assert.deepEqual(
    messagesAfterInterruption(treeOf(user, calling('1'), result('1')), { wasRunning: false }),
    [],
  );
});

test('calls without a result get an error that says that it is not known', () => {
  const messages = [user, calling('1', '2', '3'), result('2')];
  const added = messagesAfterInterruption(treeOf(...messages), { wasRunning: false });
  assert.deepEqual(
    added.map(message => (message.role === 'tool' ? [message.toolCallId, message.isError] : message)),
    [
      ['1', true],
      ['3', true],
    ],
  );
  assert.deepEqual(historyViolations([...messages, ...added]), []);
});

test('an interrupted turn is reported after the results', () => {
  const added = messagesAfterInterruption(treeOf(user, calling('1')), { wasRunning: true });
  assert.deepEqual(
    added.map(({ role }) => role),
    ['tool', 'steering'],
  );
});

test('a call whose result left the trunk does not get another one', () => {
  const tree = treeOf(user, calling('1', '2'), result('1'), result('2'));
  tree.apply({
    category: null,
    target: 2,
    abandonedNodeIds: [3],
    summary: null,
    applied: true,
    reason: null,
    timestamp: '',
    actor: 'human',
  });
  assert.deepEqual(messagesAfterInterruption(tree, { wasRunning: false }), []);
});
