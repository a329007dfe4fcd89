import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parsePatch } from '../../../../src/agent/hold/external/patch/parsePatch.ts';
import { patchProposal } from '../../../../src/agent/hold/external/patch/patchProposal.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { propose, reasons, texts } from './proposePatch.ts';

/** The header of a file in a patch of git. */
const header = (name: string): string => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;
const moved = (how: 'rename' | 'copy', from: string, to: string): string =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\n${how} from ${from}\n${how} to ${to}\n`;
const edit = (from: string, to: string): string => `@@ -1 +1 @@\n-${from}\n+${to}\n`;
const gone = (name: string, line: string): string =>
  `diff --git a/${name} b/${name}\ndeleted file mode 100644\n--- a/${name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;
const made = (name: string, line: string, mode = '100644'): string =>
  `diff --git a/${name} b/${name}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${line}\n`;
const rewritten = (name: string, from: string, to: string): string =>
  `diff --git a/${name} b/${name}\ndissimilarity index 100%\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n${edit(from, to)}`;

interface Form {
  readonly what: string;
  readonly patch: string;
  readonly files: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** Kind, path or paths, text. */
  readonly changes: readonly (readonly (string | null)[])[];
  readonly leftOut?: readonly string[];
}

const abc = { a: 'A\n', b: 'B\n', c: 'C\n' };

/** What `git apply` makes of each, and what is told where Redline makes less. */
const forms: readonly Form[] = [
  {
    what: 'a copy comes from the file before the patch, wherever that is changed',
    patch: header('a') + edit('A', 'new') + moved('copy', 'a', 'd') + moved('copy', 'a', 'e'),
    files: abc,
    changes: [
      ['modify', 'a', 'new\n'],
      ['create', 'd', 'A\n'],
      ['create', 'e', 'A\n'],
    ],
  },
  {
    what: 'a rename and a copy of one file',
    patch: moved('copy', 'a', 'd') + moved('rename', 'a', 'e'),
    files: abc,
    changes: [
      ['create', 'd', 'A\n'],
      ['rename', 'a', 'e', 'A\n'],
    ],
  },
  {
    what: 'files change places (-B -M)',
    patch: moved('rename', 'b', 'a') + moved('rename', 'c', 'b') + moved('rename', 'a', 'c'),
    files: abc,
    changes: [
      ['modify', 'b', 'C\n'],
      ['modify', 'a', 'B\n'],
      ['modify', 'c', 'A\n'],
    ],
  },
  {
    what: 'no file of those that change places is lost where one of them is another here',
    patch: moved('rename', 'b', 'a') + moved('rename', 'a', 'b').replace('100%', '90%') + edit('other', 'x'),
    files: abc,
    changes: [],
    leftOut: ['b: hunks', 'a: together'],
  },
  {
    what: 'a file is rewritten, and its old content moves',
    patch: rewritten('a', 'A', 'new') + moved('rename', 'a', 'd'),
    files: abc,
    changes: [
      ['modify', 'a', 'new\n'],
      ['create', 'd', 'A\n'],
    ],
  },
  {
    what: 'diffs that were put together without a heading are a series',
    patch: header('a') + edit('A', 'new') + moved('rename', 'a', 'd') + header('d') + edit('new', 'newer'),
    files: abc,
    changes: [['rename', 'a', 'd', 'newer\n']],
  },
  {
    what: 'commits of git log -p are a series',
    patch: `commit 1234567\n\n    One\n\n${header('a')}${edit('A', 'new')}\ncommit 1234568\n\n    Two\n\n${moved('copy', 'a', 'd')}`,
    files: abc,
    changes: [
      ['modify', 'a', 'new\n'],
      ['create', 'd', 'new\n'],
    ],
  },
  {
    what: 'a file whose change is left out is not moved or copied by the next diff of a series',
    patch: `commit 1234567\n\n    One\n\ndiff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n\ncommit 1234568\n\n    Two\n\n${moved('copy', 'a', 'd')}${moved('rename', 'b', 'e')}`,
    files: abc,
    changes: [['rename', 'b', 'e', 'B\n']],
    leftOut: ['a: binary', 'd: together'],
  },
  {
    what: 'a file becomes a link: neither half',
    patch: gone('a', 'A') + made('a', 'b', '120000'),
    files: abc,
    changes: [],
    leftOut: ['a: link'],
  },
  {
    what: 'a link becomes a file: neither half',
    patch: gone('l', 'a').replace('100644', '120000') + made('l', 'text'),
    files: abc,
    links: { l: 'a' },
    changes: [],
    leftOut: ['l: link'],
  },
  {
    what: 'a file becomes a submodule: neither half',
    patch: gone('a', 'A') + made('a', 'Subproject commit 0123', '160000'),
    files: abc,
    changes: [],
    leftOut: ['a: submodule'],
  },
  {
    what: 'a file becomes a folder: both halves',
    patch: gone('a', 'A') + made('a/x', 'new'),
    files: abc,
    changes: [
      ['delete', 'a', null],
      ['create', 'a/x', 'new\n'],
    ],
  },
  {
    what: 'a file stays where the folder in its place cannot be made',
    patch: gone('a', 'A') + made('a/x', 'target', '120000'),
    files: abc,
    changes: [],
    leftOut: ['a/x: link', 'a: together'],
  },
  {
    what: 'a name with a trailing blank, as git prints it with a tab and without',
    patch: `diff --git a/t  b/t \n--- a/t \t\n+++ b/t \t\n${edit('x', 'y')}${made('n ', 'new').replace('+++ b/n ', '+++ b/n \t')}`,
    files: { 't ': 'x\n', t: 'x\n' },
    changes: [
      ['modify', 't ', 'y\n'],
      ['create', 'n ', 'new\n'],
    ],
  },
  {
    what: 'the sections of a merge are told',
    patch: `${header('a')}${edit('A', 'x')}diff --cc m.ts\nindex 1,2..3\n--- a/m.ts\n+++ b/m.ts\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n${header('b')}${edit('B', 'y')}`,
    files: abc,
    changes: [
      ['modify', 'a', 'x\n'],
      ['modify', 'b', 'y\n'],
    ],
    leftOut: ['m.ts: combined'],
  },
  {
    what: 'Subversion says of a new file that it was not there, or nothing',
    patch: [
      'Index: n\n====\n--- n\t(nonexistent)\n+++ n\t(working copy)\n@@ -0,0 +1 @@\n+n\n\nProperty changes on: n\n____\nAdded: svn:eol-style\n## -0,0 +1 ##\n+native\n',
      'Index: o\n====\n--- o\t(Revision 0)\n+++ o\t(Arbeitskopie)\n@@ -0,0 +1 @@\n+o\n',
      'Index: a\n====\n--- a\t(revision 12)\n+++ a\t(nonexistent)\n@@ -1 +0,0 @@\n-A\n',
    ].join(''),
    files: { a: 'A\n' },
    changes: [
      ['create', 'n', 'n\n'],
      ['create', 'o', 'o\n'],
      ['delete', 'a', null],
    ],
  },
  {
    what: 'a name that is no text is told, and the file that looks like it is left alone',
    patch: `diff --git "a/\\377.txt" "b/\\377.txt"\n--- "a/\\377.txt"\n+++ "b/\\377.txt"\n${edit('x', 'y')}${header('\ufffd.ts')}${edit('x', 'y')}`,
    files: { '\ufffd.txt': 'x\n', '\ufffd.ts': 'x\n' },
    changes: [],
    leftOut: ['\udcff.txt: path', '\udc00.ts: path'],
  },
  {
    what: 'prefixes of other words, with folders, and none',
    patch: [
      `diff --git old/d/x new/d/x\n--- old/d/x\n+++ new/d/x\n${edit('x', 'y')}`,
      `diff --git p q/1/a p q/2/a\n--- p q/1/a\n+++ p q/2/a\n${edit('A', 'new')}`,
      `diff --git a/z a/z\n--- a/z\n+++ a/z\n${edit('z', 'zz')}`,
    ].join(''),
    files: { 'd/x': 'x\n', a: 'A\n', z: 'z\n' },
    changes: [
      ['modify', 'd/x', 'y\n'],
      ['modify', 'a', 'new\n'],
    ],
    leftOut: ['a/z: missing'],
  },
  {
    what: 'a hunk that names no file is told',
    patch: `${header('a')}${edit('A', 'x')}\nSome words.\n${edit('x', 'y')}`,
    files: abc,
    changes: [['modify', 'a', 'x\n']],
    leftOut: ['diff --git a/a b/a: malformed'],
  },
];

describe('forms of patches', () => {
  for (const { what, patch, files, links, changes, leftOut = [] } of forms)
    test(what, async () => {
      const proposal = await propose(patch, files, links);
      assert.deepEqual(texts(proposal), changes);
      assert.deepEqual(reasons(proposal), leftOut);
    });
});

test('a byte order mark is a character of line 1 of the patch', async () => {
  const mark = '\ufeff';
  const file = `${mark}one\ntwo\nthree\n`;
  const bytes = (change: FileChange | undefined): string | undefined =>
    change?.after && 'text' in change.after
      ? `${change.after.encoding.bom ? mark : ''}${change.after.text}`
      : undefined;
  const cases: readonly (readonly [hunk: string, after: string])[] = [
    [`@@ -1,2 +1,2 @@\n ${mark}one\n-two\n+TWO\n`, `${mark}one\nTWO\nthree\n`],
    [`@@ -1 +1 @@\n-${mark}one\n+${mark}ONE\n`, `${mark}ONE\ntwo\nthree\n`],
    [`@@ -1 +1 @@\n-${mark}one\n+one\n`, 'one\ntwo\nthree\n'],
    ['@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n', `${mark}one\nTWO\nthree\n`],
    ['@@ -3 +3 @@\n-three\n+THREE\n', `${mark}one\ntwo\nTHREE\n`],
  ];
  for (const [hunk, after] of cases) {
    const { changes, leftOut } = await propose(header('f') + hunk, { f: file });
    assert.deepEqual([bytes(changes[0]), leftOut], [after, []]);
  }
  const added = await propose(header('f') + `@@ -1 +1 @@\n-one\n+${mark}one\n`, { f: 'one\n' });
  assert.equal(bytes(added.changes[0]), `${mark}one\n`);
  const created = await propose(made('g', `${mark}one`), {});
  assert.equal(bytes(created.changes[0]), `${mark}one\n`);
  const removed = await propose(
    `${gone('f', 'x').slice(0, -'@@ -1 +0,0 @@\n-x\n'.length)}@@ -1,3 +0,0 @@\n-${mark}one\n-two\n-three\n`,
    { f: file },
  );
  assert.deepEqual([texts(removed), removed.leftOut], [[['delete', 'f', null]], []]);
});

test('permission bits go with the file where files change places, and with a copy', async () => {
  const workspace = new MemoryWorkspace({ a: 'A\n', b: 'B\n' });
  workspace.put('b', 'B\n', 0o755);
  const patch = moved('rename', 'b', 'a') + moved('rename', 'a', 'b') + moved('copy', 'b', 'c');
  const { changes, leftOut } = await patchProposal(await parsePatch(patch), workspace, {
    resolve: async name => [await workspace.resolvePath(name)],
    isLink: async () => false,
  });
  assert.deepEqual(
    changes.map(change => [change.path, 'mode' in change ? change.mode : undefined]),
    [
      ['b', 0o644],
      ['a', 0o755],
      ['c', 0o755],
    ],
  );
  assert.deepEqual(leftOut, []);
});

describe('patches of Codex', () => {
  const codex = (...lines: readonly string[]): string =>
    ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  const file = 'class A\n  run\n  end\nclass B\n  run\n  end\n';

  test('files are added, updated, moved and deleted', async () => {
    const patch = codex(
      ...['*** Add File: d/new.txt', '+one', '+two'],
      ...['*** Update File: a.rb', '@@', ' class A', '-  run', '+  walk'],
      ...[
        '*** Update File: old.rb',
        '*** Move to: now.rb',
        '@@ class B',
        '-  run',
        '+  walk',
        '*** End of File',
      ],
      ...['*** Delete File: gone.txt'],
    );
    const old = file.replace(/end\n$/, '').trimEnd();
    const files = { 'a.rb': file, 'old.rb': `${old}\n`, 'gone.txt': 'whatever\n' };
    for (const text of [patch, patch.replaceAll('\n', '\r\n'), `apply_patch <<'EOF'\n${patch}EOF\n`]) {
      const proposal = await propose(text, files);
      assert.deepEqual(texts(proposal), [
        ['create', 'd/new.txt', 'one\ntwo\n'],
        ['modify', 'a.rb', file.replace('run', 'walk')],
        ['rename', 'old.rb', 'now.rb', 'class A\n  run\n  end\nclass B\n  walk\n'],
        ['delete', 'gone.txt', null],
      ]);
      assert.deepEqual(reasons(proposal), []);
    }
  });

  test('a hunk goes below the line that it names, else where its lines are once; else it is told', async () => {
    const update = (...lines: readonly string[]) =>
      propose(codex('*** Update File: a.rb', ...lines), { 'a.rb': file });
    const below = await update('@@ class B', '   run', '-  end', '+  stop');
    assert.deepEqual(texts(below), [['modify', 'a.rb', file.replace(/end\n$/, 'stop\n')]]);
    const twice = await update('@@', '-  run', '+  walk');
    assert.deepEqual([texts(twice), reasons(twice)], [[], ['a.rb: hunks']]);
    const nowhere = await update('@@ class C', '-  run', '+  walk');
    assert.deepEqual([texts(nowhere), reasons(nowhere)], [[], ['a.rb: hunks']]);
    assert.equal(nowhere.leftOut[0]?.detail, '@@ class C\n-  run\n+  walk');
    const added = await update('@@', '+more');
    assert.deepEqual([texts(added), reasons(added)], [[], ['a.rb: hunks']]);
    const atEnd = await update('@@', '+more', '*** End of File');
    assert.deepEqual(texts(atEnd), [['modify', 'a.rb', `${file}more\n`]]);
  });

  test('line endings and the end of the file stay as they are here', async () => {
    const patch = codex('*** Update File: a', '@@', ' one', '-two', '+TWO');
    const { changes } = await propose(patch, { a: '\ufeffone\r\ntwo' });
    const [change] = changes;
    assert.ok(change?.after && 'text' in change.after);
    assert.deepEqual([change.after.text, change.after.encoding.bom], ['one\r\nTWO', true]);
  });

  test('a damaged part does not hide the others, and several patches are a series', async () => {
    const patch =
      codex(
        '*** Update File: a',
        '@@',
        'one',
        '*** Add File: b',
        'no sign',
        '*** Update File: c',
        '-c',
        '+C',
      ) + codex('*** Update File: c', '-C', '+CC');
    const proposal = await propose(patch, { a: 'one\n', c: 'c\n' });
    assert.deepEqual(texts(proposal), [['modify', 'c', 'CC\n']]);
    assert.deepEqual(reasons(proposal), ['*** Update File: a: malformed', '*** Add File: b: malformed']);
  });
});
