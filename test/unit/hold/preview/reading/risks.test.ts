import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkTo, type FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { exportChange } from '../../../../../src/agent/hold/preview/reading/exports.ts';
import { isConfiguration, risksOf, type Risk } from '../../../../../src/agent/hold/preview/reading/risks.ts';
import {
  stillImported,
  type FindLines,
} from '../../../../../src/agent/hold/preview/reading/stillImported.ts';
import { fewerTests } from '../../../../../src/agent/hold/preview/reading/testFiles.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { previewWith } from '../../../../support/previewWith.ts';

function risks(changes: readonly FileChange[], plan?: string): Promise<readonly Risk[]> {
  return risksOf(previewWith({ changes }), plan);
}

test('what is harmless has no mark', async () => {
  const changes = [
    modify(
      'src/a.ts',
      'export function total(a: number) {\n  return a;\n}\n',
      'export function total(a: number) {\n  return a * 2;\n}\n',
    ),
    create('src/b.ts', 'export const b = 1;\n'),
    rename('src/c.ts', 'src/d.ts', 'export const c = 1;\n'),
    modify('README.md', 'a\n', 'b\n'),
  ];
  assert.deepEqual(await risks(changes), []);
  assert.deepEqual(await risksOf(previewWith({ kind: 'action', changes: null }), undefined), []);
});

test('a deleted file is marked, and so is a deletion among other changes', async () => {
  assert.deepEqual(await risks([modify('a.txt', '1', '2'), remove('b.txt', 'x')]), [
    { kind: 'deletes', path: 'b.txt' },
  ]);
});

test('a file that makes a folder a repository of git is marked, in any case, however it comes there', async () => {
  const found = await risks([
    create('fixtures/a/HEAD', 'ref: refs/heads/main\n'),
    modify('b/head', '1', '2'),
    rename('c/x', 'c/HEAD', '1'),
    create('src/head/a.ts', 'x'),
    create('HEAD.md', 'x'),
    remove('HEAD', 'x'),
  ]);
  assert.deepEqual(found, [
    { kind: 'repository', path: 'fixtures/a/HEAD' },
    { kind: 'repository', path: 'b/head' },
    { kind: 'repository', path: 'c/HEAD' },
    { kind: 'deletes', path: 'HEAD' },
  ]);
});

test('other work runs while many files are looked at', async () => {
  const text = 'export const value = compute(1);\n'.repeat(100);
  const edits = [{ start: 0, end: 0, text: '\n' }];
  const changes = Array.from({ length: 200 }, (_, i) => modify(`${i}.ts`, text, `\n${text}`, edits));
  let isOtherDone = false;
  setImmediate(() => (isOtherDone = true));
  assert.deepEqual(await risks(changes), []);
  assert.ok(isOtherDone);
});

test('the gravest risk comes first', async () => {
  const found = await risks([
    modify('package.json', '{}\n', '{ "a": 1 }\n'),
    remove('old.ts', 'x'),
    create('key.ts', "const apiToken = 'a8f7d6e5c4b3a291';\n"),
  ]);
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['secret', 'deletes', 'configuration'],
  );
});

const exported: readonly [path: string, before: string, after: string, gone: string[], changed: string[]][] =
  [
    ['a.ts', 'export const a = 1;\nexport const b = 2;', 'export const a = 1;', ['b'], []],
    [
      'a.ts',
      'export function f(a: string): void {\n}',
      'export function f(a: string, b: number): void {\n}',
      [],
      ['f'],
    ],
    [
      'a.ts',
      'export function f(a: { b: 1 }) {\n  x();\n}',
      'export function f(a: { b: 2 }) {\n  x();\n}',
      [],
      ['f'],
    ],
    ['a.ts', 'export const f = (a: string) => a;', 'export const f = (a: number) => a;', [], ['f']],
    ['a.ts', 'export const a: string = x;', 'export const a: number = x;', [], ['a']],
    ['a.ts', 'export interface A {\n  a: 1;\n}\n', 'export interface A {\n  a: 2;\n}\n', [], ['A']],
    ['a.ts', 'export type A = 1;\nconst x = 1;', 'export type A = 1 | 2;\nconst x = 1;', [], ['A']],
    ['a.ts', 'export { a, b as c };', 'export { a };', ['c'], []],
    ['a.js', 'export default class A {}', 'class A {}', ['default'], []],
    ['a.cjs', 'exports.a = 1;\nmodule.exports.b = 2;', 'exports.a = 2;', ['b'], []],
    ['a.py', 'def f(a):\n  pass\ndef _g():\n  pass', 'def f(a, b):\n  pass', [], ['f']],
    ['a.go', 'func Total(a int) int {\n}\nfunc own() {}', 'func Total(a int64) int {\n}', [], ['Total']],
    [
      'a.rs',
      'pub fn total(a: u32) -> u32 {\n}\nfn own() {}',
      'pub fn total(a: u64) -> u32 {\n}',
      [],
      ['total'],
    ],
  ];
for (const [path, before, after, gone, changed] of exported)
  test(`in ${path}, from ${JSON.stringify(before)} to ${JSON.stringify(after)}, exports change`, () => {
    assert.deepEqual(exportChange(path, before, after), { gone, changed });
  });

const same: readonly [path: string, before: string, after: string][] = [
  [
    'a.ts',
    'export function f(a: string) {\n  one();\n}',
    'export function f(\n  a: string,\n) {\n  two();\n}',
  ],
  ['a.ts', 'export const a = 1;', 'export const a = 2;\nexport const b = 3;'],
  ['a.ts', 'const f = (a: string) => a;', 'const g = 1;'],
  ['a.ts', 'export class A {\n  a = 1;\n}', 'export class A {\n  a = 2;\n}'],
  ['a.py', 'def f(a):\n  return 1', 'def f(a):\n  return 2'],
  ['a.txt', 'export const a = 1;', ''],
];
for (const [path, before, after] of same)
  test(`in ${path}, from ${JSON.stringify(before)} to ${JSON.stringify(after)}, no export changes`, () => {
    assert.equal(exportChange(path, before, after), undefined);
  });

test('a test that is gone, skipped or asserts less is marked', async () => {
  const before = "test('a', () => {\n  assert.equal(1, 1);\n  assert.ok(x);\n});\ntest('b', () => {});\n";
  const after = "test.only('a', () => {\n  assert.equal(1, 1);\n});\n";
  assert.deepEqual(await risks([modify('test/a.test.ts', before, after)]), [
    { kind: 'tests', path: 'test/a.test.ts', dropped: 1, skipped: 1, assertions: 1 },
  ]);
  assert.deepEqual(
    (await risks([remove('test/a.test.ts', before)])).map(({ kind }) => kind),
    ['deletes', 'tests'],
  );
  assert.equal(fewerTests(before, `${before}test('c', () => {});\n`), undefined);
  assert.equal(
    fewerTests('def test_a():\n  assert x\n', '@pytest.mark.skip\ndef test_a():\n  assert x\n')?.skipped,
    1,
  );
  assert.equal(fewerTests('func TestA(t *testing.T) {\n}\n', '')?.dropped, 1);
  assert.equal(
    fewerTests("it('a', () => { expect(1).toBe(1); });", "// it('a', () => { expect(1).toBe(1); });")
      ?.dropped,
    1,
  );
});

test('configuration and continuous integration are known by their names', () => {
  for (const path of [
    '.github/workflows/ci.yml',
    'package.json',
    'sub/package-lock.json',
    'tsconfig.build.json',
    'Dockerfile',
    '.env.local',
    'vite.config.ts',
    'pyproject.toml',
    'Cargo.lock',
    '.vscode/settings.json',
    'app/build.gradle.kts',
  ])
    assert.ok(isConfiguration(path), path);
  for (const path of ['src/package.ts', 'src/config.ts', 'docs/Makefile.md', 'data.json', 'environment.ts'])
    assert.ok(!isConfiguration(path), path);
});

const secrets = [
  "const key = 'AKIAABCDEFGHIJKLMNOP';",
  '-----BEGIN RSA PRIVATE KEY-----',
  `token: ghp_${'a1'.repeat(18)}`,
  'DATABASE=postgres://admin:hunter22@db.local/shop',
  '  "password": "tr0ub4dor-and-3",',
  'const apiKey: string = "0123456789abcdef";',
];
for (const line of secrets)
  test(`a line such as ${line} is marked once it is added`, async () => {
    assert.deepEqual(await risks([modify('a.ts', 'one\n', `one\n${line}\n`)]), [
      { kind: 'secret', path: 'a.ts', line: 2 },
    ]);
    assert.deepEqual(await risks([modify('a.ts', `${line}\n`, `  ${line}\n`)]), [], 'it was there before');
    assert.deepEqual(await risks([modify('a.ts', `${line}\nx\n`, 'x\n')]), [], 'it is gone');
  });

const noSecrets = [
  'const password = process.env.PASSWORD;',
  "const passwordLabel = 'Your password please';",
  'const token = "${TOKEN}";',
  "const secret = 'example-secret-1';",
  'postgres://user:${PASSWORD}@host/db',
  'https://example.com/a:b@c',
];
for (const line of noSecrets)
  test(`a line such as ${line} is not`, async () => {
    assert.deepEqual(await risks([create('a.ts', `${line}\n`)]), []);
  });

test('more than 200 changed lines are many', async () => {
  const lines = (count: number): string => 'x\n'.repeat(count);
  assert.deepEqual(await risks([create('a.txt', lines(200))]), []);
  assert.deepEqual(await risks([create('a.txt', lines(150)), remove('b.txt', lines(51))]), [
    { kind: 'deletes', path: 'b.txt' },
    { kind: 'large', lines: 201 },
  ]);
});

test('what the approved plan does not name is outside of it, if it names files at all', async () => {
  const plan = '1. Change `src/cart.ts`.\n2. Add tests in test/cart/ with Node.js.\n';
  const changes = ['src/cart.ts', 'test/cart/a.ts', 'src/other.ts'].map(path => create(path, 'x\n'));
  assert.deepEqual(await risks(changes, plan), [{ kind: 'outsidePlan', path: 'src/other.ts' }]);
  assert.deepEqual(await risks(changes, 'Make it faster, e.g. with items.map in Node.js.'), []);
  assert.deepEqual(await risks(changes), []);
});

test('a link and a binary file have only what their names tell', async () => {
  const link: FileChange = { kind: 'create', path: '.github/x', before: null, after: linkTo('/etc/passwd') };
  assert.deepEqual(await risks([link]), [{ kind: 'configuration', path: '.github/x' }]);
});

test('a file that is gone and that others still import is marked, with who imports it', async () => {
  const lines = [
    { path: 'src/cart.ts', text: "import { format } from './money';" },
    { path: 'src/receipt.ts', text: "} from '../src/money.js';" },
    { path: 'src/other/cart.ts', text: "import { format } from './money';" },
    { path: 'src/notes.ts', text: '// money is the root of it' },
    { path: 'src/money.ts', text: "export * from './money';" },
    { path: 'README.md', text: 'See src/money.ts' },
  ];
  const asked: string[] = [];
  const find: FindLines = word => {
    asked.push(word);
    return Promise.resolve(lines);
  };
  const gone = [remove('src/money.ts', 'x\n'), rename('lib/tax.ts', 'lib/taxes.ts', 'x\n')];
  assert.deepEqual(await risksOf(previewWith({ changes: gone }), undefined, find), [
    { kind: 'imported', path: 'src/money.ts', by: ['src/cart.ts', 'src/receipt.ts'] },
    { kind: 'deletes', path: 'src/money.ts' },
  ]);
  assert.deepEqual(asked, ['money', 'tax']);
});

for (const [path, from, text] of [
  ['shop/tax.py', 'shop/cart.py', 'from .tax import rate'],
  ['shop/tax/__init__.py', 'main.py', 'import shop.tax'],
  ['src/tax.rs', 'src/main.rs', 'mod tax;'],
  ['shop/tax/rate.go', 'main.go', '\t"example.com/shop/tax"'],
  ['styles/_tax.scss', 'styles/main.scss', "@use 'tax';"],
  ['src/tax/index.ts', 'src/cart.ts', "const tax = require('./tax');"],
] as const)
  test(`${text.trim()} in ${from} imports ${path}`, async () => {
    const found = await stillImported([remove(path, 'x\n')], () => Promise.resolve([{ path: from, text }]));
    assert.deepEqual(found, [{ kind: 'imported', path, by: [from] }]);
  });
