import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { blocksOf, GrowingBlocks } from '../../../../../../src/views/chat/webview/markdown/markdownBlocks.ts';

/** What the screen shows after these pieces: the blocks, and the plain text after them. */
function shownOf(pieces: readonly string[]): { blocks: string[]; plain: string } {
  const growing = new GrowingBlocks();
  const shown = { blocks: [] as string[], plain: '' };
  for (const piece of pieces) {
    const { settled, blocks, plain } = growing.append(piece);
    if (blocks) shown.blocks.splice(settled, Infinity, ...blocks.map(({ source }) => source.trimEnd()));
    shown.plain += plain;
  }
  return shown;
}

const wholeOf = (text: string): string[] => blocksOf(text).map(({ source }) => source.trimEnd());

test('in whatever pieces a text arrives, its blocks are those of the whole text', () => {
  const line = fc.constantFrom(
    ...[
      '# Title',
      'words',
      '- item',
      '  - inner',
      '1. one',
      '    code',
      '> quote',
      '```',
      '~~~',
      '---',
      '===',
    ],
    ...['| a | b |', '| - | - |', '', '', '', 'a `b', '*c', '\ttab', '[x]: https://example.org'],
  );
  const text = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n', '\r', ' ')), { maxLength: 25 })
    .map(lines => lines.flat().join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(12), { minLength: 1, maxLength: 20 }), (whole, sizes) => {
      const pieces: string[] = [];
      for (let at = 0, i = 0; at < whole.length; i++) {
        const size = 1 + (sizes[i % sizes.length] ?? 0);
        pieces.push(whole.slice(at, at + size));
        at += size;
      }
      assert.deepEqual(shownOf(pieces), { blocks: wholeOf(whole), plain: '' });
    }),
    { numRuns: 1_000 },
  );
});

test('a definition serves the links that come after it, also when it arrives in pieces', () => {
  const growing = new GrowingBlocks();
  const pieces = ['[x]: https://exa', 'mple.org/a\n\nfirst\n\n', 'see [x]\n'];
  const tokens = pieces.flatMap(piece => growing.append(piece).blocks ?? []).flatMap(block => block.tokens);
  const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
  assert.deepEqual(
    links.map(link => link.attrGet('href')),
    ['https://example.org/a'],
  );
});

/** Streams a text in pieces of 200 characters; the most characters that the parser was given for one of them. */
function mostParsed(text: string): number {
  const { parse } = MarkdownIt.prototype;
  let most = 0;
  let parsed = 0;
  MarkdownIt.prototype.parse = function (source, env) {
    parsed += source.length;
    return parse.call(this, source, env);
  };
  try {
    const growing = new GrowingBlocks();
    for (let at = 0; at < text.length; at += 200) {
      parsed = 0;
      growing.append(text.slice(at, at + 200));
      most = Math.max(most, parsed);
    }
  } finally {
    MarkdownIt.prototype.parse = parse;
  }
  return most;
}

for (const [what, text] of Object.entries({
  'many paragraphs': 'Some words that make a paragraph.\n\n'.repeat(20_000),
  'one paragraph without end': 'words '.repeat(100_000),
  'a fence that is never closed': `\`\`\`ts\n${'const a = 1;\n'.repeat(50_000)}`,
  'a list without end': '- an item\n'.repeat(60_000),
}))
  test(`${what}: the work for each piece does not grow with the answer`, () => {
    const most = mostParsed(text);
    assert.ok(most > 0);
    assert.ok(most <= 3 * 20_200, `${most} characters were parsed for one piece`);
  });

test('what comes after a block that is too long is plain, and none of it is lost', () => {
  const pieces = Array.from({ length: 1_000 }, (_, i) => `line ${i} of a paragraph, with some words in it\n`);
  const { blocks, plain } = shownOf(pieces);
  assert.equal(blocks.length, 1);
  assert.ok(plain !== '');
  assert.equal(`${blocks[0]?.replace('paragraph_open ', '')}\n${plain}`, pieces.join(''));
});
