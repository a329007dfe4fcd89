import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditTrail } from '../../../../src/agent/session/conversation/auditTrail.ts';
import { ConversationTree } from '../../../../src/agent/session/conversation/conversationTree.ts';
import {
  ledgerJsonLines,
  type ExportedAttempt,
} from '../../../../src/agent/session/conversation/ledgerExport.ts';
import { messageIdOf } from '../../../../src/agent/session/conversation/nodeId.ts';
import { ledgerEntry } from '../../../../src/agent/hold/preview/ledger.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { countTurns } from '../../../support/countTurns.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

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

/** A conversation of so many prompts with an answer each, as it is read from a log, and the messages that were parsed. */
function stored(prompts: number) {
  const known = { tree: new ConversationTree(), trail: new AuditTrail(), title: 'Long', messageId: '' };
  const parsed: number[] = [];
  for (let id = 0; id < 2 * prompts; id++) {
    const isPrompt = id % 2 === 0;
    if (id === prompts) known.trail.recordSettings(known.tree, { ...settings, model: 'gpt-y' });
    const message = isPrompt
      ? { role: 'user', text: `prompt ${id}` }
      : { role: 'assistant', text: '', toolCalls: [], stopReason: 'stop' };
    const read = (): never => {
      parsed.push(id);
      return message as never;
    };
    known.tree.restore({
      id,
      parentId: id === 0 ? null : id - 1,
      message: { role: isPrompt ? 'user' : 'assistant', read },
    });
  }
  return { known, parsed };
}

/** A store with a resolved preview of each of these nodes of conversation `s1`. */
async function resolvedAt(nodes: readonly number[]): Promise<PreviewStore> {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  for (const node of nodes) {
    const call = { messageId: messageIdOf(node), toolCallId: 'c1' };
    await resolveOne(
      store,
      store.stage(draft({ origin: { sessionId: 's1', call, asksModel: true } })).preview.id,
    );
  }
  return store;
}

test('of a long conversation only the prompts are parsed, and each node is looked at once', async t => {
  const { known, parsed } = stored(500);
  const store = await resolvedAt([997, 997, 999, 3, 501]);
  const looks = t.mock.method(known.tree, 'roleOf');
  const { attempts } = await exported(store, { s1: known });
  assert.deepEqual(
    attempts.map(({ conversation }) => [conversation?.prompt, conversation?.model]),
    [
      ['prompt 996', 'gpt-y'],
      ['prompt 996', 'gpt-y'],
      ['prompt 998', 'gpt-y'],
      ['prompt 2', undefined],
      ['prompt 500', 'gpt-y'],
    ],
  );
  assert.deepEqual(parsed, [996, 998, 2, 500]);
  assert.equal(looks.mock.callCount(), 1_000);
});

test('a call whose message is not in the conversation has no prompt', async () => {
  const { known } = stored(1);
  const { attempts } = await exported(await resolvedAt([7]), { s1: known });
  assert.deepEqual(attempts[0]?.conversation, {
    id: 's1',
    messageId: 'm7',
    toolCallId: 'c1',
    title: 'Long',
  });
});

test('other work runs while paths are walked and while lines are written', async t => {
  const { known } = stored(100);
  const oneCall = await resolvedAt([199]);
  const manyCalls = await resolvedAt(Array.from({ length: 200 }, () => 1));
  const turns = countTurns(t);
  await exported(oneCall, { s1: known });
  const walked = turns();
  assert.ok(walked > 50, `${walked} turns on the path`);
  await exported(manyCalls, {});
  assert.ok(turns() - walked > 50, `${turns() - walked} turns between the lines`);
});
