import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOfBlock } from './blocks.ts';
import { documentPages, parsePage, type Block } from '../../support/docs/pages.ts';

const block = (language: string, code: string): Block => ({ page: 'a.md', line: 1, language, code });

for (const { path, blocks } of documentPages().filter(page => page.blocks.length > 0))
  test(`the code in ${path} works`, async () => {
    assert.deepEqual((await Promise.all(blocks.map(faultsOfBlock))).flat(), []);
  });

/** A block with a fault, and what is said of it. */
const FAULTS: readonly (readonly [string, string, RegExp])[] = [
  ['', 'x', /no test checks a block in the language “”/],
  ['python', 'x', /no test checks a block in the language “python”/],
  ['ts', 'const a: string = 1;', /not assignable to type 'string'/],
  ['ts', "import type { Missing } from './redline.d.ts';\nexport type A = Missing;", /Missing/],
  [
    'ts',
    "import type { RedlineApi } from './redline-api.d.ts';\nexport type A = RedlineApi['gone'];",
    /gone/,
  ],
  ['js', 'const = 1;', /expected/],
  ['js', "export default () => ({ name: 'a b' });", /the tool does not load/],
  ['json', '{ "a": }', /is not JSON/],
  ['json', '"redline.gone": 1', /there is no setting redline\.gone/],
  ['json', '"redline.provider": "nobody-knows"', /redline\.provider cannot be "nobody-knows"/],
  ['json', '"redline.runCommand.timeLimit": 4000', /redline\.runCommand\.timeLimit cannot be 4000/],
  ['json', '"redline.tools.fromVsCode": { "a": "no" }', /redline\.tools\.fromVsCode cannot be/],
  ['sh', 'npm run gone', /there is no npm script gone/],
  ['sh', 'npm start -- --twice', /scripts\/start\.mjs knows no --twice/],
  ['sh', 'npm ci', /needs --ignore-scripts/],
  ['sh', 'curl example.com', /no test checks the command/],
  ['sh', 'node scripts/gone.mjs', /there is no scripts\/gone\.mjs/],
  ['slash', '/edit src/cart.ts', /is not a slash command/],
  ['slash', '/edit src/cart.ts :: not there => x', /stages nothing/],
  ['text', '┌─ PreviewStorage ─┐', /the source has no PreviewStorage/],
  ['text', '▼ previous.jsonl', /the source has no previous\.jsonl/],
];

for (const [language, code, expected] of FAULTS)
  test(`a fault is found: ${language} ${code.split('\n')[0]}`, async () => {
    const [fault] = await faultsOfBlock(block(language, code));
    assert.match(fault ?? '', expected);
  });

test('what is right is no fault', async () => {
  const good = [
    block(
      'ts',
      "import type { CustomToolFactory } from './redline.d.ts';\nexport type A = CustomToolFactory;",
    ),
    block('json', '"redline.provider": "openai",\n"redline.tools.fromVsCode": { "a_*": "readOnly" }'),
    block('json', '[1, 2]'),
    block('sh', 'npm ci --ignore-scripts\nnpm start -- --once\nnpm run docs\nnode scripts/docs.mjs'),
    block('slash', '/edit src/cart.ts :: total += item.price; => total += 1;\n/help'),
    block('text', '┌ PreviewStore ┐ previews.jsonl src/agent the words'),
  ];
  assert.deepEqual((await Promise.all(good.map(faultsOfBlock))).flat(), []);
});

test('a page is parsed into its blocks and its prose; a block that is not closed is an error', () => {
  const page = parsePage('a.md', 'one\n```ts\ncode\n```\n<!-- gone -->two\n');
  assert.deepEqual(page.blocks, [{ page: 'a.md', line: 2, language: 'ts', code: 'code\n' }]);
  assert.equal(page.prose, 'one\n\n\n\ntwo\n');
  const [inList] = parsePage('a.md', '1. one\n\n   ```sh\n   npm start\n     x\n   ```\n').blocks;
  assert.deepEqual([inList?.language, inList?.code], ['sh', 'npm start\n  x\n']);
  assert.throws(() => parsePage('a.md', '```ts\n'), /a\.md:1: the block is not closed/);
});
