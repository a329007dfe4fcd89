import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { pendingImports } from '../../../../../src/agent/hold/preview/reading/pendingImports.ts';
import { inReadingOrder } from '../../../../../src/agent/hold/preview/reading/readingOrder.ts';
import { isTestFile } from '../../../../../src/agent/hold/preview/reading/testFiles.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

/** Previews of one change each, in the order given. */
function previewsOf(...changes: readonly (FileChange | readonly FileChange[])[]): readonly Preview[] {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  return changes.map(each => store.stage(draft({ changes: [each].flat() })).preview);
}

function read(...changes: readonly (FileChange | readonly FileChange[])[]): readonly string[] {
  return inReadingOrder(previewsOf(...changes)).map(({ changes: own }) => own?.[0]?.path ?? '');
}

test('definitions come before what imports them, then tests, moves and deletions', () => {
  assert.deepEqual(
    read(
      remove('src/old.ts', 'x'),
      rename('src/a.ts', 'src/b.ts', 'same'),
      create('test/cart.test.ts', "import { total } from '../src/cart.ts';\n"),
      modify(
        'src/cart.ts',
        '',
        "import type { Item } from './item';\nimport {\n  rate,\n} from './tax.js';\n",
      ),
      create('src/tax.ts', "import { Country } from './country';\nexport const rate = 1;\n"),
      create('src/country.ts', 'export type Country = string;\n'),
      create('src/item.ts', ''),
    ),
    [
      'src/item.ts',
      'src/country.ts',
      'src/tax.ts',
      'src/cart.ts',
      'test/cart.test.ts',
      'src/b.ts',
      'src/old.ts',
    ],
  );
});

test('what nothing orders stays as given, and a circle breaks nothing', () => {
  assert.deepEqual(read(create('c.ts', ''), create('a.ts', ''), create('b.ts', '')), [
    'c.ts',
    'a.ts',
    'b.ts',
  ]);
  const circle = [
    create('a.ts', "import './b'"),
    create('b.ts', "import './a'"),
    create('c.ts', "import './a'"),
  ];
  assert.deepEqual(read(...circle), ['b.ts', 'a.ts', 'c.ts']);
});

test('a preview comes after those that it builds on, whatever it is', () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const deletion = store.stage(draft({ changes: [remove('a.ts', 'x')] })).preview;
  const creation = store.stage(draft({ changes: [create('a.ts', 'y')], dependsOn: [deletion.id] })).preview;
  assert.deepEqual(
    inReadingOrder([creation, deletion]).map(({ id }) => id),
    [deletion.id, creation.id],
  );
});

const languages: readonly [importing: string, text: string, imported: string][] = [
  ['src/a.ts', "import x from '@/shop/tax';", 'src/shop/tax.ts'],
  ['src/a.ts', "export * from './shop';", 'src/shop/index.ts'],
  ['src/a.mjs', "const { tax } = require('../lib/tax');", 'lib/tax.cjs'],
  ['src/a.ts', "const later = await import('./tax.ts');", 'src/tax.ts'],
  ['shop/cart.py', 'from shop.tax import rate', 'shop/tax.py'],
  ['shop/cart.py', 'from . import tax, item', 'shop/tax.py'],
  ['shop/cart.py', 'from ..core.tax import (\n  rate,\n)', 'core/tax.py'],
  ['shop/cart.py', 'import os, shop.tax as t', 'shop/tax.py'],
  ['cmd/main.go', 'import (\n\t"fmt"\n\ttaxes "example.com/shop/internal/tax"\n)', 'internal/tax/rates.go'],
  ['src/main.rs', 'mod tax;', 'src/tax.rs'],
  ['src/cart.rs', 'use crate::tax::Rate;', 'src/tax.rs'],
  ['src/main/java/shop/Cart.java', 'import shop.tax.Rate;', 'src/main/java/shop/tax/Rate.java'],
  ['src/Cart.php', 'use App\\Tax\\Rate;', 'src/App/Tax/Rate.php'],
  ['src/cart.c', '#include "tax.h"', 'src/tax.h'],
  ['css/site.scss', '@use "parts/colors";', 'css/parts/_colors.scss'],
  ['lib/cart.rb', "require_relative 'tax'", 'lib/tax.rb'],
];
for (const [importing, text, imported] of languages)
  test(`${importing} with ${JSON.stringify(text)} comes after ${imported}`, () => {
    assert.deepEqual(read(create(importing, text), create(imported, '')), [imported, importing]);
  });

const unrelated: readonly [path: string, text: string, other: string][] = [
  ['src/a.ts', "import { debounce } from 'lodash';", 'src/util/lodash.ts'],
  ['src/a.ts', "// import './b';", 'src/b.ts'],
  ['src/a.ts', "import './b';", 'other/b.ts'],
  ['a/cart.py', 'import tax', 'b/tax.py'],
  ['a.txt', "import './b';", 'b.ts'],
];
for (const [path, text, other] of unrelated)
  test(`${path} with ${JSON.stringify(text)} has nothing to do with ${other}`, () => {
    assert.deepEqual(read(create(path, text), create(other, '')), [path, other]);
  });

test('with very many files the order is that of the classes, and costs little', () => {
  const many = Array.from({ length: 400 }, (_, n) => create(`src/f${n}.ts`, `import './f${n + 1}';`));
  const ordered = read(remove('x.ts', ''), ...many);
  assert.equal(ordered.at(-1), 'x.ts');
  assert.equal(ordered[0], 'src/f0.ts');
});

test('tests are known by their folder or name', () => {
  for (const path of [
    'test/a.ts',
    'src/a.test.ts',
    'a_test.go',
    'x/test_a.py',
    'src/__tests__/a.js',
    'ATest.java',
  ])
    assert.ok(isTestFile(path), path);
  for (const path of ['src/latest.ts', 'src/contest/a.ts', 'testing.md', 'src/attest.py'])
    assert.ok(!isTestFile(path), path);
});

test('an import is missing if another preview creates the file, moves it there or adds the name', () => {
  const previews = previewsOf(
    modify('src/cart.ts', '', "import { rate } from './tax';\nimport { format } from './money';\n"),
    create('src/tax.ts', "import { Country } from './country';\nexport const rate = 1;\n"),
    modify('src/money.ts', 'export const a = 1;\n', 'export const a = 1;\nexport function format() {}\n'),
    rename('src/land.ts', 'src/country.ts', 'export type Country = 1;\n'),
    create('src/other.ts', ''),
  );
  const missing = pendingImports(previews[0]?.changes ?? [], previews);
  assert.deepEqual(
    missing.map(({ path, change }) => `${path} ${change.path}`),
    ['src/cart.ts src/tax.ts', 'src/cart.ts src/money.ts', 'src/tax.ts src/country.ts'],
  );
});

test('nothing is missing where the imported file has what is imported, or is applied along', () => {
  const previews = previewsOf(
    [
      create('src/cart.ts', "import { rate } from './tax';\n"),
      create('src/tax.ts', 'export const rate = 1;\n'),
    ],
    modify('src/money.ts', 'export const a = 1;\n', 'export const a = 2;\n'),
    modify('src/shop.ts', '', "import { a } from './money';\nimport * as cart from './cart';\n"),
  );
  const [whole, , shop] = previews;
  assert.deepEqual(pendingImports(whole?.changes ?? [], previews), []);
  const [cart] = whole?.changes ?? [];
  assert.ok(cart);
  assert.deepEqual(
    pendingImports([cart], previews).map(({ change }) => change.path),
    ['src/tax.ts'],
    'a file of the same preview counts, too',
  );
  assert.deepEqual(
    pendingImports(shop?.changes ?? [], previews).map(({ change }) => change.path),
    ['src/cart.ts', 'src/tax.ts'],
  );
});
