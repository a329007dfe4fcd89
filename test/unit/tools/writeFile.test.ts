import { test } from 'node:test';
import assert from 'node:assert/strict';
import { create, modify } from '../../support/changes.ts';
import { ToolHarness } from '../../support/toolHarness.ts';

test('a new file is staged as a creation', async () => {
  const harness = new ToolHarness();
  const result = await harness.run('write_file', { path: 'src/new.ts', content: 'a\nb\n' });
  assert.equal(result.content, 'Staged as p1, no file modified yet.\nsrc/new.ts: a new file of 2 lines.');
  assert.deepEqual(harness.staged, [
    { label: 'Create src/new.ts', sourceToolName: 'write_file', changes: [create('src/new.ts', 'a\nb\n')] },
  ]);
});

test('an existing file is staged as a modification of the whole, with its count of lines', async () => {
  const harness = new ToolHarness({ a: 'a\nb\nc\n' });
  const result = await harness.run('write_file', { path: 'a', content: 'a\nB\nc\nd\n' });
  assert.equal(result.content, 'Staged as p1, no file modified yet.\na: 2 lines added, 1 removed.');
  assert.deepEqual(harness.staged, [
    { label: 'Rewrite a', sourceToolName: 'write_file', changes: [modify('a', 'a\nb\nc\n', 'a\nB\nc\nd\n')] },
  ]);
  assert.equal(harness.workspace.text('a'), 'a\nb\nc\n');
});

test('the encoding of an existing file is kept', async () => {
  const harness = new ToolHarness({ a: '\ufeffold' });
  await harness.run('write_file', { path: 'a', content: 'new' });
  assert.deepEqual(harness.staged[0]?.changes?.[0]?.after?.encoding, { name: 'utf8', bom: true });
});

test('the same content stages nothing; an empty file is content', async () => {
  const harness = new ToolHarness({ a: '' });
  assert.match(
    (await harness.run('write_file', { path: 'a', content: '' })).content,
    /Nothing was staged\.$/,
  );
  await harness.run('write_file', { path: 'b', content: '' });
  assert.deepEqual(harness.staged[0]?.changes, [create('b', '')]);
});

test('a path is the same however it is written', async () => {
  const harness = new ToolHarness();
  for (const path of ['./src/../a', '/workspace/a']) await harness.run('write_file', { path, content: 'x' });
  assert.deepEqual(
    harness.staged.map(action => action.changes),
    [[create('a', 'x')], [create('a', 'x')]],
  );
});

test('what could not be written is not proposed: the limit is on bytes', async () => {
  const harness = new ToolHarness({ a: 'ü\n' });
  const limit = 5 * 1024 * 1024;
  const results: string[] = [];
  for (const content of ['x'.repeat(limit + 1), 'ü'.repeat(limit / 2 + 1)]) {
    results.push((await harness.run('write_file', { path: 'new', content })).content);
    results.push(
      (await harness.run('edit_file', { path: 'a', edits: [{ old: 'ü', new: content }] })).content,
    );
  }
  for (const result of results) assert.match(result, /^(new|a) would be larger than 5 MB/);
  assert.deepEqual(harness.staged, []);
  await harness.run('write_file', { path: 'new', content: 'ü'.repeat(limit / 2) });
  assert.equal(harness.staged.length, 1);
});
