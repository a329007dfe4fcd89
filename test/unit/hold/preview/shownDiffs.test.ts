import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  linkTo,
  sideOfText,
  type FileChange,
  type FileSide,
} from '../../../../src/agent/hold/preview/fileChange.ts';
import type { EncodingName } from '../../../../src/agent/hold/text/encodings.ts';
import { shownDiff } from '../../../../src/agent/hold/preview/shownDiffs.ts';
import { modify } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

/** A change that adds this many lines of ten characters to an empty file. */
const adding = (path: string, lines: number): FileChange =>
  modify(
    path,
    '',
    Array.from({ length: lines }, (_, n) => `${path} ${String(n).padStart(6, '0')}\n`).join(''),
  );

const preview = (...changes: FileChange[]) => new InvokerHarness().stage({ changes });

test('what fits is shown whole', async () => {
  const lines = Array.from({ length: 150 }, () => 5);
  const { text, end } = await shownDiff(
    preview(...lines.map((count, n) => adding(`${n % 10}`, count))),
    0,
    24_000,
  );
  assert.equal(end, Infinity);
  assert.match(
    text,
    /^```\n0: 5 lines added, 0 removed\.\n@@ -1,0 \+1,5 @@\n\+0 000000\n[^]*\n\+9 000004\n```$/,
  );
});

test('its parts are whole lines, each shown once, and each says where the next begins', async () => {
  const long = preview(adding('a', 5_000), adding('b', 3), modify('c', 'x'.repeat(30_000), '```\n'));
  let all = '';
  for (let from = 0; from !== Infinity;) {
    const { text, end } = await shownDiff(long, from, 8_000);
    const [, shown = '', more] = /^`{3,}\n([^]*)\n`{3,}(?:\n(.*))?$/.exec(text) ?? [];
    const next = `The diff goes on. Call pending with id "p1" and offset ${end} to see more of it.`;
    assert.equal(more, end === Infinity ? undefined : next);
    assert.ok(shown.length <= 8_000 && (end === Infinity || end > from), `${shown.length} characters`);
    // The line of 30,000 characters is cut.
    all += /x{7000}$/.test(shown) ? shown : `${shown}\n`;
    from = end;
  }
  for (let n = 0; n < 5_000; n++)
    assert.equal(all.split(`\n+a ${String(n).padStart(6, '0')}\n`).length, 2, `${n}`);
  assert.match(
    all,
    /\nb: 3 lines added, 0 removed\.\n@@ -1,0 \+1,3 @@\n(?:\+b \d+\n){3}c: 1 line added, 1 removed\.\n/,
  );
  assert.match(all, /\n-x{30000}\n\\ No newline at end of file\n\+```\n/);
});

test('a place behind the end of the diff shows nothing', async () => {
  assert.deepEqual(await shownDiff(preview(adding('a', 1)), 1_000, 8_000), {
    text: '```\n\n```',
    end: Infinity,
  });
});

const utf8 = (text: string): FileSide => sideOfText(text);
const stored = (text: string, name: EncodingName, bom: boolean): FileSide => sideOfText(text, { name, bom });
const binary: FileSide = { hash: 'b', size: 1 };
for (const [what, change, head] of [
  ['permission bits', { mode: 0o755 }, 'a: 0 lines added, 0 removed.\nIts permission bits become 755.'],
  [
    'line endings',
    { after: utf8('a\r\nb\r\n') },
    'a: 2 lines added, 2 removed.\nIts line endings become CRLF.',
  ],
  [
    'some of the line endings',
    { after: utf8('a\r\nb\n') },
    'a: 1 line added, 1 removed.\nIts line endings become 1 LF, 1 CRLF.',
  ],
  [
    'a byte order mark',
    { after: stored('a\nb\n', 'utf8', true) },
    'a: 0 lines added, 0 removed.\nIts encoding becomes UTF-8 with a byte order mark.',
  ],
  [
    'the encoding of a new file',
    { kind: 'create', before: null, after: stored('é\n', 'iso88591', false) },
    'a: 1 line added, 0 removed.\nIts encoding becomes iso88591.',
  ],
  [
    'a link in the place of a text',
    { after: linkTo('b') },
    'a (modify): a text file becomes a symbolic link to "b", which has no diff.',
  ],
  [
    'a new binary file',
    { kind: 'create', before: null, after: binary, mode: 0o700 },
    'a (create): a binary file of 1 byte, which has no diff.\nIts permission bits become 700.',
  ],
  ['a first line ending', { before: utf8('a'), after: utf8('a\n') }, 'a: 1 line added, 1 removed.\n@@ -1,1'],
] as const)
  test(`the diff for the model names ${what}`, async () => {
    const before = utf8('a\nb\n');
    const { text } = await shownDiff(
      preview({ kind: 'modify', path: 'a', before, after: before, ...change }),
      0,
      8_000,
    );
    assert.equal(text.slice(4, 4 + head.length), head);
  });
