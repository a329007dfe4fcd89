import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { toolParameters } from '../../../../src/agent/session/tools/custom/loading/parameters.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

const edits = [{ old: 'a', new: 'b' }];
const accepted: readonly [string, unknown][] = [
  ['an array as text', { path: 'a', edits: JSON.stringify(edits) }],
  ['one object for an array', { path: 'a', edits: edits[0] }],
  ['one object for an array, as text', { path: 'a', edits: JSON.stringify(edits[0]) }],
  ['an item as text', { path: 'a', edits: [JSON.stringify(edits[0])] }],
  ['all of it encoded twice', JSON.stringify(JSON.stringify({ path: 'a', edits }))],
  ['null for a field that may be left out', { path: 'a', edits: JSON.stringify(edits), title: null }],
  ['names of another tool', { file_path: 'a', edits: [{ old_string: 'a', new_string: 'b' }] }],
];
for (const [what, args] of accepted)
  test(`${what} is repaired`, async () => {
    const harness = new ToolHarness({ a: 'a' });
    const { content, isError } = await harness.run('edit_file', args);
    assert.equal(isError, false, content);
    assert.match(content, /^Staged as p1/);
  });

test('of two names for one field none is dropped: the call is refused', async () => {
  const harness = new ToolHarness({ 'a.ts': 'x\ny\nz\n', 'b.ts': 'x' });
  const refused: readonly [string, object, RegExp][] = [
    [
      'write_file',
      { filename: 'a.ts', target_file: 'b.ts', contents: 'y' },
      /no argument target_file \("b\.ts"\)/,
    ],
    [
      'edit_file',
      { path: 'a.ts', old_string: 'x', oldText: 'y', new_string: 'z' },
      /no argument oldText \("y"\)/,
    ],
    ['list_files', { directory: 'src', folder: 'test' }, /no argument folder \("test"\)/],
    ['read_file', { path: 'a.ts', startLine: 1, view_range: [2, 3] }, /no argument view_range/],
    ['read_file', { path: 'a.ts', startLine: 1, offset: 2 }, /no argument offset/],
    ['read_file', { path: 'a.ts', endLine: 1, limit: 2 }, /no argument limit/],
    ['read_file', { path: 'a.ts', offset: { toString: 1 } }, /no argument offset/],
    ['read_file', { path: 'a.ts', startLine: { valueOf: 1, toString: 1 } }, /startLine: /],
    ['read_file', { path: 'a.ts', limit: { toString: 1 } }, /no argument limit/],
  ];
  for (const [name, args, why] of refused) {
    const { content, isError } = await harness.run(name, args);
    assert.ok(isError, content);
    assert.match(content, why);
  }
  assert.deepEqual(harness.staged, []);
});

test('a folder and a glob within it are one glob', async () => {
  const harness = new ToolHarness({ 'a.ts': '', 'src/b.ts': '', 'src/c.md': '', 'src/x/d.ts': '' });
  const list = async (args: object): Promise<string> => (await harness.run('list_files', args)).content;
  const one = '1 file matches src/*.ts:\nsrc/b.ts';
  assert.equal(await list({ directory: 'src', pattern: '*.ts' }), one);
  assert.equal(await list({ pattern: '*.ts', path: 'src/' }), one);
  assert.equal(await list({ glob: '*.ts', path: 'src' }), one);
  assert.equal(
    await list({ path: 'src', include: ['**/*.ts'] }),
    '2 files match src/**/*.ts:\nsrc/b.ts\nsrc/x/d.ts',
  );
  assert.equal(await list({ path: '.', pattern: '*.ts' }), '1 file matches *.ts:\na.ts');
  assert.match(await list({ path: 'src', pattern: '' }), /^3 files match src:/);
});

test('null for each optional field of resolve is as if it was left out', async () => {
  const harness = new ToolHarness();
  const { content } = await harness.run('resolve', { action: 'apply', reason: 'r', id: null, extra: null });
  assert.equal(content, 'resolved');
  assert.deepEqual(Object.keys(harness.resolved[0] ?? {}).sort(), ['action', 'reason', 'signal']);
});

test('one id is the only one of a list, and may be JSON', async () => {
  const harness = new ToolHarness();
  await harness.run('resolve', { action: 'apply', reason: 'r', ids: 'p1' });
  await harness.run('resolve', { action: 'apply', reason: 'r', ids: '["p2"]' });
  assert.deepEqual(
    harness.resolved.map(({ id }) => id),
    ['p1', 'p2'],
  );
});

test('one path is the only one of a list', async () => {
  const harness = new ToolHarness({ a: 'a' });
  const got = await harness.run('get_diagnostics', { paths: 'a' });
  assert.doesNotMatch(got.content, /Invalid arguments/);
});

test('a number as text is the number', async () => {
  const { content } = await new ToolHarness({ a: 'x\ny\n' }).run('read_file', { path: 'a', startLine: '2' });
  assert.equal(content, 'a, lines 2-2 of 2.\n2\ty');
});

test('text that is wanted stays as it is, while its neighbours are repaired', async () => {
  const harness = new ToolHarness({ a: '["x"]' });
  const json = JSON.stringify([{ old: '["x"]', new: 'null' }]);
  const { content } = await harness.run('edit_file', { path: 'a', edits: json });
  assert.match(content, /\["x"\][\s\S]*null/);
});

test('JSON that is nested too deeply inside a text is refused', async () => {
  const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`;
  const { content } = await new ToolHarness().run('resolve', { action: 'apply', reason: 'r', extra: deep });
  assert.match(content, /nested more than 100 levels deep/);
});

for (const [kind, schema] of [
  ['zod', z.object({ files: z.array(z.string()), deep: z.boolean() })],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: { files: { type: 'array', items: { type: 'string' } }, deep: { type: 'boolean' } },
      required: ['files', 'deep'],
    },
  ],
] as const)
  test(`a tool of others with a schema in ${kind} passes the same gate`, async () => {
    const got: unknown[] = [];
    const others = {
      name: 'others',
      label: 'Others',
      description: '',
      ...toolParameters(schema),
      execute: (params: unknown) => {
        got.push(params);
        return Promise.resolve(textResult('done'));
      },
    };
    const harness = new ToolHarness({}, [others]);
    await harness.run('others', { files: '["a", "1"]', deep: 'true' });
    assert.deepEqual(got, [{ files: ['a', '1'], deep: true }]);
  });
