import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAttachments } from '../../../../../src/views/chat/attachments/attachmentReader.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';

const keepNone = () => Promise.resolve(undefined);
const workspace = new MemoryWorkspace({
  'a.ts': 'one\ntwo\nthree\n',
  'long.txt': `${'x'.repeat(999)}\n`.repeat(100),
  'line.txt': 'y'.repeat(70_000),
});

test('a whole file, some lines, and a range that reaches beyond the end', async () => {
  const read = await readAttachments(
    workspace,
    [
      { path: 'a.ts' },
      { path: 'a.ts', startLine: 2, endLine: 2 },
      { path: 'a.ts', startLine: 2, endLine: 9 },
    ],
    keepNone,
  );
  assert.deepEqual(read, [
    { path: 'a.ts', text: 'one\ntwo\nthree\n' },
    { path: 'a.ts', startLine: 2, endLine: 2, text: 'two\n' },
    { path: 'a.ts', startLine: 2, endLine: 3, text: 'two\nthree\n' },
  ]);
});

test('long text is truncated at the end of a line, and a note says so', async () => {
  const [lines, line] = await readAttachments(
    workspace,
    [{ path: 'long.txt' }, { path: 'line.txt' }],
    keepNone,
  );
  assert.equal(lines?.text.length, 60_000);
  assert.match(lines.note ?? '', /only lines 1-60 of 1-100 are attached/);
  assert.equal(line?.text.length, 60_000);
  assert.match(line.note ?? '', /^Truncated/);
});

test('a file that cannot be read has a note instead', async () => {
  const read = await readAttachments(
    workspace,
    [{ path: 'missing.ts' }, { path: '../outside.ts' }, { path: 'a.ts', startLine: 7, endLine: 8 }],
    keepNone,
  );
  for (const { text, note } of read) {
    assert.equal(text, '');
    assert.ok(note !== undefined && note !== '');
  }
  assert.equal(read[2]?.note, 'The file now ends at line 3.');
});

test('an image is kept with the session under its new name, or has a note if it is gone', async () => {
  const image = { file: 'drafts.images/a.png', type: 'image/png', bytes: 3 } as const;
  const ref = { path: 'shot.png', image: { ...image, src: 'https://panel/a.png' } };
  const kept = { ...image, file: 's1.images/a.png' };
  assert.deepEqual(await readAttachments(workspace, [ref], () => Promise.resolve(kept)), [
    { path: 'shot.png', image: kept, text: '' },
  ]);
  const failing = () => Promise.reject(new Error('disk'));
  for (const keep of [keepNone, failing]) {
    const [gone] = await readAttachments(workspace, [ref], keep);
    assert.deepEqual([gone?.image, gone?.note], [undefined, 'The image is no longer there.']);
  }
});
