import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  missedResolutions,
  type SettingsInForce,
} from '../../../../src/agent/session/conversation/auditTrail.ts';
import { sessionMarkdown } from '../../../../src/agent/session/conversation/storage/sessionMarkdown.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import {
  createTestSession,
  MemorySessionLog,
  storedSession,
  type TestSession,
} from '../../../support/testSession.ts';

const ok = { text: 'ok' };
const noted = (t: TestSession): SettingsInForce[] =>
  t.sessionLog.entries.flatMap(entry => (entry.type === 'settings' ? [entry.settings] : []));
const types = (t: TestSession): string[] =>
  t.sessionLog.entries.flatMap(entry =>
    entry.type === 'message' ? [entry.message.role] : entry.type === 'settings' ? ['settings'] : [],
  );
const start: SettingsInForce = {
  model: 'scripted',
  modelAuthority: 'apply',
  forcing: 'forced',
  order: 'newestFirst',
  revertEnabled: false,
};

test('the log records the settings of the first answer, and later only changes', async () => {
  const t = createTestSession({ script: [ok, ok, ok, ok] });
  await t.session.prompt('One.');
  await t.session.prompt('Two.');
  t.settings.modelAuthority = 'none';
  t.settings.forcing = 'off';
  await t.session.prompt('Three.');
  assert.deepEqual(noted(t), [start, { ...start, modelAuthority: 'none', forcing: 'off' }]);
  assert.deepEqual(types(t).slice(0, 5), ['user', 'settings', 'assistant', 'user', 'assistant']);
});

test('a setting that changes in the middle of a turn is recorded before its next request', async () => {
  const read = { name: 'read_file', arguments: { path: 'a.txt' } };
  const t = createTestSession({ files: { 'a.txt': 'a' }, script: [{ toolCalls: [read] }, ok] });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_start') t.settings.revertEnabled = true;
  });
  await t.session.prompt('One.');
  assert.deepEqual(types(t), ['user', 'settings', 'assistant', 'tool', 'settings', 'assistant']);
  assert.deepEqual(noted(t), [start, { ...start, revertEnabled: true }]);
});

test('after a reload settings are not recorded again unless they changed', async () => {
  const t = createTestSession({ script: [ok] });
  await t.session.prompt('One.');
  const same = createTestSession({ script: [ok], sessionLog: t.sessionLog });
  await same.session.prompt('Two.');
  assert.deepEqual(noted(same), [start]);
  const other = createTestSession({
    script: [ok],
    sessionLog: t.sessionLog,
    settings: { order: 'oldestFirst' },
  });
  await other.session.prompt('Three.');
  assert.deepEqual(noted(other), [start, { ...start, order: 'oldestFirst' }]);
  assert.deepEqual(other.session.trail, other.sessionLog.stored()?.trail);
});

test('each branch has the settings it was made with', async () => {
  const t = createTestSession({ script: [ok, ok, ok, ok] });
  const { session, settings } = t;
  await session.prompt('One.');
  settings.modelAuthority = 'none';
  await session.prompt('Two.');
  const left = session.tree.active;
  const inForce = () => session.trail.settings(session.tree)?.modelAuthority;
  assert.equal(inForce(), 'none');
  await session.revert({ category: null, target: 1, summary: null });
  assert.equal(inForce(), 'apply');
  await session.prompt('Another two.');
  assert.equal(inForce(), 'none');
  assert.equal(noted(t).length, 3, 'noted on the new branch too');
  await session.revert({ category: null, target: left, summary: null });
  await session.prompt('Three.');
  assert.equal(noted(t).length, 3);
});

test('nothing is written before the first message, and an older log without settings is continued', async () => {
  const t = createTestSession({ script: [ok] });
  assert.deepEqual(t.sessionLog.lines, []);
  const log = t.sessionLog.begin(t.session.id);
  void log.append({ type: 'message', id: 0, parentId: null, message: { role: 'user', text: 'Old.' } });
  const again = createTestSession({ script: [ok], sessionLog: t.sessionLog });
  assert.equal(again.session.trail.settings(again.session.tree), undefined);
  await again.session.continue();
  assert.deepEqual(types(again), ['user', 'settings', 'assistant']);
});

test('the log records the outcomes of the previews that were staged here, and of no others', async () => {
  const call = (name: string, args: object) => ({ name, arguments: args });
  const edit = (old: string, now: string) => call('edit_file', { path: 'a.txt', edits: [{ old, new: now }] });
  const t = createTestSession({
    files: { 'a.txt': 'a' },
    settings: { forcing: 'off' },
    script: [
      { toolCalls: [edit('a', 'A')] },
      { toolCalls: [call('resolve', { action: 'apply', reason: 'Right.' })] },
      { toolCalls: [edit('A', 'B')] },
      ok,
      ok,
    ],
  });
  await t.session.prompt('Go.');
  const end = t.session.tree.active;
  await t.click('p2', 'discard', 'Wrong.');
  t.store.stage({
    label: 'Of somebody else',
    sourceToolName: 'other',
    kind: 'action',
    changes: null,
    dependsOn: [],
    origin: null,
    stagedAt: '2026-01-01T00:00:00.000Z',
  });
  await t.click('p3', 'discard');
  const entries = t.sessionLog.entries.flatMap(entry =>
    entry.type === 'resolution' ? [entry.resolution] : [],
  );
  assert.deepEqual(
    entries.map(({ previewId, action, actor, reason, outcome }) => [
      previewId,
      action,
      actor,
      reason,
      outcome,
    ]),
    [
      ['p1', 'apply', 'model', 'Right.', 'applied'],
      ['p2', 'discard', 'human', 'Wrong.', 'discarded'],
    ],
  );
  assert.deepEqual(entries[0]?.at, t.store.ledger()[0]?.at);
  assert.deepEqual(t.session.trail.resolutionsAfter(end), entries.slice(1));
  assert.deepEqual(t.sessionLog.stored()?.trail, t.session.trail);
});

const rewrite = (path: string) => ({ name: 'write_file', arguments: { path, content: 'new' } });
const kept = (t: TestSession): string[] =>
  t.sessionLog.entries.flatMap(entry =>
    entry.type === 'resolution' ? [`${entry.resolution.previewId} ${entry.resolution.outcome}`] : [],
  );

test('what was resolved while another conversation was open is recorded once its own is reopened, and only once', async () => {
  const t = createTestSession({
    files: { a: 'a', b: 'b', c: 'c' },
    settings: { forcing: 'off' },
    script: [{ toolCalls: [rewrite('a'), rewrite('b')] }, ok, { toolCalls: [rewrite('c')] }, ok],
  });
  const { session, store } = t;
  await session.prompt('Go.');
  await t.click('p1', 'discard');
  const { id } = session;
  const stored = () => t.sessionLog.stored(id) ?? assert.fail();
  assert.deepEqual(missedResolutions(stored(), store), []);
  await session.new();
  await session.prompt('Something else.');
  await t.click('p2', 'apply', 'Fine.');
  await t.click('p3', 'discard');
  assert.deepEqual(kept(t), ['p3 discarded']);

  await session.open(stored());
  const own = ['p1 discarded', 'p2 applied'];
  assert.deepEqual(kept(t), own, 'of the other conversation nothing, and nothing twice');
  const { at } = store.ledger()[1] ?? assert.fail();
  const known = { label: 'Rewrite b', action: 'apply', actor: 'human', reason: 'Fine.', outcome: 'applied' };
  assert.deepEqual(session.trail.resolutionsAfter(session.tree.active).at(-1), {
    previewId: 'p2',
    ...known,
    at,
  });
  assert.deepEqual(stored().trail, session.trail);
  assert.deepEqual(missedResolutions(stored(), store), []);
});

test('so is the outcome of a part that was split off meanwhile', async () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
  const edits = [
    { old: 'line 0\n', new: 'first\n' },
    { old: 'line 39', new: 'last' },
  ];
  const t = createTestSession({
    files: { 'a.txt': lines.join('\n') },
    settings: { forcing: 'off' },
    script: [{ toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits } }] }, ok],
  });
  await t.session.prompt('Go.');
  const stored = storedSession(t.session.id, [...t.sessionLog.lines]);
  await t.session.new();
  const vote = { id: 'p1', action: 'apply', actor: 'human', reason: 'Half.', revision: 1 } as const;
  await resolvePart(t, vote, { path: 'a.txt', hunk: 0 });
  await t.session.open(stored);
  assert.deepEqual(kept(t), ['p2 applied']);
});

test('a process that ended between the writes to the two logs: what is missing is recorded at the next start', async () => {
  const t = createTestSession({
    files: { a: 'a' },
    settings: { forcing: 'off' },
    script: [{ toolCalls: [rewrite('a')] }, ok],
  });
  await t.session.prompt('Go.');
  await t.click('p1', 'apply');
  const sessionLog = new MemorySessionLog();
  const log = sessionLog.begin(t.session.id);
  for (const entry of t.sessionLog.entries) if (entry.type !== 'resolution') await log.append(entry);
  const after = createTestSession({ log: t.log, sessionLog });
  assert.deepEqual(kept(after), ['p1 applied']);
  assert.deepEqual(after.session.trail, t.session.trail);
  const again = createTestSession({ log: t.log, sessionLog });
  assert.deepEqual(kept(again), ['p1 applied']);
});

test('previews of a second window are not mistaken for those with the same ids here', async () => {
  const t = createTestSession({
    files: { a: 'a' },
    settings: { forcing: 'off' },
    script: [{ toolCalls: [rewrite('a')] }, ok],
  });
  await t.session.prompt('Go.');
  await t.click('p1', 'discard');
  const elsewhere = storedSession('s2', ['{"type":"preview","previewId":"p1"}']);
  assert.deepEqual(missedResolutions(elsewhere, t.store), []);
  await t.store.forgetResolved(new Date('2999-01-01'));
  assert.equal(t.store.get('p1'), undefined);
  assert.deepEqual(missedResolutions(elsewhere, t.store), []);
});

test('an apply that completed and returned an error is recorded as just that, and not again for the log of an older version', async () => {
  const t = createTestSession();
  const { id } = t.stage({
    label: 'Deploy',
    apply: async () => ({ content: [{ type: 'text', text: 'exit code 1' }], isError: true }),
  });
  await t.click(id, 'apply');
  assert.deepEqual(kept(t), [`${id} returnedError`]);
  const { trail } = t.sessionLog.stored() ?? assert.fail();
  assert.deepEqual(trail, t.session.trail);
  assert.match(
    String(await sessionMarkdown(t.session, 'T')),
    /p1 applied, and returned an error\*\* \(human\) Deploy/,
  );

  const older = t.sessionLog.lines.map(line => line.replace('"returnedError"', '"failed"'));
  assert.deepEqual(missedResolutions(storedSession(t.session.id, older), t.store), []);
});
