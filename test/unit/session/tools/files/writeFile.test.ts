import { test } from 'node:test';
import assert from 'node:assert/strict';
import { create, encodingIn, modify, textIn } from '../../../../support/changes.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

test('a new file is staged as a creation', async () => {
  const harness = new ToolHarness();
  const result = await harness.run('write_file', { path: 'src/new.ts', content: 'a\nb\n' });
  assert.equal(result.content, 'Staged as p1, no file modified yet.\nsrc/new.ts: a new file of 2 lines.');
  assert.deepEqual(harness.staged, [
    {
      label: 'Create src/new.ts',
      title: 'Create src/new.ts',
      sourceToolName: 'write_file',
      changes: [create('src/new.ts', 'a\nb\n')],
    },
  ]);
});

test('an existing file is staged as a modification, with the lines that change', async () => {
  const harness = new ToolHarness({ a: 'a\nb\nc\n' });
  const result = await harness.run('write_file', { path: 'a', content: 'a\nB\nc\nd\n' });
  assert.equal(
    result.content,
    'Staged as p1, no file modified yet.\na: 2 lines added, 1 removed.\n@@ -2,1 +2,1 @@\n-b\n+B\n@@ -4,0 +4,1 @@\n+d',
  );
  assert.deepEqual(harness.staged, [
    {
      label: 'Rewrite a',
      title: 'Rewrite a',
      sourceToolName: 'write_file',
      changes: [modify('a', 'a\nb\nc\n', 'a\nB\nc\nd\n')],
    },
  ]);
  assert.equal(harness.workspace.text('a'), 'a\nb\nc\n');
});

test('the encoding of an existing file is kept', async () => {
  const harness = new ToolHarness({ a: '\ufeffold' });
  await harness.run('write_file', { path: 'a', content: 'new' });
  assert.deepEqual(encodingIn(harness.staged[0]?.changes?.[0]?.after), { name: 'utf8', bom: true });
});

test('the same content stages nothing; an empty file can be created', async () => {
  const harness = new ToolHarness({ a: '' });
  assert.match(
    (await harness.run('write_file', { path: 'a', content: '' })).content,
    /Nothing was staged\.$/,
  );
  await harness.run('write_file', { path: 'b', content: '' });
  assert.deepEqual(harness.staged[0]?.changes, [create('b', '')]);
});

test('a path has one form, however it is written', async () => {
  const harness = new ToolHarness();
  for (const path of ['./src/../a', '/workspace/a']) await harness.run('write_file', { path, content: 'x' });
  assert.deepEqual(
    harness.staged.map(action => action.changes),
    [[create('a', 'x')], [create('a', 'x')]],
  );
});

test('a file over the size limit, which counts bytes, is not staged', async () => {
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

test('the line endings of an existing file are kept, and the result says so', async () => {
  const harness = new ToolHarness({ crlf: 'a\r\nb\r\n', lf: 'a\nb\n', mixed: 'a\r\nb\nc\r\n' });
  const results: string[] = [];
  for (const [path, content] of [
    ['crlf', 'a\nB\n'],
    ['lf', 'a\r\nB\r\n'],
    ['mixed', 'a\nB\nc\n'],
    ['lf', 'a\nB\n'],
  ])
    results.push((await harness.run('write_file', { path, content })).content);
  assert.deepEqual(
    harness.staged.map(({ changes }) => textIn(changes?.[0]?.after)),
    ['a\r\nB\r\n', 'a\nB\n', 'a\r\nB\nc\r\n', 'a\nB\n'],
  );
  for (const result of results.slice(0, 3))
    assert.match(result, /: 1 line added, 1 removed\. The line endings of the file are kept\.\n@@ /);
  assert.doesNotMatch(results[3] ?? '', /endings/);
});

test('content that differs only in line endings stages nothing, and the result does not call it the same', async () => {
  const harness = new ToolHarness({ crlf: 'a\r\nb\r\n', lf: 'a\nb\n' });
  for (const [path, content] of [
    ['crlf', 'a\nb\n'],
    ['lf', 'a\r\nb\r\n'],
  ]) {
    assert.equal(
      (await harness.run('write_file', { path, content })).content,
      `Nothing to change: ${path} already has this content, apart from line endings, which are kept. Nothing was staged.`,
    );
  }
  assert.deepEqual(harness.staged, []);
});

test('a new file gets exactly the line endings of the content', async () => {
  const harness = new ToolHarness();
  await harness.run('write_file', { path: 'a', content: 'a\r\nb\n' });
  assert.equal(textIn(harness.staged[0]?.changes?.[0]?.after), 'a\r\nb\n');
});

test('a new file gets the line ending of the workspace, and the model is told', async () => {
  const harness = new ToolHarness();
  harness.workspace.lineEnding = '\r\n';
  const result = await harness.run('write_file', { path: 'new.ts', content: 'a\nb\n' });
  assert.match(result.content, /a new file of 2 lines, with CRLF line endings as the workspace sets\.$/);
  await harness.run('edit_file', { path: 'edited.ts', edits: [{ old: '', new: 'a\nb\n' }] });
  await harness.run('write_file', { path: 'exact.ts', content: 'a\r\nb\n' });
  await harness.run('write_file', { path: 'run', content: '#!/bin/sh\nb\n' });
  await harness.run('write_file', { path: 'one', content: 'a' });
  assert.deepEqual(
    harness.staged.map(({ changes }) => textIn(changes?.[0]?.after)),
    ['a\r\nb\r\n', 'a\r\nb\r\n', 'a\r\nb\n', '#!/bin/sh\nb\n', 'a'],
  );
});

test('the diff of a rewrite is bounded in lines and in characters', async () => {
  const text = (word: string, length: number): string =>
    Array.from({ length: 500 }, (_, i) => `${word} ${i} ${'x'.repeat(length)}\n`).join('');
  for (const [length, end] of [
    [0, /\n\[921 more lines not shown\]$/],
    [1_000, /\n\[Cut off: \d+ more characters\.\]$/],
  ] as const) {
    const harness = new ToolHarness({ a: text('old', length) });
    const { content } = await harness.run('write_file', { path: 'a', content: text('new', length) });
    assert.match(content, end);
    assert.ok(content.length < 9_000);
  }
});
