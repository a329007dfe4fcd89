import { test } from 'node:test';
import assert from 'node:assert/strict';
import { create, encodingIn, modify, textIn } from '../../../../support/changes.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

const edit = (path: string, ...edits: (readonly [string, string])[]) => ({
  path,
  edits: edits.map(([old, replacement]) => ({ old, new: replacement })),
});

test('an edit is staged with the exact content before and after, and the file is not touched', async () => {
  const harness = new ToolHarness({ 'src/a.ts': 'one\ntwo\n' });
  const result = await harness.run('edit_file', edit('src/a.ts', ['two', '2']));
  assert.equal(result.isError, false);
  assert.equal(result.content, 'Staged as p1, no file modified yet.\nsrc/a.ts: 1 edit.\n-2:two\n+2:2');
  assert.deepEqual(harness.staged, [
    {
      label: 'Edit src/a.ts (1 edit)',
      labelParts: ['Edit src/a.ts (', { noun: 'edit', count: 1 }, ')'],
      title: 'a.ts:2 two → 2',
      sourceToolName: 'edit_file',
      changes: [modify('src/a.ts', 'one\ntwo\n', 'one\n2\n', [{ start: 4, end: 7, text: '2' }])],
    },
  ]);
  assert.deepEqual(harness.workspace.writes, []);
});

for (const [what, old, now, echo] of [
  ['takes a line break away', 'one\n', 'one ', '-1:one\n-2:two\n+1:one two'],
  ['breaks a line', 'tw', 't\n', '-2:two\n+2:t\n+3:o'],
  ['adds an empty line', 'two', 'two\n', '-2:two\n+2:two\n+3:'],
  ['replaces a whole line', 'one\n', '1\n', '-1:one\n+1:1'],
] as const)
  test(`the echo of an edit that ${what} has the lines that are there`, async () => {
    const harness = new ToolHarness({ a: 'one\ntwo\nlast\n' });
    const { content } = await harness.run('edit_file', edit('a', [old, now]));
    assert.ok(content.endsWith(`\n${echo}`), content);
  });

test('the echo of an edit has the numbers of its lines after all edits above it', async () => {
  const harness = new ToolHarness({ a: 'one\ntwo\nthree\nfour\n' });
  const { content } = await harness.run('edit_file', edit('a', ['one', '1\n1'], ['four', '4']));
  assert.ok(content.endsWith('\n-1:one\n+1:1\n+2:1\n-4:four\n+5:4'), content);
});

test('several edits of one file are one preview', async () => {
  const harness = new ToolHarness({ a: 'one two three' });
  const result = await harness.run('edit_file', edit('a', ['three', '3'], ['one', '1']));
  assert.equal(harness.staged.length, 1);
  assert.equal(harness.staged[0]?.label, 'Edit a (2 edits)');
  assert.deepEqual(harness.staged[0].changes, [
    modify('a', 'one two three', '1 two 3', [
      { start: 0, end: 3, text: '1' },
      { start: 8, end: 13, text: '3' },
    ]),
  ]);
  assert.match(result.content, /a: 2 edits\.\n-1:one\n\+1:1\n-1:three\n\+1:3$/);
});

const note = '\\ No newline at end of file';
for (const [what, text, old, replacement, shown] of [
  ['goes', 'a\nb\n', 'b\n', 'b', ['-2:b', '+2:b', note]],
  ['comes', 'a\nb', 'b', 'b\n', ['-2:b', note, '+2:b']],
  ['stays', 'a\nb\n', 'b\n', 'c\n', ['-2:b', '+2:c']],
  ['stays away', 'a\nb', 'b', 'c', ['-2:b', '+2:c']],
  ['goes with its line', 'a\nb\n', '\nb\n', '', ['-1:', '-2:b', note]],
  ['of another line goes', 'a\nb\n', 'a\n', 'a', ['-1:a', '-2:b', '+1:ab']],
  ['of another line stays', 'a\nb\n', 'a\n', 'c\n', ['-1:a', '+1:c']],
] as const)
  test(`the final newline that ${what} is told as that`, async () => {
    const { content } = await new ToolHarness({ f: text }).run('edit_file', edit('f', [old, replacement]));
    assert.deepEqual(content.split('\n').slice(2), shown);
  });

test('lines are counted as read_file does, whatever ends them', async () => {
  const harness = new ToolHarness({ a: 'one\rtwo\r\r\nthree\nfour' });
  const result = await harness.run('edit_file', edit('a', ['two', '2'], ['three\nfour', '3\n4']));
  assert.match(result.content, /\n-2:two\n\+2:2\n-4:three\n-5:four\n\+4:3\n\+5:4$/);
  const old = new ToolHarness({ a: 'one\rtwo\rthree' });
  const rows = await old.run('edit_file', edit('a', ['two\rthree', '2\r3']));
  assert.match(rows.content, /\n-2:two\n-3:three\n\+2:2\n\+3:3$/);
  const overlap = await old.run('edit_file', edit('a', ['one\rtwo', '1'], ['two\rthree', '3']));
  assert.match(overlap.content, /Two edits overlap at line 2 of a/);
  await old.run('edit_file', edit('a', ['two', '2']));
  assert.equal(old.staged.at(-1)?.title, 'a:2 two → 2');
});

test('unsaved text is what is edited', async () => {
  const harness = new ToolHarness({ a: 'saved' });
  harness.workspace.type('a', 'typed');
  await harness.run('edit_file', edit('a', ['typed', 'x']));
  assert.deepEqual(harness.staged[0]?.changes, [
    modify('a', 'typed', 'x', [{ start: 0, end: 5, text: 'x' }]),
  ]);
});

test('the byte order mark and the encoding of the file are kept', async () => {
  const harness = new ToolHarness({ a: Buffer.from('\ufeffone', 'utf16le') });
  await harness.run('edit_file', edit('a', ['one', 'zwei']));
  const [change] = harness.staged[0]?.changes ?? [];
  assert.deepEqual(encodingIn(change?.after), { name: 'utf16le', bom: true });
  assert.equal(textIn(change?.after), 'zwei');
});

test('an edit that changes nothing stages nothing, and says so', async () => {
  const harness = new ToolHarness({ a: 'same' });
  const result = await harness.run('edit_file', edit('a', ['same', 'same']));
  assert.equal(result.content, 'Nothing to change: a already has exactly this content. Nothing was staged.');
  assert.equal(result.isError, false);
  assert.deepEqual(harness.staged, []);
});

test('an empty old text on a file that does not exist creates it', async () => {
  const harness = new ToolHarness();
  const result = await harness.run('edit_file', edit('new.ts', ['', 'text\n']));
  assert.deepEqual(harness.staged, [
    {
      label: 'Create new.ts',
      title: 'Create new.ts',
      sourceToolName: 'edit_file',
      changes: [create('new.ts', 'text\n')],
    },
  ]);
  assert.match(result.content, /^Staged as p1, no file modified yet\.\nnew\.ts: a new file\.$/);
});

test('a file that does not exist cannot be edited, and is not created by mistake', async () => {
  for (const edits of [
    [['x', 'y']],
    [
      ['', 'a'],
      ['', 'b'],
    ],
    [
      ['', 'a'],
      ['x', 'y'],
    ],
  ] as [string, string][][]) {
    const harness = new ToolHarness();
    const result = await harness.run('edit_file', edit('none.ts', ...edits));
    assert.equal(result.isError, true);
    assert.match(result.content, /^There is no file none\.ts\. Use list_files/);
    assert.deepEqual(harness.staged, []);
  }
});

test('an edit that cannot be located is an error for the model, and nothing is staged', async () => {
  const harness = new ToolHarness({ a: 'one two' });
  const result = await harness.run('edit_file', edit('a', ['one', '1'], ['three', '3']));
  assert.equal(result.isError, true);
  assert.match(result.content, /^edits\.1\.old was not found in a\./);
  assert.deepEqual(harness.staged, []);
  assert.deepEqual(harness.errors, [], 'the log does not report an error of the model');
});

const places: readonly [path: string, error: RegExp][] = [
  ['../outside', /outside the workspace/],
  ['/etc/passwd', /outside the workspace/],
  ['.git/config', /git/],
  ['src', /is a folder/],
];
for (const [path, error] of places) {
  test(`${path} is refused`, async () => {
    const harness = new ToolHarness({ 'src/a.ts': 'x' });
    for (const [tool, args] of [
      ['edit_file', edit(path, ['x', 'y'])],
      ['write_file', { path, content: 'x' }],
      ['read_file', { path }],
    ] as const) {
      const result = await harness.run(tool, args);
      assert.equal(result.isError, true, tool);
      assert.match(result.content, error);
    }
    assert.deepEqual(harness.staged, []);
  });
}

test('a binary file and one over the size limit are refused', async () => {
  const harness = new ToolHarness({ bin: Uint8Array.of(0, 1, 2), big: 'x'.repeat(5 * 1024 * 1024 + 1) });
  const result = await harness.run('edit_file', edit('bin', ['x', 'y']));
  assert.match(result.content, /^bin is not a text file in UTF-8 or UTF-16/);
  assert.match((await harness.run('edit_file', edit('big', ['x', 'y']))).content, /over 5 MB/);
});

test('a long edit is shown in part and says how much is missing', async () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');
  const harness = new ToolHarness({ a: lines });
  const { content } = await harness.run('edit_file', edit('a', [lines, 'x']));
  assert.match(content, /\n-20:line 19\n\[11 more lines not shown\]$/);
});

for (const args of [
  { path: 'a' },
  { path: 'a', edits: [] },
  { path: '', edits: [{ old: 'a', new: 'b' }] },
  { path: 'a', edits: [{ old: 'a' }] },
  { path: 'a', edits: [{ old: 1, new: 'b' }] },
  { path: 'a', edits: 'x' },
]) {
  test(`arguments ${JSON.stringify(args)} are refused by name`, async () => {
    const result = await new ToolHarness({ a: 'a' }).run('edit_file', args);
    assert.equal(result.isError, true);
    assert.match(
      result.content,
      /^Invalid arguments for edit_file\. (path|edits(\.0\.(old|new))?): .*call it again\.$/,
    );
  });
}

test('replaceAll replaces every occurrence, and each is shown; without it they are refused', async () => {
  const harness = new ToolHarness({ a: 'x = 1\ny = x\nxx\n' });
  const edit = { old: 'x', new: 'z' };
  assert.match(
    (await harness.run('edit_file', { path: 'a', edits: [edit] })).content,
    /occurs 4 times in a .* or set replaceAll\.$/,
  );
  const { content } = await harness.run('edit_file', { path: 'a', edits: [{ ...edit, replaceAll: true }] });
  assert.match(content, /\na: 4 edits\.\n-1:x\n\+1:z\n-2:x\n\+2:z\n/);
  assert.equal(textIn(harness.staged[0]?.changes?.[0]?.after), 'z = 1\ny = z\nzz\n');
});

test('replaceAll takes the first of occurrences that overlap, and keeps line endings', async () => {
  const harness = new ToolHarness({ a: 'aaa\r\naa\r\n' });
  await harness.run('edit_file', { path: 'a', edits: [{ old: 'aa', new: 'b\nb', replaceAll: true }] });
  assert.equal(textIn(harness.staged[0]?.changes?.[0]?.after), 'b\r\nba\r\nb\r\nb\r\n');
});
