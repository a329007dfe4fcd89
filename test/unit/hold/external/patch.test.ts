import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PathError } from '../../../../src/agent/base/errors.ts';
import { fitHunks } from '../../../../src/agent/hold/external/patch/fitHunks.ts';
import { TooMuchError } from '../../../../src/agent/hold/external/gathered.ts';
import { parsePatch } from '../../../../src/agent/hold/external/patch/parsePatch.ts';
import { patchProposal } from '../../../../src/agent/hold/external/patch/patchProposal.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { propose, reasons, texts } from './proposePatch.ts';

const lines = (from: number, to: number, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: to - from + 1 }, (_, n) => `${changed[from + n] ?? `line ${from + n}`}\n`).join('');

const header = (name: string): string =>
  `diff --git a/${name} b/${name}\nindex 1111111..2222222 100644\n--- a/${name}\n+++ b/${name}\n`;

test('a patch of git changes, creates, deletes, renames and copies files; names may be quoted', async () => {
  const patch = [
    header('src/a.ts') + '@@ -1,3 +1,3 @@ function\n line 1\n-line 2\n+LINE 2\n line 3\n',
    'diff --git a/run.sh b/run.sh\nnew file mode 100755\nindex 0000000..2222222\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1,2 @@\n+one\n+two\n',
    'diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n',
    'diff --git a/gone.ts b/gone.ts\ndeleted file mode 100644\nindex 2222222..0000000\n--- a/gone.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n',
    'diff --git a/old.ts b/new.ts\nsimilarity index 90%\nrename from old.ts\nrename to new.ts\n--- a/old.ts\n+++ b/new.ts\n@@ -1,2 +1,2 @@\n line 1\n-line 2\n+moved\n',
    'diff --git a/src/a.ts b/copy.ts\nsimilarity index 100%\ncopy from src/a.ts\ncopy to copy.ts\n',
    'diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"\nindex 1..2 100644\n--- "a/\\303\\244.txt"\n+++ "b/\\303\\244.txt"\n@@ -1 +1 @@\n-a\n+b\n',
  ].join('');
  const proposal = await propose(patch, {
    'src/a.ts': lines(1, 3),
    'gone.ts': 'gone\n',
    'old.ts': lines(1, 2),
    'ä.txt': 'a\n',
  });
  assert.deepEqual(texts(proposal), [
    ['modify', 'src/a.ts', 'line 1\nLINE 2\nline 3\n'],
    ['create', 'run.sh', 'one\ntwo\n'],
    ['create', 'empty', ''],
    ['delete', 'gone.ts', null],
    ['rename', 'old.ts', 'new.ts', 'line 1\nmoved\n'],
    ['create', 'copy.ts', 'line 1\nline 2\nline 3\n'],
    ['modify', 'ä.txt', 'b\n'],
  ]);
  assert.deepEqual(reasons(proposal), []);
  assert.equal(proposal.changes.find(({ path }) => path === 'run.sh')?.kind, 'create');
  assert.ok(proposal.changes.some(change => change.kind === 'create' && change.mode === 0o755));
});

test('a plain unified patch is applied, with or without a folder in front of the names', async () => {
  const files = { 'src/a.ts': lines(1, 3), 'b.ts': 'b\n' };
  const hunk = '@@ -1,3 +1,3 @@\n line 1\n-line 2\n+LINE 2\n line 3\n';
  for (const [old, now] of [
    ['src/a.ts\t2026-01-01 10:00:00', 'src/a.ts\t2026-01-01 10:00:01'],
    ['old/src/a.ts', 'new/src/a.ts'],
    ['./src/a.ts', './src/a.ts'],
    ['/workspace/src/a.ts', '/workspace/src/a.ts'],
  ]) {
    const proposal = await propose(
      `--- ${old}\n+++ ${now}\n${hunk}--- b.ts\n+++ b.ts\n@@ -1 +1 @@\n-b\n+B\n`,
      files,
    );
    assert.deepEqual(texts(proposal), [
      ['modify', 'src/a.ts', 'line 1\nLINE 2\nline 3\n'],
      ['modify', 'b.ts', 'B\n'],
    ]);
  }
  const created = await propose(
    'diff -ruN old/new.ts new/new.ts\n--- old/new.ts\t1970-01-01 00:00:00.000000000 +0000\n+++ new/new.ts\t2026-01-01 10:00:00\n@@ -0,0 +1 @@\n+new\n',
    {},
  );
  assert.deepEqual(texts(created), [['create', 'new.ts', 'new\n']]);
});

test('a series of patches in a mailbox is applied in order, mail signatures and messages aside', async () => {
  const mail = (hunk: string): string =>
    `From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\n\ndiff of things\n---\n a.ts | 2 +-\n\n${header('a.ts')}${hunk}-- \n2.39.5\n\n`;
  const patch =
    mail('@@ -1,2 +1,2 @@\n-line 1\n+first\n line 2\n') + mail('@@ -1,2 +1,2 @@\n first\n-line 2\n+second\n');
  const proposal = await propose(patch, { 'a.ts': lines(1, 2) });
  assert.deepEqual(texts(proposal), [['modify', 'a.ts', 'first\nsecond\n']]);
  assert.deepEqual(reasons(proposal), []);
});

test('names are what git says they are, whatever prefixes it was told to use', async () => {
  const files = { 'main.c': 'a\n', 'c/main.c': 'a\n', 'i/old.c': 'a\nb\n', 'no text': '' };
  const patch = [
    'diff --git c/main.c c/main.c\nindex 1..2 100644\n--- c/main.c\n+++ c/main.c\n@@ -1 +1 @@\n-a\n+b\n',
    'diff --git w/new.c w/new.c\nnew file mode 100644\nindex 0..2\n--- /dev/null\n+++ w/new.c\n@@ -0,0 +1 @@\n+n\n',
    'diff --git i/old.c c/now.c\nsimilarity index 50%\nrename from i/old.c\nrename to c/now.c\nindex 1..2 100644\n--- i/old.c\n+++ c/now.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n',
    'diff --git no text no text\ndeleted file mode 100644\nindex e69de29..0000000\n',
    'diff --git i/as new w/as new\nnew file mode 100644\nindex 0000000..e69de29\n',
    'diff --git one two other\nnew file mode 100644\nindex 0000000..e69de29\n',
  ].join('');
  for (const text of [patch, patch.replaceAll('\n', '\r\n')]) {
    const proposal = await propose(text, files);
    assert.deepEqual(texts(proposal), [
      ['modify', 'c/main.c', 'b\n'],
      ['create', 'w/new.c', 'n\n'],
      ['rename', 'i/old.c', 'c/now.c', 'a\nc\n'],
      ['delete', 'no text', null],
      ['create', 'as new', ''],
    ]);
    assert.deepEqual(reasons(proposal), ['diff --git one two other: malformed']);
  }
});

test('mails are read as they were written, however they were encoded', async () => {
  const headers = (encoding: string): string =>
    `From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\nContent-Type: text/plain;\n charset=utf-8\nContent-Transfer-Encoding: ${encoding}\n\n`;
  const body = (name: string): string =>
    `ä\n---\n${header(name)}@@ -1,2 +1,2 @@\n line 1\n-line 2\n+a = "ö=3D"; ${'long '.repeat(20)}\n-- \n2.39.5\n\n`;
  const quoted = [...Buffer.from(body('a.ts'))]
    .map(byte =>
      byte === 10 || (byte > 31 && byte < 61) || (byte > 61 && byte < 127)
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
    .replace(/^(.{70})(?=.)/gm, '$1=\n')
    .replace(/ $/gm, '=20');
  const encoded = Buffer.from(body('b.ts'))
    .toString('base64')
    .replace(/(.{76})/g, '$1\n');
  const mailbox = `${headers('quoted-printable')}${quoted}${headers('base64')}${encoded}\n\n${headers('8bit')}${body('c.ts')}`;
  const files = { 'a.ts': lines(1, 2), 'b.ts': lines(1, 2), 'c.ts': lines(1, 2) };
  const proposal = await propose(mailbox, files);
  const now = `line 1\na = "ö=3D"; ${'long '.repeat(20)}\n`;
  assert.deepEqual(
    texts(proposal),
    Object.keys(files).map(name => ['modify', name, now]),
  );
  assert.deepEqual(reasons(proposal), []);
});

test('a hunk that moved is applied where its lines are, if they are there once', async () => {
  const hunk = { oldStart: 2, lines: [' line 2', '-line 3', '+LINE 3', ' line 4'] };
  const moved = await fitHunks(`new\nnew\n${lines(1, 5)}`, [hunk]);
  assert.deepEqual(moved, { text: `new\nnew\n${lines(1, 5, { 3: 'LINE 3' })}`, rejected: [] });
  const twice = `x\n${lines(2, 4)}y\n${lines(2, 4)}`;
  assert.deepEqual(await fitHunks(`new\n${twice}`, [hunk]), { text: `new\n${twice}`, rejected: [hunk] });
  const exact = await fitHunks(twice, [hunk]);
  assert.equal(
    exact.text,
    `x\n${lines(2, 4, { 3: 'LINE 3' })}y\n${lines(2, 4)}`,
    'the place that it names wins',
  );
});

test('where a hunk goes is what a search of every place finds, however its lines repeat', async () => {
  const run = (max: number) => fc.array(fc.constantFrom<string>('a', 'b'), { minLength: 1, maxLength: max });
  await fc.assert(
    fc.asyncProperty(run(14), run(5), fc.integer({ min: 1, max: 14 }), async (file, old, oldStart) => {
      const isAt = (at: number): boolean => old.every((line, n) => file[at + n] === line);
      const places = [...file.keys()].filter(isAt);
      const place = isAt(oldStart - 1) ? oldStart - 1 : places.length === 1 ? places[0] : undefined;
      const hunk = { oldStart, lines: [...old.map(line => ` ${line}`), '+new'] };
      const { text, rejected } = await fitHunks(file.map(line => `${line}\n`).join(''), [hunk]);
      const expected = place === undefined ? file : file.toSpliced(place + old.length, 0, 'new');
      assert.equal(text, expected.map(line => `${line}\n`).join(''));
      assert.equal(rejected.length, place === undefined ? 1 : 0);
    }),
    { numRuns: 1_000, seed: 1 },
  );
});

test('what one hunk tells about how far lines have moved counts for the next', async () => {
  const block = lines(2, 4);
  const hunks = [
    { oldStart: 1, lines: ['-one', '+ONE', ' two'] },
    { oldStart: 3, lines: [' line 2', '-line 3', '+LINE 3', ' line 4'] },
  ];
  const { text, rejected } = await fitHunks(`new\none\ntwo\n${block}x\n${block}`, hunks);
  assert.deepEqual(rejected, []);
  assert.equal(text, `new\nONE\ntwo\n${lines(2, 4, { 3: 'LINE 3' })}x\n${block}`);
});

test('the hunks of a file that do not fit are named, and the others are proposed', async () => {
  const patch = `${header('a.ts')}@@ -1,2 +1,2 @@\n line 1\n-line 2\n+LINE 2\n@@ -8,2 +8,2 @@\n line 8\n-other 9\n+LINE 9\n`;
  const proposal = await propose(patch, { 'a.ts': lines(1, 9) });
  assert.deepEqual(texts(proposal), [['modify', 'a.ts', lines(1, 9, { 2: 'LINE 2' })]]);
  assert.deepEqual(proposal.leftOut, [
    { path: 'a.ts', why: 'hunks', detail: '@@ -8 @@\n line 8\n-other 9\n+LINE 9' },
  ]);
});

test('a hunk without any old line fits into no file that has lines', async () => {
  const hunk = { oldStart: 2, lines: ['+new'] };
  assert.deepEqual(await fitHunks('a\n', [hunk]), { text: 'a\n', rejected: [hunk] });
});

const noNewline = '\\ No newline at end of file';
const ends: readonly (readonly [
  what: string,
  before: string,
  hunk: readonly string[],
  after: string | null,
])[] = [
  ['stays away', 'a\nb', [' a', '-b', noNewline, '+B', noNewline], 'a\nB'],
  ['is added', 'a\nb', [' a', '-b', noNewline, '+b'], 'a\nb\n'],
  ['is removed', 'a\nb\n', [' a', '-b', '+b', noNewline], 'a\nb'],
  ['is missing here only', 'a\nb', [' a', '-b', '+B'], null],
  ['is missing there only', 'a\nb\n', [' a', '-b', noNewline, '+B', noNewline], null],
];
for (const [what, before, hunkLines, after] of ends) {
  test(`the line feed at the end ${what}`, async () => {
    const hunk = { oldStart: 1, lines: hunkLines };
    const { text, rejected } = await fitHunks(before, [hunk]);
    assert.equal(text, after ?? before);
    assert.equal(rejected.length, after === null ? 1 : 0);
  });
}

test('line endings: those of the file are kept, and a change of them in the patch is made', async () => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  const hunk = '@@ -1,3 +1,4 @@\n line 1\n-line 2\n+LINE 2\n+more\n line 3\n';
  const expected = 'line 1\nLINE 2\nmore\nline 3\n';
  const cases: readonly (readonly [patch: string, file: string, after: string])[] = [
    [header('a.ts') + hunk, crlf(lines(1, 3)), crlf(expected)],
    [header('a.ts') + hunk.replace(/^[ +-].*$/gm, '$&\r'), crlf(lines(1, 3)), crlf(expected)],
    [crlf(header('a.ts') + hunk), lines(1, 3), expected],
    [crlf(header('a.ts') + hunk), crlf(lines(1, 3)), crlf(expected)],
    [`${header('a.ts')}@@ -1 +1 @@\n-line 1\r\n+line 1\n`, 'line 1\r\n', 'line 1\n'],
  ];
  for (const [patch, file, after] of cases)
    assert.deepEqual(texts(await propose(patch, { 'a.ts': file })), [['modify', 'a.ts', after]]);
});

test('what cannot be carried is named: binary, links, submodules, permission bits, damaged parts', async () => {
  const patch = [
    'diff --git a/i.png b/i.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ?wbhEHbU|?Wm00IFb\n\nliteral 2\nKcmZ?wbh\n\n',
    'diff --git a/j.png b/j.png\nindex 1..2 100644\nBinary files a/j.png and b/j.png differ\n',
    'diff --git a/link b/link\nnew file mode 120000\nindex 0..2\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n',
    'diff --git a/module b/module\nnew file mode 160000\nindex 0..2\n--- /dev/null\n+++ b/module\n@@ -0,0 +1 @@\n+Subproject commit 1\n',
    'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n',
    `${header('torn.ts')}@@ -1,9 +1,9 @@\n line 1\n`,
    `${header('here')}@@ -1 +1 @@\n-a\n+b\n`,
    header('../outside.ts') + '@@ -1 +1 @@\n-a\n+b\n',
    header('.git/config') + '@@ -1 +1 @@\n-a\n+b\n',
    header('missing.ts') + '@@ -1 +1 @@\n-a\n+b\n',
    'diff --git a/there.ts b/there.ts\nnew file mode 100644\n--- /dev/null\n+++ b/there.ts\n@@ -0,0 +1 @@\n+new\n',
    'diff --git a/grown.ts b/grown.ts\ndeleted file mode 100644\n--- a/grown.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
    header('fine.ts') + '@@ -1 +1 @@\n-a\n+b\n',
  ].join('');
  const files = {
    'run.sh': 'x',
    'target.ts': 'a\n',
    'there.ts': 'other\n',
    'grown.ts': 'a\nb\n',
    'fine.ts': 'a\n',
    'torn.ts': 'a\n',
  };
  const proposal = await propose(patch, files, { here: 'target.ts' });
  assert.deepEqual(texts(proposal), [['modify', 'fine.ts', 'b\n']]);
  assert.deepEqual(reasons(proposal), [
    'i.png: binary',
    'j.png: binary',
    'link: link',
    'module: submodule',
    'run.sh: mode',
    'diff --git a/torn.ts b/torn.ts: malformed',
    'here: link',
    '../outside.ts: outside',
    '.git/config: path',
    'missing.ts: missing',
    'there.ts: exists',
    'grown.ts: differs',
  ]);
});

test('a text that is no patch has no parts; a removed line that looks like a header is a line', async () => {
  assert.deepEqual(await parsePatch('Dear all,\n\nhow are you?\n'), []);
  const patch = `${header('a.sql')}@@ -1,3 +1,2 @@\n one\n--- comment\n two\n`;
  assert.deepEqual(texts(await propose(patch, { 'a.sql': 'one\n-- comment\ntwo\n' })), [
    ['modify', 'a.sql', 'one\ntwo\n'],
  ]);
});

test('too many files are refused as a whole', async () => {
  const part = `${header('a.ts')}@@ -1 +1 @@\n-a\n+b\n`;
  await assert.rejects(propose(part.repeat(2_001), { 'a.ts': 'a\n' }), TooMuchError);
});

test('an error that is not about a file is not swallowed', async () => {
  const failing = { resolve: () => Promise.reject(new Error('boom')), isLink: () => Promise.resolve(false) };
  const parts = await parsePatch(`${header('a.ts')}@@ -1 +1 @@\n-a\n+b\n`);
  await assert.rejects(patchProposal(parts, new MemoryWorkspace(), failing), /boom/);
  const refusing = { ...failing, resolve: () => Promise.reject(new PathError('empty', 'no')) };
  assert.deepEqual((await patchProposal(parts, new MemoryWorkspace(), refusing)).leftOut, [
    { path: 'a.ts', why: 'path' },
  ]);
});

test('a long patch is parsed whole, wherever it is cut in between', async () => {
  const line = `+${'x'.repeat(100)}\n`;
  const part = (n: number): string =>
    `diff --git a/${n}.ts b/${n}.ts\nnew file mode 100644\n--- /dev/null\n+++ b/${n}.ts\n@@ -0,0 +1,${7 * n + 1} @@\n${line.repeat(7 * n + 1)}`;
  const patch = Array.from({ length: 60 }, (_, n) => part(n)).join('');
  assert.ok(patch.length > 1024 * 1024);
  const parts = await parsePatch(patch);
  assert.deepEqual(
    parts.map(each => (each.kind === 'unusable' ? each.message : [each.to[0], each.hunks[0]?.lines.length])),
    Array.from({ length: 60 }, (_, n) => [`${n}.ts`, 7 * n + 1]),
  );
});

test('a part is found once wherever it begins, also after a damaged one', async () => {
  const part = `${header('a.ts')}@@ -1 +1 @@\n-a\n+b\n`;
  const torn = `${header('torn.ts')}@@ -1,2 +1,2 @@\n `;
  for (let before = -1; before < 14; before++) {
    const parts = await parsePatch(`${torn.padEnd(512 * 1024 - before, 'x')}\n${part}`);
    assert.deepEqual(
      parts.map(({ kind }) => kind),
      ['unusable', 'modify'],
      String(before),
    );
  }
});

test('a new file gets the line ending of the workspace, and later parts of the patch fit it', async () => {
  const made =
    'diff --git a/new.ts b/new.ts\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new.ts\n';
  const create = `${made}@@ -0,0 +1,2 @@\n+one\n+two\n`;
  const edit = `${header('new.ts')}@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n`;
  const proposal = await propose(create + create + edit, {}, {}, '\r\n');
  assert.deepEqual(texts(proposal), [['create', 'new.ts', 'one\r\nTWO\r\n']]);
  assert.deepEqual(reasons(proposal), []);
});
