import { mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { WAIT_MS } from '../../../src/agent/session/newProblems.ts';
import { create } from '../../support/changes.ts';
import { MemoryProblems } from '../../support/memoryProblems.ts';
import type { Script } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const write = (path: string, content: string) => ({ name: 'write_file', arguments: { path, content } });
const twoEdits = [
  { toolCalls: [write('a.ts', 'new a'), write('b.ts', 'new b')] },
  { text: 'Review it.' },
  { text: 'Done.' },
  { text: 'And more.' },
] satisfies Script;

/** Two previews wait for the user, in a session that continues by itself. */
async function reviewing(problems: MemoryProblems, script: Script = twoEdits): Promise<TestSession> {
  const t = createTestSession({
    problems,
    script,
    files: { 'a.ts': 'a', 'b.ts': 'b', 'c.ts': 'c' },
    settings: { modelAuthority: 'recommend', forcing: 'off' },
  });
  await t.session.prompt('Go.');
  assert.equal(t.session.state, 'awaitingReview');
  return t;
}

const told = (t: TestSession): string[] =>
  t.steering().flatMap(({ kind, text }) => (kind === 'problems' ? [text] : []));

test('problems that an apply brings are told before the next request, those from before are not', async () => {
  const problems = new MemoryProblems();
  problems.opened.add('a.ts').add('b.ts');
  problems.report('a.ts', 'old', { severity: 'information', message: 'note' });
  problems.report('c.ts', 'elsewhere');
  const t = await reviewing(problems);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  // Both were written; the language service reports after that. The session waits for it.
  problems.report('b.ts');
  problems.report(
    'a.ts',
    { message: 'old', line: 7 },
    { message: 'old', line: 9 },
    { severity: 'warning', message: 'new\nwarning', source: 'lint', code: 'w1' },
    { severity: 'information', message: 'new note' },
  );
  await t.untilState('idle');
  assert.deepEqual(told(t), [
    [
      "New in VS Code's Problems since p1 was applied, in the files that changed:",
      '```',
      'a.ts:9:1 error: old',
      'a.ts:3:1 warning: new warning [lint w1]',
      '```',
    ].join('\n'),
  ]);
  assert.ok(JSON.stringify(t.requests.at(-1)?.messages).includes('new warning'));
  t.assertSound();
});

test('nothing is said if nothing is new, and nothing is waited for if no service is known to check the files', async () => {
  const problems = new MemoryProblems();
  const t = await reviewing(problems);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  await t.untilState('idle');
  assert.deepEqual(told(t), []);
});

test('of an apply of many files, the first ones are looked at', async () => {
  const problems = new MemoryProblems();
  const names = Array.from({ length: 300 }, (_, i) => `f${i}.ts`);
  const t = createTestSession({ problems, script: twoEdits, settings: { modelAuthority: 'recommend' } });
  await t.session.prompt('Go.');
  const { id } = t.stage({ label: 'many', changes: names.map(name => create(name, 'text\n')) });
  const listed = mock.method(problems, 'list');
  await t.click(id, 'apply');
  assert.equal(listed.mock.callCount(), 100);
  problems.report('f7.ts', 'new');
  await t.session.prompt('Go on.');
  assert.match(told(t).join(), /f7\.ts:1:1 error: new/);
});

test('a service that stays silent is waited for only for a short time, and what it finds later is told later', async t => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const problems = new MemoryProblems();
  problems.opened.add('a.ts');
  const session = await reviewing(problems);
  await session.click('p1', 'apply');
  await session.click('p2', 'discard');
  assert.equal(session.session.state, 'running');
  assert.equal(session.requests.length, 2, 'the request waits');
  t.mock.timers.tick(WAIT_MS - 1);
  await Promise.resolve();
  assert.equal(session.requests.length, 2);
  const idle = session.untilState('idle');
  t.mock.timers.tick(1);
  await idle;
  assert.deepEqual(told(session), []);
  problems.report('a.ts', 'late');
  await session.session.prompt('More.');
  assert.match(told(session).join(), /a\.ts:1:1 error: late/);
});

test('each problem is told once, and long after an apply no longer put down to it', async t => {
  t.mock.timers.enable({ apis: ['Date'] });
  const problems = new MemoryProblems();
  const s = await reviewing(problems, [...twoEdits, {}, {}]);
  await s.click('p1', 'apply');
  problems.report('a.ts', 'first');
  await s.click('p2', 'discard');
  await s.untilState('idle');
  await s.session.prompt('More.');
  problems.report('a.ts', 'first', 'second');
  t.mock.timers.tick(60_000);
  await s.session.prompt('More.');
  problems.report('a.ts', 'first', 'second', 'third');
  await s.session.prompt('More.');
  assert.deepEqual(
    told(s).map(text => text.split('\n').slice(2, -1)),
    [['a.ts:1:1 error: first'], ['a.ts:2:1 error: second']],
  );
});

test('a file that was closed and is opened only afterwards is not blamed for its old problems; a new file is', async () => {
  const problems = new MemoryProblems();
  const t = await reviewing(problems, [
    { toolCalls: [write('a.ts', 'new a'), write('new.ts', 'new'), write('b.ts', 'new b')] },
    { text: 'Review it.' },
    { text: 'Done.' },
  ]);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  for (const path of ['a.ts', 'new.ts']) {
    problems.opened.add(path);
    problems.report(path, 'found on opening');
  }
  await t.click('p3', 'discard');
  await t.untilState('idle');
  assert.deepEqual(
    told(t).map(text => text.split('\n').slice(2, -1)),
    [['new.ts:1:1 error: found on opening']],
  );
});

test('a renamed file brings its problems along', async () => {
  const problems = new MemoryProblems();
  problems.opened.add('a.ts');
  problems.report('a.ts', 'old');
  const t = await reviewing(problems, [
    { toolCalls: [{ name: 'rename_file', arguments: { from: 'a.ts', to: 'z.ts' } }] },
    { text: 'Review it.' },
    { text: 'Done.' },
  ]);
  await t.click('p1', 'apply');
  problems.report('a.ts');
  problems.report('z.ts', 'old', 'import is broken');
  await t.untilState('idle');
  assert.deepEqual(
    told(t).map(text => text.split('\n').slice(2, -1)),
    [['z.ts:2:1 error: import is broken']],
  );
});

test('a file that two applies changed is compared with what it had before the first, and both are named', async () => {
  const problems = new MemoryProblems();
  problems.opened.add('a.ts');
  problems.report('a.ts', 'old');
  const t = await reviewing(problems, [
    { toolCalls: [write('a.ts', 'one')] },
    { toolCalls: [write('a.ts', 'two')] },
    { text: 'Review it.' },
    { text: 'Done.' },
  ]);
  await t.click('p1', 'apply');
  problems.report('a.ts', 'old', 'new');
  await t.click('p2', 'apply');
  problems.report('a.ts', 'old', 'new', 'newer');
  await t.untilState('idle');
  assert.deepEqual(told(t), [
    [
      "New in VS Code's Problems since p1, p2 were applied, in the files that changed:",
      '```',
      'a.ts:2:1 error: new',
      'a.ts:3:1 error: newer',
      '```',
    ].join('\n'),
  ]);
});

test('the list is bounded', async () => {
  const problems = new MemoryProblems();
  problems.opened.add('a.ts');
  const t = await reviewing(problems);
  await t.click('p1', 'apply');
  await t.click('p2', 'discard');
  problems.report('a.ts', ...Array.from({ length: 500 }, (_, i) => `error ${i}`));
  await t.untilState('idle');
  const lines = told(t).join().split('\n');
  assert.equal(lines.length, 24);
  assert.equal(lines.at(-1), 'And 480 more: call get_diagnostics.');
});

test('Stop ends the wait; another conversation is told nothing; a failed apply and a discard are not compared', async () => {
  const problems = new MemoryProblems();
  problems.opened.add('a.ts').add('b.ts');
  const t = await reviewing(problems);
  t.workspace.failWrite(1);
  await assert.rejects(t.click('p1', 'apply'));
  problems.report('a.ts', 'not ours');
  await t.click('p1', 'discard');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'running');
  t.session.stop();
  await t.untilState('idle');
  assert.equal(t.answers().at(-1)?.stopReason, 'aborted');
  await t.session.new();
  problems.report('b.ts', 'of the old conversation');
  await t.session.prompt('Hello?');
  assert.deepEqual(told(t), []);
});
