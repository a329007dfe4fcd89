import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after as afterAll, describe, it } from 'node:test';
import { after, folderWith, searchFolder, startEngine } from '../../../../../support/astFolder.ts';

const engine = startEngine();
afterAll(() => engine.dispose());

const wrap = { pat: 'foo($A)', out: 'bar(\n  $A,\n)' };

async function rewritten(name: string, text: string, op = wrap): Promise<string | undefined> {
  const folder = folderWith({ [name]: text });
  try {
    return after(await searchFolder(engine, folder, [op]))[name];
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe('a replacement of several lines', () => {
  it('gets the line endings of the file; if it mixes several, that of the line', async () => {
    assert.equal(await rewritten('a.ts', 'foo(1)\r\nx\r\n'), 'bar(\r\n  1,\r\n)\r\nx\r\n');
    assert.equal(
      await rewritten('a.ts', 'foo(1)\nfoo(2)\r\nfoo(3)'),
      'bar(\n  1,\n)\nbar(\r\n  2,\r\n)\r\nbar(\r\n  3,\r\n)',
    );
    assert.equal(await rewritten('a.ts', 'x\r\nfoo(1)', { ...wrap, out: 'a\r\nb' }), 'x\r\na\r\nb');
    assert.equal(await rewritten('a.ts', 'x\nfoo(1)\n', { ...wrap, out: 'a\r\nb' }), 'x\na\nb\n');
  });

  it('is indented with tabs where the file is, at the depth of the match', async () => {
    assert.equal(
      await rewritten('a.ts', '{\n\t{\n\t\tfoo({\n\t\t\ta,\n\t\t})\n\t}\n}'),
      '{\n\t{\n\t\tbar(\n\t\t\t{\n\t\t\t\ta,\n\t\t\t},\n\t\t)\n\t}\n}',
    );
    assert.equal(
      await rewritten('a.ts', 'foo(1)\n{\n\tx\n}', { ...wrap, out: 'a {\n    b {\n        $A' }),
      'a {\n\tb {\n\t\t1\n{\n\tx\n}',
    );
  });

  it('is not misled by what is indented in a string', async () => {
    assert.equal(
      await rewritten('a.ts', 'x = `\n  y`\nfoo(1)\n{\n\tz\n}'),
      'x = `\n  y`\nbar(\n\t1,\n)\n{\n\tz\n}',
    );
  });

  it('has the steps of a file with spaces where the rewrite has tabs', async () => {
    assert.equal(
      await rewritten('a.ts', '{\n    foo(1)\n}', { ...wrap, out: 'a(\n\t$A)' }),
      '{\n    a(\n        1)\n}',
    );
  });

  const body = 'a\n      b\n\n c';
  const quoted: readonly (readonly [name: string, string: string, head?: string, tail?: string])[] = [
    ['a.ts', `\`${body} \${x}\``],
    ['a.tsx', `\`${body}\``, '<b>{', '}</b>'],
    ['a.js', "'a\\\n  b'"],
    ['a.html', `\`${body}\``, '<script>', '</script>'],
    ['a.py', `"""${body}"""`],
    ['a.go', `\`${body}\``, 'package a\nfunc f() { ', ' }'],
    ['a.rs', `"${body}"`, 'fn f() { ', '; }'],
    ['b.rs', `r#"${body}"#`, 'fn f() { ', '; }'],
    ['a.java', `"""\n${body}"""`, 'class A { void f() { ', '; } }'],
    ['a.c', '"a\\\n  b"', 'int f() { ', '; }'],
    ['a.cpp', `R"(${body})"`, 'int f() { ', '; }'],
    ['a.cs', `@"${body}"`, 'class A { void F() { ', '; } }'],
    ['b.cs', `$@"${body}"`, 'class A { void F() { ', '; } }'],
    ['a.rb', `"${body}"`],
    ['a.kt', `"""${body}"""`, 'fun f() { ', ' }'],
    ['a.lua', `[[${body}]]`],
  ];
  for (const [name, string, head = '', tail = ''] of quoted) {
    it(`leaves what is in a string as it is, in ${name}`, async () => {
      const op = name === 'a.c' ? { pat: string, out: '(\n  $$X)' } : wrap;
      const now = name === 'a.c' ? '(\n      $X)' : `bar(\n      ${string},\n    )`;
      const before = `${head}\n    ${name === 'a.c' ? string : `foo(${string})`}${tail}\n`;
      assert.equal(await rewritten(name, before, op), `${head}\n    ${now}${tail}\n`);
    });
  }

  it('leaves what is in a string of the rewrite, and in a heredoc, as it is', async () => {
    assert.equal(
      await rewritten('a.ts', '{\n  foo(1)\n}', { ...wrap, out: 'g(\n  `a\n b`,\n  $A)' }),
      '{\n  g(\n    `a\n b`,\n    1)\n}',
    );
    const heredoc = 'cat <<EOF\nx\n  y\nEOF';
    assert.equal(
      await rewritten('a.sh', `if a; then\n  ${heredoc}\nfi\n`, {
        pat: 'if a; then\n$B\nfi',
        out: 'if b; then\n    $B\nfi',
      }),
      `if b; then\n    ${heredoc}\nfi\n`,
    );
  });

  it('is indented like its own line in code that a template string holds', async () => {
    assert.equal(
      await rewritten('a.ts', '{\n  x = `a ${\n    foo(1)\n  } b\n c`\n}'),
      '{\n  x = `a ${\n    bar(\n      1,\n    )\n  } b\n c`\n}',
    );
    const held = '`a\n${b} ${\n  `c\nd`\n} e\n`';
    assert.equal(
      await rewritten('a.ts', `foo(${held})`),
      `bar(\n  ${held.replace('\n  `', '\n    `').replace('\n} e', '\n  } e')},\n)`,
    );
  });

  it('is indented like the line on which the string before it began', async () => {
    assert.equal(
      await rewritten('a.ts', '{\n    x = `a\nb` + foo(1)\n}'),
      '{\n    x = `a\nb` + bar(\n      1,\n    )\n}',
    );
  });
});
