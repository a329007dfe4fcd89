import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolHarness } from '../../../../support/toolHarness.ts';

test('the files that match are listed', async () => {
  const harness = new ToolHarness({ 'src/b.ts': '', 'src/a.ts': '', 'c.md': '' });
  const { content } = await harness.run('list_files', { glob: 'src/**' });
  assert.equal(content, '2 files match src/**:\nsrc/a.ts\nsrc/b.ts');
});

test('no match is not an error', async () => {
  const result = await new ToolHarness().run('list_files', { glob: '*.py' });
  assert.equal(
    result.content,
    'No file matches *.py. Ignored files are not listed; read_file reads them if you know the path.',
  );
  assert.equal(result.isError, false);
});

test('a list that ends before the first file that is not ignored does not say that there is none', async () => {
  const harness = new ToolHarness();
  harness.workspace.list = () => Promise.resolve({ paths: [], truncated: true });
  const { content } = await harness.run('list_files', { glob: '**' });
  assert.equal(
    content,
    'Too many files match **, and the first ones are all ignored. Narrow the glob to see the others.',
  );
});

test('a list that is too long is cut and says so', async () => {
  const files = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`f${i}`, '']));
  const { content } = await new ToolHarness(files).run('list_files', { glob: '*' });
  assert.match(content, /^The first 1000 files that match \*; narrow the glob to see the others:\n/);
  assert.equal(content.split('\n').length, 1_001);
});

test('of paths that are too long together, those that are listed are counted', async () => {
  const name = (i: number): string => `${'folder/'.repeat(30)}${i}`;
  const files = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [name(i), '']));
  const { content } = await new ToolHarness(files).run('list_files', { glob: '**' });
  const [head = '', ...paths] = content.split('\n');
  assert.equal(head, `The first ${paths.length} files that match **; narrow the glob to see the others:`);
  assert.ok(paths.every(path => /\/\d+$/.test(path)));
});

test('a glob that no path needs is refused before it is matched', async () => {
  const { content, isError } = await new ToolHarness().run('list_files', { glob: 'x'.repeat(1_001) });
  assert.equal(isError, true);
  assert.match(content, /glob.*1000/);
});

test('a folder is listed with what it holds: what lies deeper is folded and counted', async () => {
  const files = { 'a.md': '', 'src/b.ts': '', 'src/x/c.ts': '', 'src/x/d.ts': '', 'test/e.ts': '' };
  const list = async (args: object): Promise<string> =>
    (await new ToolHarness(files).run('list_files', args)).content;
  assert.equal(
    await list({ glob: '**', depth: 1 }),
    '5 files match **:\na.md\nsrc/ (3 files)\ntest/ (1 file)',
  );
  assert.equal(await list({ glob: 'src/**', depth: 2 }), '3 files match src/**:\nsrc/b.ts\nsrc/x/ (2 files)');
});

test('a folder, several of them, or the whole workspace are named as they are', async () => {
  const files = { 'a.md': '', 'src/b.ts': '', 'src/x/c.ts': '', 'test/e.ts': '' };
  const list = async (glob: unknown): Promise<string> => {
    const { content } = await new ToolHarness(files).run('list_files', { glob });
    return content.slice(content.indexOf('\n') + 1).replaceAll('\n', ' ');
  };
  for (const glob of ['src', './src/', 'src/**', ['src']])
    assert.equal(await list(glob), 'src/b.ts src/x/c.ts');
  for (const glob of ['.', './', '**']) assert.equal(await list(glob), 'a.md src/b.ts src/x/c.ts test/e.ts');
  assert.equal(await list(['test', 'src/{x,y}/**', '*.md']), 'a.md src/x/c.ts test/e.ts');
  assert.equal(await list('a.md'), 'a.md');
});

test('a folded list counts more files than a list shows', async () => {
  const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`src/f${i}`, '']));
  const { content } = await new ToolHarness(files).run('list_files', { glob: '**', depth: 1 });
  assert.equal(content, '1500 files match **:\nsrc/ (1500 files)');
});
