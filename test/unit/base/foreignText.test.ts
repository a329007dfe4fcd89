import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { escapeLine, logEntry, oneLine } from '../../../src/agent/base/foreignText.ts';
import { isUsableName, quoted, quotedName, safeName } from '../../../src/agent/base/safeName.ts';

/** Names as an attacker gives them: any text, with what could end a line, hide something or pass for words of ours. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom(
        ...[
          '\n',
          '\r',
          '\r\n',
          '\t',
          '\v',
          '\f',
          '\x85',
          '\u2028',
          '\u2029',
          '\0',
          '\x1b',
          '\x1b[31m',
          '\x7f',
          '\x9b',
        ],
        ...[
          '\u202a',
          '\u202e',
          '\u2066',
          '\u2069',
          '\u200b',
          '\u200e',
          '\ufeff',
          '\u00ad',
          '\u{e0041}',
          '\u{e007f}',
        ],
        ...['\ud800', '\udc00', '"', '\\', '\\n', '\\u{a}', ' ', '👩‍💻', '❤️', 'src/a.ts', '/'],
        ...[
          '<system-reminder>',
          '</system-reminder>',
          '</ SYSTEM-reminder>',
          '</output>',
          '<',
          '```',
          '`',
          '````',
        ],
      ),
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''));

/** What ends a line, controls a terminal or changes the direction of text. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** What has no width or ink, outside of emoji. */
const UNSEEN =
  /(?<![\p{Extended_Pictographic}\p{Emoji}\u200d\ufe0f\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/u;
const MARKS = /<\/?\s*(?:system-reminder|output)|```/i;

for (const [what, shown] of [
  ['a name', (name: string) => safeName(name)],
  ['a name that is cut', (name: string) => safeName(name, 12)],
  ['a quoted name', (name: string) => quoted(name)],
] as const) {
  test(`${what} is one line, without marks of ours or what cannot be seen`, () => {
    fc.assert(
      fc.property(hostile, name => {
        const line = shown(name);
        assert.doesNotMatch(line, FORBIDDEN);
        assert.doesNotMatch(line, UNSEEN);
        assert.doesNotMatch(line, MARKS);
      }),
      { numRuns: 2_000 },
    );
  });

  test(`of two names that differ, no two look alike: ${what}`, () => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        assert.equal(shown(one) === shown(other), one === other);
      }),
      { numRuns: 2_000 },
    );
  });
}

test('a name that is shown in quotes is found again, and a plain one is as it was', () => {
  fc.assert(
    fc.property(hostile, name => {
      const shown = safeName(name);
      if (shown === name) assert.equal(quotedName(shown), undefined);
      else if (name.length <= 1_000) assert.equal(quotedName(shown), name);
    }),
    { numRuns: 2_000 },
  );
  for (const plain of [
    'src/a.ts',
    'über/日本 語.md',
    "it's (a) [b] {c} <T>.ts",
    'a👩‍💻❤️.md',
    'Array<string>',
    'a`b``c',
  ])
    assert.equal(safeName(plain), plain);
  assert.equal(safeName('a\nb\u202e\x1b\x9b'), String.raw`"a\nb\u202e\u001b\u009b"`);
  assert.equal(safeName('</system-reminder>'), String.raw`"\u003c/system-reminder>"`);
  assert.equal(safeName('"a"'), String.raw`"\"a\""`);
  assert.equal(quotedName('"src/a.ts"'), undefined);
});

test('a long name is cut, and names of one beginning stay apart', () => {
  const [one, other] = [safeName(`${'x'.repeat(5_000)}1`), safeName(`${'x'.repeat(5_000)}2`)];
  assert.notEqual(one, other);
  assert.ok(one.length < 1_020);
});

test('a usable name ends no line, controls no terminal and has no marks of ours', () => {
  fc.assert(
    fc.property(hostile, name => {
      if (!isUsableName(name)) return;
      assert.doesNotMatch(name, /[\p{Cc}\p{Cs}\u2028\u2029]/u);
      assert.doesNotMatch(name, MARKS);
    }),
  );
  assert.ok(isUsableName('فایل\u200cها/‎image.jpg'));
});

test('for people and logs, a foreign text is one line, too', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(5, 200), (text, max) => {
      for (const line of [oneLine(text, max), escapeLine(text)]) {
        assert.doesNotMatch(line, FORBIDDEN);
        assert.doesNotMatch(line, UNSEEN);
      }
      assert.ok(oneLine(text, max).length <= max);
    }),
    { numRuns: 2_000 },
  );
  assert.equal(logEntry('a\r\n2026 [error] b\x1b[2J'), 'a\n    2026 [error] b\\u{1b}[2J');
  assert.equal(escapeLine('a\nb\x1b[31m'), String.raw`a\u{a}b\u{1b}[31m`);
});
