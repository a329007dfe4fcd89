import * as assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FileLayout } from '../../../../../../src/agent/session/tools/ast/engine/fileLayout.ts';
import { Template } from '../../../../../../src/agent/session/tools/ast/engine/template.ts';

/** Renders a rewrite for a match at `start`; variables are ranges of the source. */
function render(
  rewrite: string,
  source: string,
  start: number,
  variables: Record<string, string> = {},
): string {
  const find = (name: string) => {
    const text = variables[name];
    if (text === undefined) return undefined;
    const at = source.indexOf(text);
    return { start: at, end: at + text.length };
  };
  const bound = Object.keys(variables).flatMap(name => [`$${name}`, `$$$${name}`]);
  return new Template(rewrite, new Set(bound)).render(
    source,
    start,
    { single: find, multiple: find },
    new FileLayout(source, () => []),
  );
}

describe('a rewrite', () => {
  it('replaces variables with captured code, or with nothing if they captured none', () => {
    assert.equal(render('f($A, $$$B)', 'x y', 0, { A: 'x', B: 'y' }), 'f(x, y)');
    const none = { single: () => undefined, multiple: () => undefined };
    assert.equal(
      new Template('f($$$B)', new Set(['$$$B'])).render('x', 0, none, new FileLayout('x', () => [])),
      'f()',
    );
  });

  it('accepts only capital letters, digits and underscores in the name of a variable, and no digit first', () => {
    assert.equal(render('$a $ $$ $$$ $A1 $Ab', 'x', 0, { A1: 'x', A: 'x' }), '$a $ $$ $$$ x xb');
    assert.equal(render("$1 '$100' $1A $$1 $$A", 'x', 0, { A: 'x' }), "$1 '$100' $1A $$1 x");
  });

  it('names the variables that the pattern does not bind, each once', () => {
    const names = (rewrite: string): readonly string[] =>
      new Template(rewrite, new Set(['$A', '$$$B'])).unbound;
    assert.deepEqual(names('$A $$A $$$B $1 $home ${HOME}'), []);
    assert.deepEqual(names('$C $$$A $B $_ $A1 $C'), ['$C', '$$$A', '$B', '$_', '$A1']);
  });

  it('takes a doubled dollar before another name for a literal one', () => {
    assert.equal(render('cd $$HOME/$A $$_GET', 'x', 0, { A: 'x' }), 'cd $HOME/x $_GET');
  });

  it('moves the lines of captured code to the column of their variable', () => {
    const source = 'if (a) {\n    call(1,\n      2)\n}';
    assert.equal(render('w(\n  $A\n)', source, 0, { A: 'call(1,\n      2)' }), 'w(\n  call(1,\n    2)\n)');
  });

  it('indents its own lines like the line of the match', () => {
    assert.equal(render('a\nb', '  x = y', 6), 'a\n  b');
  });

  it('assumes no indentation in a line longer than 512 bytes', () => {
    assert.equal(render('a\nb', `  ${'x'.repeat(509)}y`, 511), 'a\n  b');
    assert.equal(render('a\nb', `  ${'x'.repeat(511)}y`, 513), 'a\nb');
    assert.equal(render('a\nb', `  ${'é'.repeat(300)}y`, 302), 'a\nb');
  });

  it('leaves lines alone that have less indentation than is removed', () => {
    assert.equal(render('$A', '    f(\n  1,\n      2)', 0, { A: 'f(\n  1,\n      2)' }), 'f(\n  1,\n  2)');
  });
});
