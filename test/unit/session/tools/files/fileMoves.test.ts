import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parseSlashCommand } from '../../../../../src/agent/session/model/offline/slashCommands.ts';
import { encodingIn, remove, rename, textIn } from '../../../../support/changes.ts';
import { createTestSession } from '../../../../support/testSession.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

test('delete_file stages a deletion and touches nothing', async () => {
  const harness = new ToolHarness({ 'a.txt': 'one\n' });
  const { content } = await harness.run('delete_file', { path: 'a.txt' });
  assert.match(content, /\na\.txt: deletes the file \(1 line\)\.\n@@ -1,1 \+1,0 @@\n-one$/);
  assert.deepEqual(harness.staged[0]?.changes, [remove('a.txt', 'one\n')]);
  assert.equal(harness.workspace.text('a.txt'), 'one\n');
});

test('the result of a deletion shows no more of a long file than a diff has room for', async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join('');
  const harness = new ToolHarness({ 'long.txt': lines, 'wide.txt': 'x'.repeat(50_000), 'empty.txt': '' });
  const told = async (path: string) => (await harness.run('delete_file', { path })).content;
  assert.match(await told('long.txt'), /\n-line 0\n[^]*\n\[\d+ more lines not shown\]$/);
  assert.ok((await told('wide.txt')).length < 10_000);
  assert.match(await told('empty.txt'), /\nempty\.txt: deletes the file \(0 lines\)\.$/);
});

test('a deletion and a rename carry a title and a reason, as their diff tells neither', async () => {
  const harness = new ToolHarness({ 'a.txt': 'a', 'b.txt': 'b' });
  const why = { title: 'Drop the old rates', reason: 'Nothing reads them any more.' };
  await harness.run('delete_file', { path: 'a.txt', ...why });
  await harness.run('rename_file', { from: 'b.txt', to: 'c.txt', ...why });
  await harness.run('delete_file', { path: 'b.txt' });
  assert.deepEqual(
    harness.staged.map(({ title, details }) => [title, details]),
    [
      [why.title, why.reason],
      [why.title, why.reason],
      ['Delete b.txt', undefined],
    ],
  );
});

test('rename_file stages a rename; an existing target and a missing file are refused', async () => {
  const harness = new ToolHarness({ 'a.txt': 'a', 'b.txt': 'b' });
  await harness.run('rename_file', { from: 'a.txt', to: 'x/c.txt' });
  assert.deepEqual(harness.staged[0]?.changes, [rename('a.txt', 'x/c.txt', 'a')]);
  assert.match((await harness.run('rename_file', { from: 'a.txt', to: 'b.txt' })).content, /already/);
  assert.match(
    (await harness.run('rename_file', { from: 'no.txt', to: 'n.txt' })).content,
    /no file no\.txt/,
  );
  assert.equal(harness.staged.length, 1);
});

test('where case does not count, a change of case alone is refused in its own words', async () => {
  const harness = new ToolHarness({ 'a.txt': 'a' });
  harness.workspace.resolvePath = input => Promise.resolve(input.toLowerCase().replace('./', ''));
  const { content } = await harness.run('rename_file', { from: 'a.txt', to: 'A.txt' });
  assert.match(content, /^a\.txt and A\.txt are one file here, a\.txt\. A change of case alone cannot/);
  const same = await harness.run('rename_file', { from: 'a.txt', to: './a.txt' });
  assert.doesNotMatch(same.content, /change of case/);
  assert.equal(harness.staged.length, 0);
});

test('an encoding that lacks a character refuses the edit; another edit keeps it', async () => {
  const harness = new ToolHarness({ 'a.txt': Uint8Array.of(0xe9, 0x0a) });
  harness.workspace.encoding = { name: 'iso88591', bom: false };
  const edit = (text: string) =>
    harness.run('edit_file', { path: 'a.txt', edits: [{ old: 'é', new: text }] });
  assert.match((await edit('日')).content, /iso88591, which cannot represent "日"/);
  await edit('è');
  assert.deepEqual(textIn(harness.staged[0]?.changes?.[0]?.after), 'è\n');
  assert.equal(encodingIn(harness.staged[0]?.changes?.[0]?.after)?.name, 'iso88591');
});

test('the missing character is found at the end of a long text, too', async () => {
  const harness = new ToolHarness({ 'a.txt': Uint8Array.of(0xe9, 0x0a) });
  harness.workspace.encoding = { name: 'iso88591', bom: false };
  const content = `${'ä🙂'.replace('🙂', 'é').repeat(200_000)}🙂`;
  assert.match(
    (await harness.run('write_file', { path: 'a.txt', content })).content,
    /cannot represent "🙂"/,
  );
});

test('/delete and /rename', () => {
  const call = (tool: string, args: object) => ({ kind: 'call', call: { tool, arguments: args } });
  assert.deepEqual(parseSlashCommand('/delete my a.txt'), call('delete_file', { path: 'my a.txt' }));
  assert.deepEqual(
    parseSlashCommand('/rename a.txt => b c.txt'),
    call('rename_file', { from: 'a.txt', to: 'b c.txt' }),
  );
  assert.equal(parseSlashCommand('/rename a.txt')?.kind, 'malformed');
  assert.equal(parseSlashCommand('/delete')?.kind, 'malformed');
});

test('nothing is staged inside a file; a file may only be renamed into a folder of its own name', async () => {
  const harness = new ToolHarness({ x: 'x', y: 'y' });
  for (const [name, args] of [
    ['write_file', { path: 'x/deep/a', content: 'a' }],
    ['edit_file', { path: 'x/a', edits: [{ old: '', new: 'a' }] }],
    ['rename_file', { from: 'y', to: 'x/y' }],
  ] as const) {
    const { content, isError } = await harness.run(name, args);
    assert.match(content, /^x is a file, so there can be no x\/\S+\. Choose another path/);
    assert.equal(isError, true);
  }
  assert.equal(harness.staged.length, 0);
  await harness.run('rename_file', { from: 'x', to: 'x/inner' });
  assert.deepEqual(harness.staged[0]?.changes, [rename('x', 'x/inner', 'x')]);
});

test('a file in a folder of the name of a file that a pending preview deletes builds on it', async () => {
  const t = createTestSession({
    files: { x: 'x' },
    settings: { forcing: 'off' },
    script: [
      { toolCalls: [{ name: 'delete_file', arguments: { path: 'x' } }] },
      { toolCalls: [{ name: 'write_file', arguments: { path: 'x/inner', content: 'new' } }] },
      { text: 'ok' },
    ],
  });
  await t.session.prompt('Go.');
  assert.deepEqual(t.store.get('p2')?.dependsOn, ['p1']);
  await t.invoker.resolve({ id: 'p2', action: 'apply', reason: '', actor: 'human', chain: { p1: 1 } });
  assert.deepEqual(t.workspace.snapshot(), { 'x/inner': 'new' });
});
