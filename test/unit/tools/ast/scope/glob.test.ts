import * as assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  excludeMatcher,
  globBase,
  globMatcher,
  isGlob,
} from '../../../../../src/agent/tools/ast/scope/glob.ts';

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
