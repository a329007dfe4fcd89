import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after as afterAll, describe, it, mock } from 'node:test';
import { requestFor } from '../../../../../../bench/lib/engine.ts';
import { isTransient } from '../../../../../../src/agent/base/system/replaceFile.ts';
import { isAbortError } from '../../../../../../src/agent/base/errors.ts';
import { sha256 } from '../../../../../../src/agent/base/hash.ts';
import { bytesOfSide } from '../../../../../../src/agent/hold/preview/fileChange.ts';
import { AstGrepNapi } from '../../../../../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { AstSearch } from '../../../../../../src/agent/session/tools/ast/engine/search.ts';
import type { SentFile } from '../../../../../../src/agent/session/tools/ast/worker/protocol.ts';
import { installedGrammars } from '../../../../../support/astGrammars.ts';
import {
  after,
  failureOf,
  folderWith,
  searchFolder,
  startEngine,
  writeFiles,
} from '../../../../../support/astFolder.ts';

const engine = startEngine();
const folders: string[] = [];

function given(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = folderWith(files);
  folders.push(folder);
  return folder;
}

const rename = [{ pat: 'foo($A)', out: 'bar($A)' }];

afterAll(() => {
  engine.dispose();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

describe('a structural search', () => {
  it('gives both sides of a file with their exact bytes', async () => {
    const bytes = Buffer.from('\ufeff// é😀\r\nfoo("日本");\r\n  foo(2)', 'utf8');
    const { files } = await searchFolder(engine, given({ 'a.ts': bytes }), rename);
    const [file] = files;
    assert.ok(file?.found.kind === 'edits');
    assert.equal(file.found.before.hash, sha256(bytes));
    assert.deepEqual(Buffer.from(bytesOfSide(file.found.before)), bytes);
    const expected = Buffer.from('\ufeff// é😀\r\nbar("日本");\r\n  bar(2)', 'utf8');
    assert.deepEqual(Buffer.from(bytesOfSide(file.found.after)), expected);
    assert.equal(file.found.after.hash, sha256(expected));
    assert.equal(file.matches, 2);
  });

  it('reads UTF-16 with its mark and skips files that are not text', async () => {
    const utf16 = Buffer.from('\ufefffoo(1)', 'utf16le');
    const folder = given({ 'a.ts': utf16, 'b.ts': Buffer.from('foo("\xe9")', 'latin1') });
    const found = await searchFolder(engine, folder, rename);
    assert.deepEqual(after(found), { 'a.ts': 'bar(1)' });
  });

  it('passes over a file of which the system tells nothing', async () => {
    const folder = given({ 'a.ts': 'foo(1)' });
    if (process.platform === 'linux') {
      // Three bytes stand for each, which makes a name that is too long.
      const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.alloc(200, 0xff), Buffer.from('.ts')]);
      fs.writeFileSync(odd, 'foo(2)');
    }
    const unsaved = [{ id: 'of another file', bytes: Buffer.from('') }];
    for (const options of [{}, { unsaved }])
      assert.deepEqual(after(await searchFolder(engine, folder, rename, options)), { 'a.ts': 'bar(1)' });
  });

  it('names files that might match but are not text, each time', async () => {
    const latin = Buffer.from('foo("\xe9")', 'latin1');
    const folder = given({ 'a.ts': latin, 'b.ts': Buffer.from('"\xe9"', 'latin1'), 'c.html': latin });
    for (const time of ['first', 'second']) {
      const { files, summary } = await searchFolder(engine, folder, rename);
      assert.deepEqual(files, []);
      assert.deepEqual([...summary.notText].sort(), ['a.ts', 'c.html'], time);
    }
  });

  it('finds the same in every language it knows', async () => {
    const found = await searchFolder(
      engine,
      given({
        'a.py': 'foo(1)\n',
        'a.go': 'package a\nfunc f() { foo(1) }\n',
        'a.rs': 'fn f() { foo(1); }\n',
        'a.java': 'class A { void f() { foo(1); } }\n',
        'a.cpp': 'int f() { foo(1); }\n',
        'a.cs': 'class A { void F() { foo(1); } }\n',
        'a.rb': 'foo(1)\n',
        'a.kt': 'fun f() { foo(1) }\n',
        'a.lua': 'foo(1)\n',
        'a.js': 'foo(1)\n',
        'a.tsx': '<a>{foo(1)}</a>\n',
        'a.html': '<script>foo(1)</script>\n',
      }),
      rename,
    );
    const texts = Object.values(after(found));
    assert.equal(texts.length, 12, Object.keys(after(found)).join(' '));
    assert.ok(texts.every(text => text.includes('bar(1)')));
  });

  /** A call of `foo` in each language, and how its file begins and ends. */
  const calls: readonly (readonly [name: string, before: string, after: string, pat?: string])[] = [
    ['a.ts', '', ''],
    ['a.tsx', '<a>{', '}</a>'],
    ['a.js', '', ''],
    ['a.html', '<script>', '</script>'],
    ['a.css', '', '', 'a { color: red }'],
    ['a.py', '', ''],
    ['a.go', 'package a\nfunc f() { ', ' }'],
    ['a.rs', 'fn f() { ', '; }'],
    ['a.java', 'class A { void f() { ', '; } }'],
    ['a.c', 'int a = ', ';', '1'],
    ['a.cpp', 'int f() { ', '; }'],
    ['a.cs', 'class A { void F() { ', '; } }'],
    ['a.rb', '', ''],
    ['a.kt', 'fun f() { ', ' }'],
    ['a.lua', '', ''],
    ['a.sh', 'cd ', '', 'foo'],
    ['a.json', '[', ']', '1'],
    ['a.yaml', 'a: ', '', 'foo'],
  ];
  for (const [name, head, tail, pattern = 'foo($$$A)'] of calls) {
    const code = pattern.replace('$$$A', '1');
    it(`refuses unbound variables, and writes the literal ones, in ${name}`, async () => {
      const folder = given({ [name]: `${head}${code}${tail}\n` });
      const failure = await failureOf(searchFolder(engine, folder, [{ pat: pattern, out: 'bar($HOME)' }]));
      assert.ok(failure.code === 'unbound' && failure.op === 0, JSON.stringify(failure));
      assert.deepEqual(failure.names, ['$HOME']);
      assert.deepEqual(failure.bound, pattern.includes('$') ? ['$$$A'] : []);
      const found = await searchFolder(engine, folder, [{ pat: pattern, out: '$$HOME ${HOME} $home $1' }]);
      assert.deepEqual(after(found), { [name]: `${head}$HOME \${HOME} $home $1${tail}\n` });
    });
  }

  it('refuses unbound variables only where the pattern matches, if it binds them in another language', async () => {
    const op = { pat: 'foo($A)', out: 'bar($A)' };
    // In a page, the pattern is text, without variables.
    const found = await searchFolder(engine, given({ 'a.html': 'foo(1)', 'a.ts': 'foo(1)' }), [op]);
    assert.deepEqual(after(found), { 'a.ts': 'bar(1)' });
  });

  it('runs several patterns on the same files at once', async () => {
    const folder = given({ 'a.ts': 'foo(1); old(foo2); keep(1)', 'b.ts': 'old(x)' });
    const found = await searchFolder(engine, folder, [...rename, { pat: 'old($A)', out: '' }]);
    assert.deepEqual(after(found), { 'a.ts': 'bar(1); ; keep(1)', 'b.ts': '' });
  });

  it('merges identical edits of two patterns', async () => {
    const folder = given({ 'a.ts': 'foo(1)' });
    const { files } = await searchFolder(engine, folder, [...rename, { pat: 'foo(1)', out: 'bar(1)' }]);
    assert.deepEqual(after({ files, summary: {} as never }), { 'a.ts': 'bar(1)' });
    assert.equal(files[0]?.matches, 1);
  });

  it('refuses replacements that overlap and says where', async () => {
    const folder = given({ 'a.ts': '\n\nfoo(\n  old(1),\n)' });
    const failure = await failureOf(searchFolder(engine, folder, [{ pat: 'old($A)', out: '$A' }, ...rename]));
    assert.deepEqual(failure, {
      code: 'overlap',
      path: 'a.ts',
      first: { op: 1, startLine: 3, endLine: 5 },
      second: { op: 0, startLine: 4, endLine: 4 },
    });
  });

  it('replaces the outer one of two matches and counts the inner ones', async () => {
    const { files, summary } = await searchFolder(engine, given({ 'a.ts': 'foo(foo(1))' }), rename);
    assert.deepEqual(after({ files, summary }), { 'a.ts': 'bar(foo(1))' });
    assert.equal(files[0]?.nested, 1);
  });

  it('leaves out rewrites that change nothing', async () => {
    const { files } = await searchFolder(engine, given({ 'a.ts': 'foo(1)' }), [
      { pat: 'foo($A)', out: 'foo($A)' },
    ]);
    assert.deepEqual(files, []);
  });

  it('refuses a pattern that is not valid in any language of the files', async () => {
    const folder = given({ 'a.ts': 'foo(1)', 'b.py': 'x = 1' });
    for (const pat of ['function (', 'a; b', '$$$A']) {
      const failure = await failureOf(searchFolder(engine, folder, [{ pat, out: '' }]));
      assert.equal(failure.code, 'invalidPattern', pat);
    }
  });

  it('finds 10,000 matches in one file and in many', async () => {
    const line = 'foo({\n  a: 1\n})\n';
    const files: Record<string, string> = { 'one.ts': line.repeat(10_000) };
    for (let i = 0; i < 1_000; i++) files[`d${i % 7}/f${i}.ts`] = line.repeat(10);
    const found = await searchFolder(engine, given(files), rename);
    assert.equal(found.files.length, 1_001);
    assert.equal(
      found.files.reduce((sum, file) => sum + file.matches, 0),
      20_000,
    );
    assert.equal(after(found)['one.ts'], line.replace('foo', 'bar').repeat(10_000));
  });

  it('searches files with syntax errors and says so', async () => {
    const folder = given({ 'a.ts': 'foo(1);\n}}} function ( {\n', 'b.ts': 'foo(1)' });
    const { files } = await searchFolder(engine, folder, rename);
    assert.deepEqual(
      files.map(({ path, syntaxErrors }) => [path, syntaxErrors]),
      [
        ['a.ts', true],
        ['b.ts', false],
      ],
    );
  });

  const breaking: readonly (readonly [
    what: string,
    name: string,
    text: string,
    out: string,
    isBroken: boolean,
    pat?: string,
  ])[] = [
    ['code that does not fit', 'a.ts', 'class A { m() { foo(1) } }', 'bar($A', true],
    ['code that fits', 'a.ts', 'class A { m() { foo(1); foo(2) } }', 'bar(`\n${$A}`)', false],
    ['a token that is missing', 'a.ts', 'if (a) { foo(1) }', '[{', true],
    ['a class field', 'a.ts', 'class A { x = foo(1) }', '1; y = $A', false],
    ['two statements for one value', 'a.ts', 'g(foo(1))', '1; $A', true],
    ['a statement that runs into the next one', 'a.ts', 'foo(1);\n(a) => b', 'bar($A)', true, 'foo($A);'],
    [
      'a body before a statement on its line',
      'a.ts',
      'function f() {} b()',
      'bar($A)',
      true,
      'function $A() {}',
    ],
    ['a body before a line', 'a.ts', 'function f() {}\nb()', 'bar($A)', false, 'function $A() {}'],
    ['one that runs into the one before', 'a.ts', 'x\nfoo(1)', '(a) => $A', true],
    ['statements that are deleted', 'a.ts', 'x\nfoo(1)\n{ foo(2); }', '', false],
    ['errors that were there before', 'a.ts', 'foo(1)\n}}} function (', 'bar($A)', false],
    ['errors beside earlier ones', 'a.ts', 'foo(1)\nlet = ;', 'bar($A', true],
    ['a script of a page', 'a.html', '<p>a</p><script>foo(1)</script>', 'bar($A', true],
    ['a page that is well', 'a.html', '<p>a</p><script>foo(1)</script>', 'bar($A)', false],
    ['another language', 'a.py', 'def f():\n    foo(1)\n', 'bar($A', true],
    ['a heredoc', 'a.sh', 'foo 1\n', 'cat <<EOF\nEOF\n', false, 'foo 1'],
  ];
  for (const [what, name, text, out, isBroken, pat = 'foo($A)'] of breaking) {
    it(`says whether edits bring syntax errors: ${what}`, async () => {
      // The first files are parsed here, the others in the engine's pool.
      const files = Object.fromEntries(
        Array.from({ length: 4 }, (_, n) => [name.replace('.', `${n}.`), text]),
      );
      const found = await searchFolder(engine, given(files), [{ pat, out }]);
      assert.deepEqual(
        found.files.map(file => file.newSyntaxErrors),
        [isBroken, isBroken, isBroken, isBroken],
      );
    });
  }

  for (const out of ['bar($A)', ' bar($A) \n'])
    it(`parses the results of few among many edits of the same shape: ${JSON.stringify(out)}`, async () => {
      const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));
      await napi.load();
      const files = Object.fromEntries(
        Array.from({ length: 60 }, (_, n) => [`f${n}.ts`, `export const a = foo(x => {\n  go(${n});\n});\n`]),
      );
      const parse = mock.method(napi, 'parse');
      let found = 0;
      const output = { file: () => void found++, drained: () => Promise.resolve() };
      const request = requestFor(given(files), 'foo($A)', out);
      await new AstSearch(napi).run(request, output, new AbortController().signal);
      assert.equal(found, 60);
      assert.ok(parse.mock.callCount() <= 20, `${parse.mock.callCount()} texts were parsed here`);
    });

  it('looks for strings of several lines only where one may matter', async () => {
    const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));
    await napi.load();
    const code = '// `\nif (a) {\n  foo(x => {\n    go();\n  });\n}\n';
    const strings = '{\n  x = `\n    a` + foo(() => {\n  `\n b`;\n  });\n}\n';
    const looked = mock.method(napi, 'stringsIn');
    const edited = new Map<string, string | undefined>();
    const output = {
      file: ({ path, found }: SentFile) =>
        void edited.set(path, found.kind === 'edits' ? found.edits[0]?.text : undefined),
      drained: () => Promise.resolve(),
    };
    const request = requestFor(given({ 'a.ts': code, 'b.ts': strings }), 'foo($A)', 'bar(\n  $A\n)');
    await new AstSearch(napi).run(request, output, new AbortController().signal);
    assert.deepEqual(Object.fromEntries(edited), {
      'a.ts': 'bar(\n    x => {\n      go();\n    }\n  )',
      'b.ts': 'bar(\n    () => {\n    `\n b`;\n    }\n  )',
    });
    assert.equal(looked.mock.callCount(), 2, 'the rewrite, and b.ts');
  });

  const LONG = `(${'a, '.repeat(40)}b as c, 2)`;
  const lookingAlike: readonly (readonly [
    what: string,
    well: string,
    broken: string,
    out: string,
    pat?: string,
  ])[] = [
    ['a number without a fraction', 'foo(1.5);', 'foo(1);', '$A.bar()'],
    ['a long number without a fraction', 'foo(1.5);', 'foo(1_000);', '$A.bar()'],
    ['a number after long code', `foo(${LONG} + 1.5);`, `foo(${LONG} + 1);`, '$A.bar()'],
    ['a type after long code', `x = foo(${LONG} as T);`, `x = foo(${LONG} as T) < c;`, '$A'],
    ['a semicolon before a line', 'foo(a);\nb();', 'foo(a);\n(a) => b', 'bar($A)', 'foo($A);'],
    ['a number before a name with an accent', 'foo(1.5);', 'foo(1);', '$A.é()'],
    ['a keyword that begins a statement', 'x = foo(let[1]);', 'foo(let[1]);', '$A = 1'],
    ['a comment up to the end of the line', 'foo(a /* c */);', 'foo(a // c\n);', 'bar($$$A)', 'foo($$$A)'],
    ['two signs that become one', 'x = a + -b;', 'x = a + +b;', '$A+$B', '$A + $B'],
    ['a sign that joins the one before it', 'x = !a;', 'x = c-!a;', '-$A', '!$A'],
    ['a name that joins the one before it', 'x = (f)(a);', 'x = b instanceof(f)(a);', 'foo($F)', '$F(a)'],
    ['a statement without its semicolon', 'if (x) a();', 'if (x) a()', 'if ($C) $A else b()', 'if ($C) $A'],
    ['a semicolon taken before else', 'foo(a);', 'if (x) foo(a); else b();', 'bar($A)', 'foo($A);'],
    ['a semicolon taken in a case', 'foo(a);', 'switch (x) { case 1: foo(a); b(); }', 'bar($A)', 'foo($A);'],
    ['a decorator', 'foo(x);', '@foo(x) class A {}', '$A.b()()'],
    ['the name of an element', 'x = a.P;', 'x = <a.P />;', '$A[0].P', '$A.P'],
    ['the name of a type', 'x = a.b;', 'let x: typeof a.b;', '($A).b', '$A.b'],
    ['a type before a comparison', 'x = b as any;', 'x = b as any < c;', '$A as Foo', '$A as any'],
    ['a comparison after a type', 'x = a as any == b;', 'x = a as C == b;', '$A < $B', '$A == $B'],
    [
      'a name of an attribute',
      'x = <Foo id={y} />;',
      'x = <Foo data-id={y} />;',
      '<Foo props={{ $A: $B }} />',
      '<Foo $A={$B} />',
    ],
  ];
  for (const [what, well, broken, out, pat = 'foo($A)'] of lookingAlike)
    it(`knows edits that break the syntax from those of the same kinds that do not: ${what}`, async () => {
      const texts = { 'a.tsx': well, 'b.tsx': well, 'c.tsx': broken, 'd.tsx': well, 'e.tsx': broken };
      const { files } = await searchFolder(engine, given(texts), [{ pat, out }]);
      const told = files.map(file => file.newSyntaxErrors);
      assert.deepEqual(told, [false, false, true, false, true]);
    });

  it('distinguishes syntax errors from matches, whatever the pattern', async () => {
    const files: Record<string, string> = {};
    // More files than are parsed one by one at the start.
    for (let i = 10; i < 60; i++) files[`f${i}.ts`] = i % 2 === 0 ? 'foo(1);\n}}}\n' : 'foo(1)\n';
    const folder = given(files);
    for (const [pat, out] of [
      ['foo($A)', 'bar($A)'],
      ['$A', 'x'],
      ['$_', 'y'],
    ] as const) {
      const { files: found } = await searchFolder(engine, folder, [{ pat, out }]);
      assert.equal(found.length, 50, pat);
      for (const { path, matches, syntaxErrors } of found)
        assert.deepEqual([matches, syntaxErrors], [1, Number(path.slice(1, 3)) % 2 === 0], `${pat} ${path}`);
    }
  });

  it('only searches if there is no rewrite', async () => {
    const folder = given({ 'a.ts': `x\n  foo(\n1)\nfoo('${'y'.repeat(300)}')` });
    const { files } = await searchFolder(engine, folder, [{ pat: 'foo($A)', out: null }]);
    const [file] = files;
    assert.ok(file?.found.kind === 'rows');
    assert.deepEqual(file.found.rows[0], { line: 2, column: 3, text: 'foo(…' });
    assert.equal(file.found.rows[1]?.line, 4);
    assert.equal(file.found.rows[1].text.length, 201);
  });
});

describe('which files are searched', () => {
  it('honours ignore files of every folder, the nearest first', async () => {
    const folder = given({
      '.git/info/exclude': 'excluded.ts\n',
      '.gitignore': 'dist/\n*.gen.ts\n',
      'a.ts': 'foo(1)',
      'excluded.ts': 'foo(1)',
      'a.gen.ts': 'foo(1)',
      'dist/a.ts': 'foo(1)',
      'sub/.gitignore': '!b.gen.ts\nlocal.ts\n',
      'sub/b.gen.ts': 'foo(1)',
      'sub/local.ts': 'foo(1)',
      'sub/deep/local.ts': 'foo(1)',
      '.dot/a.ts': 'foo(1)',
      '.git/a.ts': 'foo(1)',
    });
    const paths = async (selected: string[], exclude: string[] = []): Promise<string[]> =>
      (await searchFolder(engine, folder, rename, { paths: selected, exclude })).files.map(
        ({ path }) => path,
      );
    assert.deepEqual(await paths(['']), ['.dot/a.ts', 'a.ts', 'sub/b.gen.ts']);
    assert.deepEqual(await paths(['sub']), ['sub/b.gen.ts']);
    assert.deepEqual(await paths(['dist']), ['dist/a.ts'], 'a folder that is named');
    assert.deepEqual(await paths(['a.gen.ts']), ['a.gen.ts'], 'a file that is named');
    assert.deepEqual(await paths(['**/a.ts']), ['.dot/a.ts', 'a.ts']);
    assert.deepEqual(await paths(['s*b/*.ts', 'sub/b.gen.ts']), ['sub/b.gen.ts'], 'once');
    assert.deepEqual(await paths([''], ['**/.dot']), ['a.ts', 'sub/b.gen.ts']);
  });

  it('reports how many files the paths select and what could not be searched', async () => {
    const folder = given({ 'a.txt': 'foo(1)', 'b.ts': 'foo(1)', 'big.ts': `foo(1)${' '.repeat(6_000_000)}` });
    const { summary, files } = await searchFolder(engine, folder, rename);
    assert.equal(files.length, 1);
    assert.deepEqual(
      [summary.selected, summary.searched, summary.unknownExtensions, summary.tooLarge],
      [3, 2, ['.txt'], ['big.ts']],
    );
    assert.equal((await searchFolder(engine, folder, rename, { paths: ['none'] })).summary.selected, 0);
  });

  it('searches the text in memory in place of the file on disk', async () => {
    const folder = given({ 'a.ts': 'foo(1)', 'b.ts': 'nothing()', 'c.ts': 'foo(3)' });
    const inMemory = [
      { path: 'a.ts', bytes: Buffer.from('nothing()') },
      { path: 'b.ts', bytes: Buffer.from('  foo(2)') },
      { path: 'c.ts', bytes: null },
      { path: 'new/d.ts', bytes: Buffer.from('foo(4)') },
    ];
    assert.deepEqual(after(await searchFolder(engine, folder, rename, { inMemory })), {
      'b.ts': '  bar(2)',
      'new/d.ts': 'bar(4)',
    });
    assert.deepEqual(after(await searchFolder(engine, folder, rename, { inMemory, paths: ['new'] })), {
      'new/d.ts': 'bar(4)',
    });
  });

  it('leaves out an unsaved text where it would leave out the file', async () => {
    const folder = given({ '.gitignore': 'dist/\n*.gen.ts\n', 'dist/a.ts': 'foo(1)', 'a.ts': 'nothing()' });
    const names = ['dist/a.ts', 'dist/new.ts', 'new.gen.ts', 'out/deep/new.ts', 'sub/new.ts', '.git/new.ts'];
    const inMemory = names.map(path => ({ path, bytes: Buffer.from('foo(2)') }));
    const paths = async (selected: string[]): Promise<string[]> => {
      const found = await searchFolder(engine, folder, rename, {
        inMemory,
        paths: selected,
        exclude: ['**/out'],
      });
      return found.files.map(({ path }) => path);
    };
    assert.deepEqual(await paths(['']), ['sub/new.ts']);
    assert.deepEqual(await paths(['**/new*.ts']), ['sub/new.ts']);
    assert.deepEqual(await paths(['dist']), ['dist/a.ts', 'dist/new.ts'], 'a folder that is named');
    assert.deepEqual(
      await paths(['out/deep', 'new.gen.ts']),
      ['new.gen.ts', 'out/deep/new.ts'],
      'what is named',
    );
  });
});

describe('a repeated search', () => {
  it('uses the cache for unchanged files and searches the others again', async () => {
    const folder = given({ 'a.ts': 'foo(1)', 'b.ts': 'foo(2)', 'c.ts': 'x' });
    const first = after(await searchFolder(engine, folder, rename));
    assert.deepEqual(after(await searchFolder(engine, folder, rename)), first);
    writeFiles(folder, { 'b.ts': 'baz(22)', 'c.ts': 'foo(3333)' });
    assert.deepEqual(after(await searchFolder(engine, folder, rename)), {
      'a.ts': 'bar(1)',
      'c.ts': 'bar(3333)',
    });
    assert.deepEqual(after(await searchFolder(engine, folder, [{ pat: 'foo($A)', out: 'qux($A)' }])), {
      'a.ts': 'qux(1)',
      'c.ts': 'qux(3333)',
    });
  });
});

describe('a search that is interrupted', () => {
  it('stops when it is cancelled, and the next one works', async () => {
    const files: Record<string, string> = {};
    for (let i = 0; i < 2_000; i++) files[`f${i}.ts`] = 'foo(1)\n'.repeat(200);
    const folder = given(files);
    const abort = new AbortController();
    let batches = 0;
    const run = engine.run(
      { ops: rename, roots: [{ folder, prefix: '', paths: [''], exclude: [] }], inMemory: [] },
      {
        onFiles() {
          batches++;
          abort.abort();
        },
      },
      abort.signal,
    );
    await assert.rejects(run, isAbortError);
    assert.equal(batches, 1);
    assert.equal((await searchFolder(engine, folder, rename, { paths: ['f1.ts'] })).files.length, 1);
    await assert.rejects(searchFolder(engine, folder, rename, { signal: AbortSignal.abort() }), isAbortError);
  });

  it('fails when its worker is lost, and the next one has a new worker', async () => {
    const own = startEngine();
    const folder = given({ 'a.ts': 'foo(1)' });
    const lost = searchFolder(own, folder, rename);
    own.dispose();
    await assert.rejects(lost);
    assert.equal((await searchFolder(own, folder, rename)).files.length, 1);
    own.dispose();
  });

  it('is correct for files that change meanwhile', async () => {
    const files: Record<string, string> = {};
    for (let i = 0; i < 600; i++) files[`f${i}.ts`] = `// ${i}\nfoo(${i})\n`;
    const folder = given(files);
    let changes = 0;
    const changing = setInterval(() => {
      for (let i = changes; i < changes + 40 && i < 600; i++) {
        // At once, as programs write that care: a file cut short would rightly hold no match.
        writeFiles(folder, { next: `// changed, and longer than before\n${' '.repeat(i)}foo(${i})\n` });
        try {
          fs.renameSync(`${folder}/next`, `${folder}/f${i}.ts`);
        } catch (error) {
          // Windows refuses while the search has the file open.
          if (!isTransient(error)) throw error;
        }
      }
      changes += 40;
    }, 1);
    const { files: found } = await searchFolder(engine, folder, rename);
    clearInterval(changing);
    assert.equal(found.length, 600);
    for (const { path, found: edit } of found) {
      assert.ok(edit.kind === 'edits');
      assert.equal(edit.after.text, edit.before.text.replace('foo', 'bar'), path);
    }
  });
});
