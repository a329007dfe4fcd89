import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { createOfflineProvider } from '../../../../src/agent/session/model/offline/provider.ts';
import { defineTool } from '../../../../src/agent/session/tools/tool.ts';
import { modify } from '../../../support/changes.ts';
import type { ScriptedTurn } from '../../../support/scriptedProvider.ts';
import {
  createTestSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../support/testSession.ts';

const OLD = lines(0, 3_000, 'old');
/** A change that the model did not write: it removes more lines than one look shows. */
const change = modify('a.txt', OLD, 'new\n');
const settings = { modelAuthority: 'apply', forcing: 'auto' } as const;

/** A tool whose author decides what it changes. */
const work = defineTool({
  name: 'work',
  label: 'Work',
  description: 'Works.',
  parameters: z.object({ isShort: z.optional(z.boolean()) }),
  execute({ isShort }, { stage }) {
    stage({
      label: 'Made',
      sourceToolName: 'edit_file',
      changes: [isShort ? modify('b.txt', 'b', 'B') : change],
    });
    return Promise.resolve(textResult('Worked.'));
  },
});

const calls = (name: string, args: object = {}): ScriptedTurn => ({ toolCalls: [{ name, arguments: args }] });
const vote = calls('resolve', { action: 'apply', reason: 'ok', id: 'p1' });
const look = (offset?: number): ScriptedTurn => calls('pending', { id: 'p1', offset });
const ok: ScriptedTurn = { text: 'ok' };
const REFUSED = /^Your vote on p1 .* does not count yet/;

function lines(from: number, to: number, word: string): string {
  return Array.from({ length: to - from }, (_, n) => `${word} line ${from + n}\n`).join('');
}

function play(script: TestSessionOptions['script'], more: TestSessionOptions = {}): TestSession {
  return createTestSession({
    files: { 'a.txt': OLD, 'b.txt': 'b' },
    tools: [work],
    ...more,
    settings: { ...settings, ...more.settings },
    ...(script ? { script } : {}),
  });
}

const contents = (t: TestSession): readonly string[] => t.results().map(({ content }) => content);

test('a diff is looked for only in the first request that contains it, and only while its preview is open', async t => {
  let looks = 0;
  const includes = t.mock.method(String.prototype, 'includes', function (this: string, ...args: [string]) {
    if (args[0].startsWith('```\nb.txt')) looks++;
    return this.indexOf(...args) >= 0;
  });
  const read = calls('read_file', { path: 'b.txt' });
  const discard = calls('resolve', { action: 'discard', reason: 'no', id: 'p1' });
  const session = play([calls('work', { isShort: true }), read, read, read, discard, read, ok], {
    settings: { modelAuthority: 'apply', forcing: 'off' },
  });
  await session.session.prompt('Go.');
  includes.mock.restore();
  assert.equal(session.store.get('p1')?.state.kind, 'discarded');
  const before = session.requests[1]?.messages.length ?? 0;
  assert.ok(looks > 0 && looks <= before, `${looks} looks at ${before} messages`);
});

for (const forcing of ['auto', 'forced', 'always', 'off'] as const)
  for (const modelAuthority of ['apply', 'recommend'] as const)
    test(`${forcing}, ${modelAuthority}: votes on a long diff that the model did not write are answered with more of it until all was shown`, async () => {
      const script = [calls('work'), vote, vote, vote, ok, ok];
      const t = play(script, { settings: { forcing, modelAuthority } });
      await t.session.prompt('Work.');
      const told = contents(t);
      for (const each of told.filter(content => content.includes('The diff goes on.')))
        assert.doesNotMatch(each, /in your next message/);
      const last = told.findIndex(content => !REFUSED.test(content) && !content.startsWith('Staged'));
      assert.equal(last, 3);
      assert.match(
        told[last] ?? '',
        modelAuthority === 'apply' ? /^Applied: p1/ : /^Your recommendation for p1/,
      );
      for (let n = 0; n < 3_000; n++)
        assert.equal(told.filter(each => each.includes(`\n-old line ${n}\n`)).length, 1, `line ${n}`);
      assert.equal(t.workspace.text('a.txt'), modelAuthority === 'apply' ? 'new\n' : OLD);
      t.assertSound();
    });

test('a short diff of a tool that does not show it stands in its result, and a vote on it counts', async () => {
  const t = play([calls('work', { isShort: true }), vote, ok]);
  await t.session.prompt('Work.');
  assert.match(
    contents(t)[0] ?? '',
    /\nWorked\.\nThe diff of p1 \(Made\):\n```\nb\.txt: 1 line added[^]*\n-b\n[^]*\n\+B\n/,
  );
  assert.equal(t.workspace.text('b.txt'), 'B');
});

test('after a reload, a diff that the model did not write itself counts as not shown', async () => {
  const before = play([
    calls('work', { isShort: true }),
    calls('write_file', { path: 'c.txt', content: 'c' }),
    { hang: true },
  ]);
  void before.session.prompt('Work.');
  await before.nextEvent(({ type }) => type === 'message_start');
  while (before.requests.length < 3) await before.nextEvent(({ type }) => type === 'turn_start');
  const { workspace, log, sessionLog } = before;
  before.session.dispose();
  const both = calls('resolve', { action: 'apply', reason: 'ok', ids: ['p1', 'p2'] });
  const t = play([both, both, ok], { workspace, log, sessionLog });
  await t.session.prompt('Go on.');
  const [first = '', second = ''] = contents(t).slice(-2);
  assert.match(first, /Applied: p2 /);
  assert.match(first, /^Your vote on p1 [^]*\n\+B\n/m);
  assert.doesNotMatch(first, /Nothing was changed/);
  assert.match(second, /^Applied: p1 /m);
  assert.equal(t.workspace.text('b.txt'), 'B');
});

test('what an extension stages, and the inverse of an abandoned apply, are not applied before the model has seen them', async () => {
  const t = play([vote, vote, ok]);
  t.stage({ label: 'Pushed', changes: [modify('b.txt', 'b', 'B')] });
  await t.session.prompt('Go.');
  assert.match(contents(t)[0] ?? '', REFUSED);
  assert.equal(t.workspace.text('b.txt'), 'B');
});

test('auto: no vote is forced on a diff that was not shown; the model is asked, and looks first', async () => {
  const next = (): ScriptedTurn => look(Number(/offset (\d+)/.exec(contents(t).at(-1) ?? '')?.[1]));
  const t: TestSession = play([calls('work'), ok, look(), ok, next, ok, vote, ok]);
  await t.session.prompt('Work.');
  assert.equal(t.requests.map(({ toolChoice }) => (toolChoice ? 'F' : '-')).join(''), '------F');
  const asked = t.steering().filter(({ kind }) => kind === 'resolve-reminder');
  assert.match(
    asked[0]?.text ?? '',
    /\nYou have not been shown all of p1: call pending with the id first\.$/,
  );
  assert.equal(asked.length, 3);
  assert.doesNotMatch(asked.at(-1)?.text ?? '', /not been shown/);
  assert.match(contents(t).at(-1) ?? '', /^Applied: p1/);
  t.assertSound();
});

test('auto: a model that does not look is asked three times, and then the user decides', async () => {
  const t = play([calls('work'), ok, ok, ok, ok]);
  await t.session.prompt('Work.');
  assert.equal(t.requests.length, 5);
  assert.match(
    t.steering().at(-1)?.text ?? '',
    /^p1 \(Made\) was not resolved when asked for\. It is now left to the user\./,
  );
  assert.equal(t.workspace.text('a.txt'), OLD);
});

test('pages of pending show all lines of a long diff, the deleted ones, too', async () => {
  const t = play([calls('work'), look(), look(24_000), ok], {
    settings: { forcing: 'off' },
  });
  await t.session.prompt('Work.');
  const [, ...pages] = contents(t);
  assert.match(
    pages[0] ?? '',
    /The diff goes on\. Call pending with id "p1" and offset \d+ to see more of it\.$/,
  );
  const all = pages.join('\n');
  for (const line of ['-old line 0', '-old line 2999', '+new']) assert.ok(all.includes(line), line);
});

test('a look that the user stops has shown nothing', async () => {
  const t = play(
    [
      calls('work', { isShort: true }),
      calls('work'),
      calls('pending', { id: 'p2' }),
      calls('resolve', { action: 'apply', reason: 'ok', id: 'p2' }),
      ok,
    ],
    {
      settings: { forcing: 'off' },
    },
  );
  t.session.onDidEmit(event => {
    if (event.type !== 'tool_start' || event.call.name !== 'pending') return;
    t.workspace.isProtected = () => {
      t.session.stop();
      return Promise.resolve(false);
    };
  });
  await t.session.prompt('Work.');
  assert.match(contents(t).at(-1) ?? '', /^Interrupted/);
  await new Promise(setImmediate);
  t.workspace.isProtected = () => Promise.resolve(false);
  await t.session.prompt('Go on.');
  assert.match(contents(t).at(-1) ?? '', /^Your vote on p2 .*\n```\n-old line 5\d\d\n/);
});

test('a look on a branch that was abandoned has shown nothing', async () => {
  const t = play(
    [
      calls('work', { isShort: true }),
      look(),
      calls('revert_to_state', { category: 'tangent', step: 'n3', summary: 'Looked.' }),
      vote,
      ok,
    ],
    { settings: { forcing: 'off', revertEnabled: true } },
  );
  await t.session.prompt('Work.');
  assert.match(contents(t).at(-1) ?? '', REFUSED);
  assert.equal(t.workspace.text('b.txt'), 'b');
});

test('offline, in Auto, what a command of the user changes lands, although the provider reads no diff', async () => {
  const t = play(undefined, { provider: createOfflineProvider() });
  await t.session.prompt('/call work {}');
  assert.equal(t.workspace.text('a.txt'), 'new\n');
  t.assertSound();
});

test('a model that was asked to look and did not vote is forced once the setting says “always”', async () => {
  const t = play((_request, n) => {
    if (n === 1) t.settings.forcing = 'always';
    return ok;
  });
  t.session.stage({ label: 'Made', sourceToolName: 'work', changes: [change] });
  await t.session.prompt('Go.');
  assert.deepEqual(
    t.requests.slice(0, 3).map(({ toolChoice }) => toolChoice?.type),
    [undefined, undefined, 'tool'],
  );
});
