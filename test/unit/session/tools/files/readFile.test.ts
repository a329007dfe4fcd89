import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolHarness } from '../../../../support/toolHarness.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `l${i + 1}\n`).join('');
const read = async (files: Record<string, string>, args: object): Promise<string> => {
  const result = await new ToolHarness(files).run('read_file', { path: 'a', ...args });
  return `${result.isError ? 'ERROR ' : ''}${result.content}`;
};

test('lines are numbered from 1, whatever their endings', async () => {
  assert.equal(await read({ a: 'x\r\ny\nz' }, {}), 'a, lines 1-3 of 3.\n1\tx\n2\ty\n3\tz');
});

test('a range shows only its lines', async () => {
  assert.equal(
    await read({ a: numbered(9) }, { startLine: 3, endLine: 4 }),
    'a, lines 3-4 of 9.\n3\tl3\n4\tl4',
  );
  assert.equal(await read({ a: numbered(3) }, { startLine: 3 }), 'a, lines 3-3 of 3.\n3\tl3');
  assert.match(await read({ a: numbered(3) }, { endLine: 99 }), /^a, lines 1-3 of 3\.\n/);
});

test('a range beyond the end, a reversed one, or one that is none is an error', async () => {
  assert.equal(
    await read({ a: numbered(3) }, { startLine: 4 }),
    'ERROR a has only 3 lines. Choose a smaller startLine.',
  );
  assert.match(await read({ a: numbered(9) }, { startLine: 5, endLine: 3 }), /^ERROR .*endLine/);
  for (const args of [{ startLine: -2 }, { startLine: 1.5 }, { endLine: -2 }, { startLine: 'one' }]) {
    assert.match(await read({ a: 'x' }, args), /^ERROR Invalid arguments for read_file\. (start|end)Line: /);
  }
});

test('a long file is shown in part, with the startLine to read on from', async () => {
  const first = await read({ a: numbered(4_500) }, {});
  assert.match(first, /^a, lines 1-2000 of 4500\. To read on, use startLine 2001\.\n1\tl1\n/);
  assert.ok(first.endsWith('\n2000\tl2000'));
  assert.match(await read({ a: numbered(4_500) }, { startLine: 4_001 }), /^a, lines 4001-4500 of 4500\.\n/);
  assert.match(
    await read({ a: numbered(4_500) }, { startLine: 2, endLine: 2_002 }),
    /lines 2-2001 .*use startLine 2002\./,
  );
});

test('no line is left out between two parts of a file with long lines', async () => {
  const lines = Array.from({ length: 3_000 }, (_, i) => `${i + 1} ${'x'.repeat(150)}`);
  const harness = new ToolHarness({ a: lines.join('\n') });
  const seen: string[] = [];
  for (let startLine: number | undefined = 1; startLine !== undefined;) {
    const { content } = await harness.run('read_file', { path: 'a', startLine });
    assert.doesNotMatch(content, /Cut off/);
    const [head = '', ...rows] = content.split('\n');
    seen.push(...rows.map(row => row.replace(/^\d+\t/, '')));
    const next = /use startLine (\d+)/.exec(head)?.[1];
    startLine = next === undefined ? undefined : Number(next);
  }
  assert.deepEqual(seen, lines);
});

test('a long line is cut and says so', async () => {
  assert.equal(
    await read({ a: 'x'.repeat(2_001) }, {}),
    `a, lines 1-1 of 1.\n1\t${'x'.repeat(2_000)} [line cut: 2001 characters]`,
  );
  assert.ok(!(await read({ a: 'x'.repeat(2_000) }, {})).includes('cut'));
});

test('an empty file is reported as empty; a missing and a binary one are errors', async () => {
  assert.equal(await read({ a: '' }, {}), 'a is empty.');
  assert.match(await read({}, {}), /^ERROR There is no file a\. Use list_files/);
  assert.match(await read({ a: 'x\0' }, {}), /^ERROR a is not a text file/);
});

test('unsaved text is what is read', async () => {
  const harness = new ToolHarness({ a: 'saved' });
  harness.workspace.type('a', 'typed');
  assert.match((await harness.run('read_file', { path: 'a' })).content, /1\ttyped$/);
});

const PNG = Uint8Array.from([...Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 1, 2]);

test('an image is shown with its result; one that is too large, or that nobody can be shown, is refused', async () => {
  const harness = new ToolHarness({ 'a.png': PNG, 'text.png': 'no image' });
  harness.workspace.put('b.PNG', Uint8Array.from([...PNG, ...new Uint8Array(5 << 20)]));
  const refused = await harness.run('read_file', { path: 'a.png' });
  assert.equal(refused.content, 'a.png is an image, which cannot be shown here.');
  assert.equal(refused.isError, true);
  const kept: Uint8Array[] = [];
  const image = { file: 's.images/1.png', type: 'image/png', bytes: PNG.length } as const;
  harness.keepImage = bytes => {
    kept.push(bytes);
    return Promise.resolve(image);
  };
  const shown = await harness.run('read_file', { path: 'a.png' });
  assert.deepEqual([shown.content, shown.image], ['a.png: an image (image/png, 10 bytes).', image]);
  assert.deepEqual(kept, [PNG]);
  const large = await harness.run('read_file', { path: 'b.PNG' });
  assert.match(large.content, /5 MB/);
  assert.deepEqual([large.isError, large.image], [true, undefined]);
  assert.match((await harness.run('read_file', { path: 'text.png' })).content, /1\tno image$/);
  assert.equal(kept.length, 1);
});

test('an image outside the workspace, or where none is, is refused as a text is', async () => {
  for (const path of ['../a.png', '/etc/a.png', '.git/a.png']) {
    const harness = new ToolHarness({ 'a.png': PNG });
    harness.keepImage = () => assert.fail('it was shown');
    const image = await harness.run('read_file', { path });
    const text = await harness.run('read_file', { path: path.replace('.png', '.txt') });
    assert.equal(image.isError, true);
    assert.equal(image.content.replace('.png', '.txt'), text.content);
  }
});
