import * as assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitMs } from '../../../../../../scripts/lib/limits.mjs';
import { excludeMatcher, globBase, globMatcher, isGlob } from '../../../../../../src/agent/hold/text/glob.ts';
import { choicesOf } from '../../../../../../src/agent/hold/text/globParts.ts';

describe('a glob', () => {
  const cases: [glob: string, yes: string[], no: string[]][] = [
    ['*.ts', ['a.ts', '.ts'], ['a/b.ts', 'a.tsx', 'axts']],
    ['**/*.ts', ['a.ts', 'a/b.ts', 'a/b/c.ts'], ['a.js']],
    ['src/**/*.ts', ['src/a.ts', 'src/a/b.ts'], ['a.ts', 'xsrc/a.ts', 'src/a.js']],
    ['src/**', ['src/a', 'src/a/b'], ['src', 'srcs/a']],
    ['**', ['a', 'a/b'], ['']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb']],
    ['?.{ts,js}', ['a.ts', 'b.js'], ['ab.ts', 'a.tsx', '/.ts']],
    ['[a-c]x[!0-9]', ['axb', 'cx_'], ['dxb', 'ax1']],
    ['a+(b).ts', ['a+(b).ts'], ['aab.ts']],
    ['{a,b/**}/c', ['a/c', 'b/x/c'], ['b/c/d']],
    ['[x', ['[x'], ['x']],
    ['app/[id]/*.ts', ['app/[id]/a.ts', 'app/i/a.ts'], ['app/id/a.ts', 'app/[x]/a.ts']],
    ['[...x]/[[y]]/[z.{ts,js}', ['[...x]/[[y]]/[z.js'], ['[...x]/[[y]]/z.js']],
    ['**/*', ['.a', '.a/.b'], ['']],
    ['app/(auth)/*.ts', ['app/(auth)/a.ts'], ['app/auth/a.ts']],
    ['!a|"b"', ['!a|"b"'], ['a', 'b']],
    ['a\\b', ['a\\b'], ['ab', 'a/b']],
    ['a**b/***.c', ['ab/.c', 'axb/x.c'], ['a/b/x.c', 'ab/x/y.c']],
    ['{a,{b,c/**}/d}.e', ['a.e', 'b/d.e', 'c/x/y/d.e'], ['c.e', 'x/d.e']],
    ['{a}{b,[,}]}{c', ['{a}b{c', '{a},{c', '{a}}{c'], ['abc', '{a}{c']],
    ['{1..1000000}', ['{1..1000000}'], ['1', '7']],
    ['?[α-ω]💡', ['💡λ💡'], ['💡💡', '/λ💡']],
  ];
  for (const [glob, yes, no] of cases) {
    it(`matches whole paths: ${glob}`, async () => {
      const matches = await globMatcher([glob]);
      for (const path of yes) assert.ok(matches(path), path);
      for (const path of no) assert.ok(!matches(path), path);
    });
  }

  it('may be one of several', async () => {
    const matches = await globMatcher(['*.a', 'b/*']);
    assert.deepEqual(['x.a', 'b/x', 'x'].filter(matches), ['x.a', 'b/x']);
    assert.ok(!(await globMatcher([]))('a'));
  });

  for (const glob of [
    `${'*a'.repeat(7)}b`,
    `${'*a'.repeat(400)}b`,
    `${'{a,aa}'.repeat(150)}b`,
    `${'{*,*}'.repeat(150)}b`,
    `${'**/a/'.repeat(150)}b`,
    `${'{a,'.repeat(200)}b${'}'.repeat(200)}/b`,
    '{'.repeat(1_000),
  ])
    it(`is matched soon, however many ways there are: ${glob.slice(0, 20)}… (${glob.length})`, async () => {
      const matches = await globMatcher([glob]);
      const start = performance.now();
      for (const path of ['a'.repeat(60), 'a'.repeat(255), `${'a/'.repeat(2_000)}c`])
        assert.ok(!matches(path), path);
      assert.ok(performance.now() - start < limitMs(500), `${performance.now() - start} ms`);
    });

  it('with more states than are kept matches the same', async () => {
    const matches = await globMatcher([`**/*a${'?'.repeat(12)}`]);
    let digits = 1;
    for (let n = 0; n < 3_000; n++) {
      digits = (digits * 48_271) % 2_147_483_647;
      const name = digits.toString(2).replaceAll('0', 'a').replaceAll('1', 'b');
      assert.equal(matches(`x/${name}`), name.at(-13) === 'a', name);
    }
  });

  it('that excludes a folder excludes everything in it', async () => {
    const isExcluded = await excludeMatcher(['**/node_modules', 'out', '**/*.log']);
    for (const path of ['node_modules', 'a/node_modules/b/c.js', 'out/a', 'a/b.log'])
      assert.ok(isExcluded(path), path);
    for (const path of ['a/out/b', 'outs', 'node_modules2/a']) assert.ok(!isExcluded(path), path);
  });

  it('begins in the folder before its first special character', () => {
    assert.equal(globBase('src/a/**/*.ts'), 'src/a');
    assert.equal(globBase('src/a/b.{ts,js}'), 'src/a');
    assert.equal(globBase('*.ts'), '');
    assert.equal(globBase('s*/a/b'), '');
  });

  it('is a path with a special character', () => {
    assert.ok(isGlob('*.ts') && isGlob('a?') && isGlob('{a,b}') && isGlob('[ab]'));
    assert.ok(!isGlob('src/a-b.ts'));
  });
});

it('the choices of a glob are those that it matches by: a class or inner braces are not cut', () => {
  const cases: [glob: string, choices: string[]][] = [
    ['{src/**,*.md}', ['src/**', '*.md']],
    ['{a,{b,c}/d}', ['a', '{b,c}/d']],
    ['{[,],b}', ['[,]', 'b']],
    ['{[}],b}', ['[}]', 'b']],
    ['{💡,a}', ['💡', 'a']],
    ['{a}', ['a']],
    ['{,a}', ['a']],
    ['{a,b}/c', ['{a,b}/c']],
    ['{a', ['{a']],
  ];
  for (const [glob, choices] of cases) assert.deepEqual(choicesOf(glob), choices, glob);
});
