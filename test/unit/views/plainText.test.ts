import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asMarkdown,
  escapeInvisible,
  escapeProse,
  inToast,
  oneLine,
  withoutIcons,
} from '../../../src/views/plainText.ts';

/** What VS Code 1.139 turns into a link in a notification. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test('a notification contains no link, whatever text it is made of', () => {
  for (const hostile of [
    '[Quit](command:workbench.action.quit)',
    '[a]([b](command:workbench.action.quit)) [x](https://example.com "t")',
    '[Passwords](file:///etc/passwd)',
    'p1 ([Quit](command:x)) is already discarded: [y](COMMAND:z)',
  ]) {
    assert.match(hostile, LINK);
    assert.doesNotMatch(inToast(hostile), LINK);
    assert.equal(inToast(hostile).replaceAll('] (', ']('), hostile);
  }
  assert.equal(inToast('a[0] (b) [c]'), 'a[0] (b) [c]');
  assert.equal(inToast('a\r\n\nb\x1b[2J\u2028'), String.raw`a b\u{1b}[2J\u{2028}`);
});

test('foreign text is one line, shows no icons, and is not read as markdown', () => {
  assert.equal(oneLine(' a\n\tb '), 'a b');
  assert.equal(oneLine('x'.repeat(300)).length, 200);
  assert.equal(withoutIcons('$(flame) b'), '$ (flame) b');
  assert.equal(
    asMarkdown('**b** [x](command:y) <img>'),
    String.raw`\*\*b\*\* \[x\]\(command:y\) &lt;img&gt;`,
  );
});

const hidden: readonly [what: string, text: string, shown: string][] = [
  ['a name that reads backwards', 'photo\u202egpj.ts', String.raw`photo\u{202e}gpj.ts`],
  [
    'isolates and marks',
    '\u2066a\u2069\u200e\u200f\u061c',
    String.raw`\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}`,
  ],
  ['what has no width', 'a\u200b.\u2060t\ufeffs\u00ad', String.raw`a\u{200b}.\u{2060}t\u{feff}s\u{ad}`],
  ['a joiner between letters', 'a\u200db', String.raw`a\u{200d}b`],
  ['tags and fillers', 'a\u{e0041}\u3164', String.raw`a\u{e0041}\u{3164}`],
  [
    'a terminal escape, and others that are no white space',
    '\x1b[2J\x00\x7f\x85',
    String.raw`\u{1b}[2J\u{0}\u{7f}\u{85}`,
  ],
  ['separators of lines that no line shows', 'a\u2028b\u2029c', String.raw`a\u{2028}b\u{2029}c`],
  ['emoji that are joined stay one', 'a 👩‍💻 ❤️ 👍🏽 b', 'a 👩‍💻 ❤️ 👍🏽 b'],
  [
    'keycaps and flags stay',
    '1️⃣ #️⃣ 🇩🇪 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} ❤️‍🔥',
    '1️⃣ #️⃣ 🇩🇪 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} ❤️‍🔥',
  ],
  ['emoji shown as text stay', '❤\ufe0e 1', '❤\ufe0e 1'],
  ['tags that are no flag', '🏴\u{e0067}a\u{e007f}', String.raw`🏴\u{e0067}a\u{e007f}`],
  [
    'tags that say more than a flag',
    `🏴${'\u{e0061}'.repeat(9)}\u{e007f}`,
    `🏴${String.raw`\u{e0061}`.repeat(9)}${String.raw`\u{e007f}`}`,
  ],
  ['a variation selector after a letter', 'a\ufe0fb\u{e0100}', String.raw`a\u{fe0f}b\u{e0100}`],
  ['an empty pattern of braille', 'a\u2800b', String.raw`a\u{2800}b`],
  ['half a surrogate pair', 'a\ud800b\udc00', String.raw`a\u{d800}b\u{dc00}`],
  [
    'joiners that change no letter',
    'a\u200cb \u0645\u200c \u200d\u0915\u094d',
    String.raw`a\u{200c}b ${'\u0645'}\u{200c} \u{200d}${'\u0915\u094d'}`,
  ],
  ['words of all scripts', 'größe 日本語 العربية עברית हिन्दी', 'größe 日本語 العربية עברית हिन्दी'],
];

for (const [what, text, shown] of hidden) {
  test(`characters that cannot be seen are shown as escapes: ${what}`, () => {
    assert.equal(escapeInvisible(text), shown);
    assert.equal(oneLine(text), shown);
    assert.equal(withoutIcons(text), shown);
    assert.equal(inToast(text), shown);
    assert.equal(asMarkdown(text), asMarkdown(shown));
  });
}

test('in prose, a digit may ask for its form as text', () => {
  assert.equal(escapeProse('1\ufe0e'), '1\ufe0e');
  assert.equal(escapeInvisible('1\ufe0e'), String.raw`1\u{fe0e}`);
});

test('in prose, joiners stay between letters that they change; in a path, no two names look the same', () => {
  for (const word of [
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u0915\u094d\u200d\u0937',
    '\u0915\u094d\u200c\u0937',
  ]) {
    const shown = word.replace(/[\u200c\u200d]/, found => `\\u{${found.codePointAt(0)?.toString(16)}}`);
    assert.equal(escapeInvisible(word), shown);
    assert.equal(oneLine(word), shown);
    assert.equal(escapeProse(word), word);
    assert.equal(escapeProse(`${word}\u202e a\u200db`), `${word}${String.raw`\u{202e} a\u{200d}b`}`);
    assert.equal(escapeProse(`${word.slice(0, 2)}\u200c\u200c${word.at(-1)}`).includes('\u200c'), false);
  }
});

test('line breaks and tabs stay where a text has several lines', () => {
  assert.equal(escapeInvisible('a\n\tb\r\nc'), 'a\n\tb\r\nc');
});
