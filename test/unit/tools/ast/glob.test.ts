import * as assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { globBase, globToRegExp, isGlob } from '../../../../src/agent/tools/ast/glob.ts';

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
  ];
  for (const [glob, yes, no] of cases) {
    it(`matches whole paths: ${glob}`, () => {
      const pattern = globToRegExp(glob);
      for (const path of yes) assert.ok(pattern.test(path), path);
      for (const path of no) assert.ok(!pattern.test(path), path);
    });
  }

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
