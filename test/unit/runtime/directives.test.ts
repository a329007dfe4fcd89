import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import { textResult, type AgentToolResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import type { Forcing } from '../../../src/agent/hold/preview/resolveSettings.ts';
import { modify } from '../../support/changes.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const done = (): Promise<AgentToolResult> => Promise.resolve(textResult('done'));
const write = (path: string, content = 'new'): ScriptedTurn => ({
  toolCalls: [{ name: 'write_file', arguments: { path, content } }],
});
const vote = (action: 'apply' | 'discard', id?: string): ScriptedTurn => ({
  toolCalls: [{ name: 'resolve', arguments: { action, reason: 'r', ...(id ? { id } : {}) } }],
});
const ok: ScriptedTurn = { text: 'ok' };

/** A server that accepts every choice, whatever the model does. */
const patient = { get: () => 'named' as const, set: () => undefined };
const isForced = ({ toolChoice }: ChatRequest): boolean => toolChoice !== undefined;
const forced = (t: TestSession): string =>
  t.requests.map(request => (isForced(request) ? 'F' : '-')).join('');
const texts = (t: TestSession, kind: string): string[] =>
  t.steering().flatMap(message => (message.kind === kind ? [message.text] : []));

test('while the user applies, the directive is removed: a request in between is not forced', async () => {
  const gate = new Gate();
  const t = createTestSession({ script: [ok, vote('apply'), ok] });
  t.stage({
    label: 'Slow',
    apply: async () => {
      await gate.pass();
      throw new Error('no luck');
    },
  });
  const click = t.click('p1', 'apply');
  await gate.reached;
  await t.session.prompt('Hello.');
  assert.equal(forced(t), '-');
  gate.open();
  await assert.rejects(click, /^ToolError: Apply failed: no luck$/);
  await t.session.prompt('Now?');
  assert.equal(forced(t).slice(0, 2), '-F', 'it failed, so the directive is there again');
});

test('a failed discard by the user restores the directive as well', async () => {
  const t = createTestSession({ script: [vote('apply'), ok] });
  t.stage({ label: 'Sticky', apply: done, reject: () => Promise.reject(new Error('stuck')) });
  await assert.rejects(t.click('p1', 'discard'), /^Error: stuck$/);
  await t.session.prompt('Hello.');
  assert.equal(forced(t), 'F-');
});

for (const forcing of ['forced', 'always'] as const satisfies readonly Forcing[]) {
  test(`${forcing}: an answer counts even if the discard fails: the model is not asked in circles`, async () => {
    const t = createTestSession({
      ladderMemory: patient,
      settings: { forcing },
      script: (_request, n) => (n < 2 ? vote('discard') : ok),
    });
    t.stage({ label: 'Sticky', apply: done, reject: () => Promise.reject(new Error('stuck')) });
    await t.session.prompt('Hello.');
    assert.equal(t.requests.length, 3);
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    assert.equal(t.session.state, 'awaitingReview');
    assert.ok(forced(t).endsWith('-'));
  });
}

test('the notice that a preview is left to the user is in the conversation although no request follows', async () => {
  const t = createTestSession({ files, ladderMemory: patient, script: [write('a.txt'), ok, ok, ok] });
  await t.session.prompt('Write.');
  assert.equal(forced(t), '-FFF');
  assert.deepEqual(t.session.messages.at(-1), {
    role: 'steering',
    kind: 'notice',
    text: 'p1 (Rewrite a.txt) was not resolved when asked for. It is now left to the user.',
    previewIds: ['p1'],
  });
  assert.ok(
    t.events.some(event => event.type === 'message_end' && event.message === t.session.messages.at(-1)),
    'and is shown to the user',
  );
});

test('the bound is per preview: the second is asked for after the first was left to the user', async () => {
  const t = createTestSession({
    files,
    ladderMemory: patient,
    script: [
      {
        toolCalls: [
          ...(write('a.txt') as { toolCalls: [] }).toolCalls,
          { name: 'write_file', arguments: { path: 'b.txt', content: 'new' } },
        ],
      },
      ...Array.from({ length: 6 }, () => ok),
    ],
  });
  await t.session.prompt('Write both.');
  assert.equal(forced(t), '-FFFFFF');
  assert.deepEqual(
    t
      .steering()
      .filter(({ kind }) => kind === 'notice')
      .map(({ previewIds }) => previewIds),
    [['p2'], ['p1']],
  );
  assert.equal(t.session.state, 'awaitingReview');
});

test('an apply that failed three times is left to the user, and that is given as the reason', async () => {
  const t = createTestSession({ script: [vote('apply'), vote('apply'), vote('apply'), ok] });
  t.stage({ label: 'Broken', apply: () => Promise.reject(new Error('broken')) });
  await t.session.prompt('Do it.');
  assert.equal(forced(t), 'FFF-');
  assert.equal(texts(t, 'resolve-reminder').length, 3);
  assert.deepEqual(texts(t, 'notice'), ['p1 (Broken) failed to apply 3 times. It is now left to the user.']);
});

test('a model that answered without a call is reminded with the next request: none ends with its own message', async () => {
  const t = createTestSession({
    files,
    ladderMemory: patient,
    script: [write('a.txt'), ok, ok, vote('apply'), ok],
  });
  await t.session.prompt('Write.');
  assert.equal(forced(t), '-FFF-');
  for (const { messages } of t.requests) assert.notEqual(messages.at(-1)?.role, 'assistant');
});

for (const forcing of ['forced', 'always'] as const satisfies readonly Forcing[]) {
  test(`${forcing}: a vote on what was moved before its first request counts`, async () => {
    const t = createTestSession({
      files,
      ladderMemory: patient,
      settings: { forcing },
      script: [write('a.txt'), vote('apply'), ok],
    });
    let isRevised = false;
    t.session.onDidEmit(({ type }) => {
      if (type !== 'tool_end' || isRevised) return;
      isRevised = true;
      t.workspace.put('a.txt', 'top\na');
      void t.store.rebase('p1', [modify('a.txt', 'top\na', 'top\nnew')], []);
    });
    await t.session.prompt('Write.');
    assert.equal(forced(t), '-F-');
    assert.equal(t.workspace.text('a.txt'), 'top\nnew');
  });

  test(`${forcing}: a vote on a diff that was not shown is answered with it, and asked for again`, async () => {
    const t = createTestSession({
      files,
      ladderMemory: patient,
      settings: { forcing },
      script: [vote('apply'), vote('apply'), ok],
    });
    t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
    await t.session.prompt('Go.');
    assert.equal(forced(t), 'FF-');
    assert.match(t.results()[0]?.content ?? '', /^Your vote on .* since you have not been shown .*\n[^]*\+A/);
    assert.equal(t.workspace.text('a.txt'), 'A');
  });
}

test('a dependent preview is not forced before the one beneath it is applied', async () => {
  const t = createTestSession({
    files,
    script: [write('a.txt', 'b'), write('a.txt', 'c'), vote('apply'), vote('apply'), ok],
    settings: { order: 'newestFirst', forcing: 'off' },
  });
  let at = 0;
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end' && ++at === 1) t.settings.forcing = 'forced';
  });
  await t.session.prompt('Write twice.');
  assert.deepEqual(t.store.get('p2')?.dependsOn, ['p1']);
  assert.equal(forced(t)[2], '-', 'p1 is not asked for by force, and p2 waits for it');
});

test('stacked previews are forced from the bottom up, in either order of the setting', async () => {
  for (const order of ['newestFirst', 'oldestFirst'] as const) {
    const both = [...Array<unknown>(2)].map((_, n) => ({
      name: 'write_file',
      arguments: { path: 'a.txt', content: `${n}` },
    }));
    const t = createTestSession({
      files,
      settings: { order },
      script: [{ toolCalls: both }, vote('apply'), vote('apply'), ok],
    });
    await t.session.prompt('Write twice.');
    assert.equal(forced(t), '-FF-');
    assert.deepEqual(
      t.store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
      ['p1 applied', 'p2 applied'],
    );
    assert.equal(t.workspace.text('a.txt'), '1');
  }
});

for (const [forcing, requests] of [
  ['forced', '-FFF-'],
  ['always', '-FFF-'],
] as const)
  test(`${forcing}: a vote that is refused because the preview beneath is pending is no answer: it is asked for once that is applied`, async () => {
    const both = ['b', 'c'].map(content => ({ name: 'write_file', arguments: { path: 'a.txt', content } }));
    const t = createTestSession({
      files,
      settings: { forcing },
      ladderMemory: patient,
      script: [{ toolCalls: both }, vote('apply', 'p2'), vote('apply', 'p1'), vote('apply'), ok],
    });
    await t.session.prompt('Write twice.');
    assert.match(
      t.results()[2]?.content ?? '',
      /^p2 was not applied, since it builds on previews that are still pending: p1\./,
    );
    assert.equal(forced(t), requests);
    assert.equal(t.workspace.text('a.txt'), 'c');
    assert.deepEqual(texts(t, 'notice'), []);
    t.assertSound();
  });

test('in Review a recommendation for a preview that waits for another one is its answer', async () => {
  const both = ['b', 'c'].map(content => ({ name: 'write_file', arguments: { path: 'a.txt', content } }));
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    script: [
      { toolCalls: both },
      {
        toolCalls: ['p1', 'p2'].map(id => ({
          name: 'resolve',
          arguments: { action: 'apply', reason: 'r', id },
        })),
      },
      ok,
      ok,
    ],
  });
  await t.session.prompt('Write twice.');
  await t.click('p1', 'apply');
  await t.session.prompt('And now?');
  assert.equal(forced(t), '-F--');
});

test('what the user edited is not forced, and the model cannot apply it', async () => {
  const t = createTestSession({ files, script: [ok, vote('apply', 'p1'), ok] });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.store.revise('p1', [modify('a.txt', 'a', 'mine')], [], 'user');
  await t.session.prompt('Hello.');
  await t.session.prompt('Apply it.');
  assert.equal(forced(t), '---');
  assert.equal(t.workspace.text('a.txt'), 'a');
});

test('a stale preview is not forced until it is no longer stale', async () => {
  const t = createTestSession({ files, script: [ok, vote('discard'), ok] });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.store.markStale('p1', ['a.txt']);
  await t.session.prompt('Hello.');
  await t.store.markStale('p1', []);
  await t.session.prompt('And now?');
  assert.equal(forced(t), '-F-');
});

test('switching forcing off removes what was queued', async () => {
  const t = createTestSession({ files, script: [ok, ok] });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  t.settings.forcing = 'off';
  await t.session.prompt('Hello.');
  t.settings.forcing = 'forced';
  await t.session.prompt('And now?');
  assert.equal(forced(t), '--');
});

for (const after of ['off', 'forced', 'always'] as const)
  test(`switched from auto to ${after}, the model is reminded of all that it has not been asked about yet`, async () => {
    const t = createTestSession({ files, settings: { forcing: 'auto' }, script: [ok] });
    for (const path of ['a.txt', 'b.txt'])
      t.stage({ label: path, changes: [modify(path, path.slice(0, 1), 'new')] });
    t.settings.forcing = after;
    await t.session.prompt('Hello.');
    const asked = t.requests[0]?.messages.flatMap(message =>
      message.role === 'steering' && message.kind === 'resolve-reminder' ? message.previewIds : [],
    );
    assert.deepEqual([...new Set(asked)].sort(), ['p1', 'p2']);
  });

test('switched from auto to off, the model is reminded once, and its resolve without an id means the preview', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'auto' },
    script: [ok, vote('discard'), vote('discard'), ok],
  });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  t.settings.forcing = 'off';
  await t.session.prompt('Hello.');
  assert.equal(texts(t, 'resolve-reminder').length, 1);
  await t.session.prompt('Discard it.');
  assert.equal(texts(t, 'resolve-reminder').length, 1);
  assert.deepEqual(
    t.store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
    ['p1 discarded'],
  );
});

test('a request sent instead of a refused one forces nothing that was resolved meanwhile', async () => {
  const t = createTestSession({
    files,
    script: [
      async () => {
        await t.click('p1', 'apply');
        return { error: { code: 'badRequest', message: 'tool_choice is not supported' } };
      },
      ok,
      ok,
    ],
  });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  assert.equal(forced(t).slice(0, 2), 'F-');
  assert.ok((t.requests[1]?.tools.length ?? 0) > 1, 'and offers everything');
});

test('a request sent instead of a refused one follows a switch to Manual', async () => {
  const t = createTestSession({
    files,
    script: [
      () => {
        t.settings.modelAuthority = 'none';
        return { error: { code: 'badRequest', message: 'tool_choice is not supported' } };
      },
      ok,
    ],
  });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  assert.equal(forced(t), 'F-');
});

test('an answer that was cut off at its length teaches nothing about the server, and counts as no answer', async () => {
  const learned: string[] = [];
  const t = createTestSession({
    files,
    ladderMemory: { get: () => undefined, set: (_id, step) => void learned.push(step) },
    script: [write('a.txt'), { text: 'Thinking…', stopReason: 'length' }, vote('apply'), ok],
  });
  await t.session.prompt('Write.');
  assert.deepEqual(learned, []);
  assert.equal(forced(t), '-FF-');
});
