import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditTrail } from '../../../src/agent/conversation/auditTrail.ts';
import { ConversationTree } from '../../../src/agent/conversation/conversationTree.ts';
import { ledgerJsonLines, type ExportedAttempt } from '../../../src/agent/conversation/ledgerExport.ts';
import { messageIdOf } from '../../../src/agent/conversation/nodeId.ts';
import { ledgerEntry } from '../../../src/agent/preview/ledger.ts';
import { PreviewStore } from '../../../src/agent/preview/previewStore.ts';
import { draft } from '../../support/drafts.ts';
import { MemoryPreviewLog } from '../../support/testSession.ts';

const settings = {
  model: 'gpt-x',
  modelAuthority: 'recommend',
  forcing: 'forced',
  order: 'newestFirst',
  revertEnabled: false,
} as const;

function conversation() {
  const tree = new ConversationTree();
  const trail = new AuditTrail();
  trail.recordSettings(tree, settings);
  tree.append({ role: 'user', text: 'Make "it"\nround' });
  const toolCalls = [{ id: 'c1', name: 'edit_file', arguments: '{}' }];
  const { id } = tree.append({ role: 'assistant', text: '', toolCalls, stopReason: 'toolCalls' } as never);
  return { tree, trail, title: 'Cart', messageId: messageIdOf(id) };
}

async function exported(
  store: PreviewStore,
  known: Readonly<Record<string, ReturnType<typeof conversation>>>,
): Promise<{ readonly attempts: readonly ExportedAttempt[]; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const text = await ledgerJsonLines(store, async id => {
    asked.push(id);
    return known[id];
  });
  assert.ok(text === '' || text.endsWith('\n'));
  const lines = text.split('\n').slice(0, -1);
  return { attempts: lines.map(line => JSON.parse(line) as ExportedAttempt), asked };
}

async function resolveOne(store: PreviewStore, id: string, call?: object): Promise<void> {
  const preview = store.get(id) ?? assert.fail();
  const vote = { action: 'apply', actor: 'human', reason: 'ok', ...(call ? { call } : {}) } as never;
  store.beginResolving(id, 'apply', 'human');
  await store.endResolving([ledgerEntry(preview, vote, 'applied', 'Applied.')], [preview]);
}

test('each attempt is a line with who, what, why, files with hashes, conversation, prompt and model', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const known = conversation();
  const call = { messageId: known.messageId, toolCallId: 'c1' };
  const agent = { name: 'Codex', version: '1' };
  for (const origin of [
    { sessionId: 's1', call, asksModel: true },
    { sessionId: 's1', asksModel: true },
    { sessionId: 'mcp-1', agent, asksModel: true },
    null,
  ])
    await resolveOne(store, store.stage(draft({ title: 'Runden', origin })).preview.id);

  const { attempts, asked } = await exported(store, { s1: known });
  assert.deepEqual(asked, ['s1', 'mcp-1']);
  const [entry] = store.ledger();
  assert.deepEqual(attempts[0], {
    ...entry,
    title: 'Runden',
    stagedAt: '2026-01-01T00:00:00.000Z',
    revision: 1,
    conversation: { id: 's1', ...call, title: 'Cart', prompt: 'Make "it"\nround', model: 'gpt-x' },
  });
  assert.deepEqual(
    attempts.map(attempt => attempt.conversation),
    [attempts[0]?.conversation, { id: 's1', title: 'Cart' }, { id: 'mcp-1' }, undefined],
  );
  assert.deepEqual(attempts[2]?.agent, agent);
});

test('what is forgotten keeps its line, with the conversation in which the model resolved it', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  await resolveOne(store, store.stage(draft()).preview.id, {
    sessionId: 's2',
    messageId: 'm9',
    toolCallId: 'c',
  });
  await store.forgetResolved(new Date(Date.now() + 1_000));
  const { attempts } = await exported(store, {});
  assert.deepEqual(attempts, [{ ...store.ledger()[0], conversation: { id: 's2' } }]);
});

test('an empty ledger is an empty text', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  assert.deepEqual(await exported(store, {}), { attempts: [], asked: [] });
});
