import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parseSlashCommand } from '../../../src/agent/model/slashCommands.ts';
import { remove, rename } from '../../support/changes.ts';
import { ToolHarness } from '../../support/toolHarness.ts';

test('deleting stages exactly that, and nothing happens', async () => {
  const harness = new ToolHarness({ 'a.txt': 'one\n' });
  await harness.run('delete_file', { path: 'a.txt' });
  assert.deepEqual(harness.staged[0]?.changes, [remove('a.txt', 'one\n')]);
  assert.equal(harness.workspace.text('a.txt'), 'one\n');
});

test('renaming stages exactly that; a file in the way and a missing one are refused', async () => {
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

test('an encoding that lacks a character refuses the edit; another edit keeps it', async () => {
  const harness = new ToolHarness({ 'a.txt': Uint8Array.of(0xe9, 0x0a) });
  harness.workspace.encoding = { name: 'iso88591', bom: false };
  const edit = (text: string) =>
    harness.run('edit_file', { path: 'a.txt', edits: [{ old: 'é', new: text }] });
  assert.match((await edit('日')).content, /iso88591, which has no "日"/);
  await edit('è');
  assert.deepEqual(harness.staged[0]?.changes?.[0]?.after?.text, 'è\n');
  assert.equal(harness.staged[0]?.changes?.[0]?.after?.encoding.name, 'iso88591');
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
