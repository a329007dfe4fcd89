import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b' };

/** The results of these calls, one after the other in one conversation. */
async function resultsOf(...calls: readonly (readonly [name: string, args: object])[]): Promise<string[]> {
  const script: ScriptedTurn[] = calls.map(([name, args]) => ({ toolCalls: [{ name, arguments: args }] }));
  const t = createTestSession({ files, settings: { forcing: 'off' }, script: [...script, { text: 'ok' }] });
  await t.session.prompt('Go.');
  return t.results().map(({ content }) => content);
}

const rewrite = ['write_file', { path: 'a.txt', content: 'one\n2\n' }] as const;
const builds = /^Staged as p2, no file modified yet\. Builds on the pending preview p1\.\n/;

for (const [name, args] of [
  ['edit_file', { path: 'a.txt', edits: [{ old: '2', new: 'TWO' }] }],
  ['write_file', { path: 'a.txt', content: 'other' }],
  ['rename_file', { from: 'a.txt', to: 'c.txt' }],
  ['delete_file', { path: 'a.txt' }],
] as const) {
  test(`${name} says which pending preview it builds on`, async () => {
    const [, result = ''] = await resultsOf(rewrite, [name, args]);
    assert.match(result, builds);
  });
}

test('a creation where a pending preview deletes or moves the file says so too', async () => {
  const again = ['write_file', { path: 'a.txt', content: 'new' }] as const;
  for (const first of [
    ['delete_file', { path: 'a.txt' }],
    ['rename_file', { from: 'a.txt', to: 'c.txt' }],
  ] as const) {
    const [, result = ''] = await resultsOf(first, again);
    assert.match(result, builds);
  }
});

test('what builds on nothing pending does not say so', async () => {
  const [, result = ''] = await resultsOf(rewrite, ['write_file', { path: 'b.txt', content: 'B' }]);
  assert.match(result, /^Staged as p2, no file modified yet\.\nb\.txt: /);
});

test('what a pending preview has already made so is not said to be so on disk', async () => {
  const [, same = ''] = await resultsOf(rewrite, rewrite);
  assert.equal(
    same,
    'Nothing to change: a.txt already has exactly this content with the pending preview p1 applied. Nothing was staged.',
  );
  const [, gone = ''] = await resultsOf(['delete_file', { path: 'a.txt' }], ['read_file', { path: 'a.txt' }]);
  assert.match(gone, /^There is no file a\.txt with the pending preview p1 applied\. /);
});

test('write_file and edit_file refuse NUL with an error that names the file', async () => {
  const results = await resultsOf(
    ['write_file', { path: 'n.txt', content: 'a\0b' }],
    ['edit_file', { path: 'a.txt', edits: [{ old: 'one', new: '\0' }] }],
  );
  assert.match(results[0] ?? '', /^The proposed text of n\.txt contains the character NUL/);
  assert.match(results[1] ?? '', /^The proposed text of a\.txt contains the character NUL/);
});
