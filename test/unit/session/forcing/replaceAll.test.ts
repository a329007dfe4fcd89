import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ScriptedTurn } from '../../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../../support/testSession.ts';

const OLD = 'a cart\nanother cart\nfor each cart\n';
const LONG = 'one cart\n'.repeat(500);

const call = (name: string, args: object) => ({ name, arguments: args });
const replace = (more: object = {}) =>
  call('edit_file', {
    path: 'a.txt',
    edits: [{ old: 'cart', new: 'basket', replaceAll: true }],
    ...more,
  });
const vote = call('resolve', { action: 'apply', reason: 'ok', id: 'p1' });
const ok: ScriptedTurn = { text: 'ok' };
const REFUSED = /^Your vote on p1 .* does not count yet/;

function play(text: string, script: readonly ScriptedTurn[]): TestSession {
  return createTestSession({
    files: { 'a.txt': text },
    settings: { modelAuthority: 'apply', forcing: 'auto' },
    script: [...script],
  });
}

const contents = (t: TestSession): readonly string[] => t.results().map(({ content }) => content);

test('a vote beside an amendment in several places is answered with their diff, and counts in the next message', async () => {
  const first = call('edit_file', { path: 'a.txt', edits: [{ old: 'for each', new: 'for every' }] });
  const t = play(OLD, [
    { toolCalls: [first] },
    { toolCalls: [replace({ amend: 'p1' }), vote] },
    { toolCalls: [vote] },
    ok,
  ]);
  await t.session.prompt('Rename it.');
  const [, amended = '', refused = '', applied = ''] = contents(t);
  assert.match(amended, /\+another basket/);
  assert.match(refused, REFUSED);
  assert.match(applied, /^Applied: p1/);
});

test('the diff of more edits than a result shows goes on, and a vote counts once all of it was shown', async () => {
  const t = play(LONG, [
    { toolCalls: [replace()] },
    ...Array.from({ length: 2 }, () => ({ toolCalls: [vote] })),
    ok,
  ]);
  await t.session.prompt('Rename it.');
  const told = contents(t);
  assert.match(told[0] ?? '', /500 edits\.\nThe diff of p1[^]*The diff goes on\./);
  assert.match(told[1] ?? '', REFUSED);
  assert.match(told.at(-1) ?? '', /^Applied: p1/);
});

test('the same in few places counts at once in the next message', async () => {
  const t = play(OLD, [{ toolCalls: [replace()] }, { toolCalls: [vote] }, ok]);
  await t.session.prompt('Rename it.');
  assert.match(contents(t)[1] ?? '', /^Applied: p1/);
});

test('the result shows the whole lines of what is replaced in several places', async () => {
  const text = 'first: false && deletes,\nsecond: false || asks,\n';
  const edits = [{ old: 'false', new: 'true', replaceAll: true }];
  const t = play(text, [{ toolCalls: [call('edit_file', { path: 'a.txt', edits })] }, ok]);
  await t.session.prompt('Turn all on.');
  const [told = ''] = contents(t);
  assert.match(told, /^\+first: true && deletes,$/m);
  assert.match(told, /^\+second: true \|\| asks,$/m);
});
