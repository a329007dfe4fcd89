import * as assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { AstGrepNapi } from '../../../../../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { languageById } from '../../../../../../src/agent/session/tools/ast/engine/languages.ts';
import { parsePattern } from '../../../../../../src/agent/session/tools/ast/engine/pattern.ts';
import { PatternCompiler } from '../../../../../../src/agent/session/tools/ast/engine/patternCompiler.ts';
import { AdjacencyFilter } from '../../../../../../src/agent/session/tools/ast/prefilter/adjacencyFilter.ts';
import { blankComments } from '../../../../../../src/agent/session/tools/ast/prefilter/blankComments.ts';
import { holdsAll, toBytes } from '../../../../../../src/agent/session/tools/ast/prefilter/byteLiteral.ts';
import {
  literalsOf,
  type Literals,
} from '../../../../../../src/agent/session/tools/ast/prefilter/literals.ts';
import { installedGrammars } from '../../../../../support/astGrammars.ts';
import { rounds } from '../../../../../support/rounds.ts';

const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));

function literals(pattern: string, language = 'TypeScript'): Literals {
  const known = languageById(language);
  return literalsOf(parsePattern(napi, known, pattern), known);
}

function rows(pattern: string, language?: string): string[] {
  return literals(pattern, language).rows.map(row => row.map(({ text }) => text).join(' '));
}

function texts(pattern: string, language?: string): string[] {
  return literals(pattern, language).all.map(({ text }) => text);
}

/** Whether the filters let a text pass. */
function passes(pattern: string, text: string, language = 'TypeScript'): boolean {
  const patterns = new PatternCompiler(napi, [{ pat: pattern, out: null }]).patternsFor(
    languageById(language),
  );
  return patterns.ops.some(op => op.mayMatch(Buffer.from(text)));
}

function matches(pattern: string, text: string, language = 'TypeScript'): number {
  return napi.parse(language, text).findAll({ rule: { pattern } }).length;
}

/** Whether the text has syntax errors and comments, so that error recovery may take part of a comment for code. */
function hasErrorAtComment(text: string): boolean {
  return text.includes('/*') && napi.parse('TypeScript', text).find({ rule: { kind: 'ERROR' } }) !== null;
}

before(() => napi.load());

describe('literals of a pattern', () => {
  it('are the tokens outside variables, the longest first', () => {
    assert.deepEqual(texts('console.log($A)'), ['console', 'log', '.', '(', ')']);
    assert.deepEqual(texts('$A && $A()'), ['&&', '(', ')']);
    assert.deepEqual(texts('$A'), []);
  });

  it('omit punctuation after an ellipsis, which the engine ignores', () => {
    assert.deepEqual(texts('foo($$$A, b)'), ['foo', '(', 'b', ')']);
    assert.deepEqual(texts('foo($$$A)'), ['foo', '(']);
  });

  it('form rows where nothing can come between them', () => {
    assert.deepEqual(rows('console.log($A)'), ['console . log (']);
    assert.deepEqual(rows('$A.push($B)'), ['push (']);
    assert.deepEqual(rows('class A { b() {} }'), []);
    assert.deepEqual(rows('if (a) { b() }'), ['b ( )']);
    assert.deepEqual(rows('os.path.join($A)', 'python'), ['os . path . join (']);
    assert.deepEqual(rows('export const $A = $B'), ['export const']);
    assert.deepEqual(rows('export class $A { b() {} }'), ['export class']);
    assert.deepEqual(rows('export const a = b, c = 1'), ['export const']);
    assert.deepEqual(rows('@d export const $A = $B'), ['export const']);
    assert.deepEqual(rows('export default class $A { b() {} }'), ['default class']);
  });

  it('do not form rows where a token that the pattern lacks may come between', () => {
    for (const pattern of [
      'export function $A() { $$$B }',
      'export * from "a"',
      'export { a } from "a"',
      'export abstract class A { b() {} }',
      'export enum A { b }',
    ])
      assert.deepEqual(rows(pattern).join(), '', pattern);
  });

  it('omit tokens that have several spellings', () => {
    assert.deepEqual(texts('puts "a"', 'ruby'), ['puts', 'a']);
    assert.ok(passes('$A not in $B', 'x = 1 not  in y', 'python'));
  });
});

describe('the literal filter', () => {
  const filter = (text: string, ...parts: { text: string; whole: boolean }[]): boolean =>
    holdsAll(Buffer.from(text), parts.map(toBytes));

  it('requires every literal, and whole ones not inside a word', () => {
    assert.ok(filter('a.push(b)', { text: 'push', whole: true }, { text: '(', whole: false }));
    assert.ok(!filter('a.pushAll(b)', { text: 'push', whole: true }));
    assert.ok(!filter('unpush(b)', { text: 'push', whole: true }));
    assert.ok(filter('pushAll; push', { text: 'push', whole: true }));
    assert.ok(!filter('push', { text: 'push', whole: true }, { text: '(', whole: false }));
  });
});

describe('the adjacency filter', () => {
  const row = [
    { text: 'push', whole: true },
    { text: '(', whole: false },
  ].map(toBytes);
  const filter = new AdjacencyFilter([row], languageById('TypeScript').comments);
  const holds = (text: string): boolean => filter.mayHold(Buffer.from(text));

  it('skips whitespace, comments and non-ASCII space', () => {
    for (const text of [
      'push(',
      'push \r\n\t(',
      'push/* ( */(',
      'push // (\n(',
      'push\u00a0(',
      'push; a push(',
    ]) {
      assert.ok(holds(text), text);
    }
    for (const text of ['push', 'push.x(', 'push = (', 'push[0](', 'push /* (', '(push', 'push//(']) {
      assert.ok(!holds(text), text);
    }
  });

  // If the work grew with the square of the length, this would take hours.
  it('is linear in texts made to be slow', { timeout: 60_000 }, () => {
    const size = 2_000_000;
    const hostile = [
      'push //'.repeat(size / 7),
      'push/*'.repeat(size / 6),
      `${'push '.repeat(size / 5)}`,
      `push${' '.repeat(size)}`,
      '//push\n'.repeat(size / 7),
      `push ${'/**/'.repeat(size / 4)}push`,
    ];
    // The filter may let such a text pass to save work.
    for (const text of hostile) assert.equal(typeof holds(text), 'boolean');
    assert.ok(!holds(hostile[3] ?? ''));
  });
});

describe('comments', () => {
  const cleared = (text: string): string | undefined => {
    const into = Buffer.alloc(Buffer.byteLength(text));
    return blankComments(Buffer.from(text), into) ? into.toString() : undefined;
  };

  it('are blanked, and nothing else is', () => {
    assert.equal(cleared('a // b\nc /* d\n e */ f'), 'a     \nc     \n      f');
    assert.equal(
      cleared('"// a" + \'/* b\' + `// ${c /* d */} /* e */`'),
      '"// a" + \'/* b\' + `// ${c        } /* e */`',
    );
    assert.equal(cleared('`${{ a: `${b}/*` }}/*` /**/'), '`${{ a: `${b}/*` }}/*`     ');
    assert.equal(cleared("'it\\'s /*' /* a */"), "'it\\'s /*'        ");
    assert.equal(cleared('a / b / c\n// d\rx'), 'a / b / c\n    \rx');
  });

  it('are kept where a text can be read in two ways', () => {
    for (const text of [
      '/"/ // a',
      'a / `b`',
      "'open\n'",
      '/* open',
      '`open',
      '`${open',
      '/[/*]/',
      'x = a / b // c',
      '//* a',
      '// a\u2028b()',
      "'a\rb'",
      '{}/\r\n\t/* a */b(/* c */1)',
    ]) {
      assert.equal(cleared(text), undefined, text);
    }
  });

  it('do not make a text pass', () => {
    assert.ok(!passes('console.log($$$A)', '/** console.log(1) */\nfoo() // console.log(2)'));
    assert.ok(passes('console.log($$$A)', '/** console.log(1) */\nconsole.log(2)'));
    assert.ok(passes('console.log($$$A)', '// console.log(1)', 'Tsx'));
    assert.ok(passes('if ($A) { $$$B }', 'if({}//* c */1){1;}else\n{}'), 'the engine reads a division');
  });
});

describe('both filters together', () => {
  /** Pieces of TypeScript that meet patterns nearly, with every kind of gap between tokens. */
  const gap = fc.constantFrom(
    '',
    ' ',
    '\n',
    '/* c */',
    '// push(\n',
    '\r\n\t',
    '\u00a0',
    '/* console.log( */',
  );
  const name = fc.constantFrom('console', 'log', 'push', 'a', 'b', 'foo', 'get', 'pushAll', 'x1');
  const joined = (...parts: (fc.Arbitrary<string> | string)[]): fc.Arbitrary<string> =>
    fc
      .tuple(...parts.flatMap(part => [gap, typeof part === 'string' ? fc.constant(part) : part]))
      .map(pieces => pieces.join(''));
  const expression = fc.letrec<{ any: string }>(tie => ({
    any: fc.oneof(
      { depthSize: 'small' },
      name,
      fc.constantFrom(
        '1',
        "'push('",
        '`a${b}`',
        'null',
        'this',
        '/`/',
        '/"/g',
        "/[/'*]/",
        '"/*"',
        "'//'",
        'a / b',
      ),
      joined(
        '`/* ',
        fc.constantFrom('${', '\\`${', '*/${', '//${'),
        tie('any'),
        '}',
        fc.constantFrom('`', '*/`', '\n`'),
      ),
      joined('`', '${`${', tie('any'), '}`', '}/*`'),
      joined('{', '/*', '*/', '}', '/', tie('any')),
      joined(tie('any'), fc.constantFrom('.', '?.', '!.'), name),
      joined(tie('any'), '(', tie('any'), ')'),
      joined(tie('any'), '?.(', tie('any'), ',', tie('any'), ')'),
      joined(name, '<string>(', tie('any'), ',)'),
      joined(tie('any'), fc.constantFrom('&&', '===', '+', '??'), tie('any')),
      joined('new', ' ', name, '(', tie('any'), ')'),
      joined('{', name, ':', tie('any'), '}'),
      joined('(', name, ')', '=>', tie('any')),
      joined('[', tie('any'), ',', tie('any'), ']'),
    ),
  })).any;
  const statement = fc.oneof(
    joined('/**\n * ', expression, '\n */'),
    joined('//', expression, '\n'),
    joined('const', ' ', name, '=', '`\n/**\n * ', '${', expression, '}', '\n */`;'),
    joined('const', ' ', name, '=', "'\\\n/*';", expression, ";'*/';"),
    joined(expression, ';'),
    joined('const', ' ', name, '=', expression, ';'),
    joined('if', '(', expression, ')', '{', expression, ';', '}', 'else', '{', '}'),
    joined('class', ' ', name, '{', 'get', ' ', name, '(', ')', '{', '}', '}'),
    joined('return', ' ', expression, '\n'),
    joined(
      fc.constantFrom(
        'export',
        '@a export',
        'export default',
        'export declare',
        'export;',
        'declare',
        'a',
        '',
      ),
      ' ',
      fc.constantFrom('const', 'let', 'var', 'type', 'const enum', 'default const'),
      ' ',
      name,
      '=',
      expression,
      ';',
    ),
    joined(
      fc.constantFrom(
        'export',
        '@a export',
        'export @a',
        'export default',
        'export abstract',
        'export declare',
      ),
      ' ',
      fc.constantFrom('class', 'interface', 'abstract class', 'default class', '@b class'),
      ' ',
      name,
      '{',
      '}',
    ),
    joined('import', '{', name, ',', name, '}', 'from', "'a';"),
  );
  const source = fc.array(statement, { maxLength: 4 }).map(parts => parts.join('\n'));
  const patterns = [
    'console.log($$$A)',
    'console.log($A)',
    'console.log(a)',
    '$A.push($B)',
    '$A && $A()',
    '$A?.push($B)',
    'foo(a, $B)',
    'foo($$$A, b)',
    'new foo($A)',
    '$A.$B($C)',
    'const a = $A',
    'if ($A) { $$$B }',
    'class $A { get b() {} }',
    'class $A { b() {} }',
    'return $A',
    "import { a, $A } from 'a'",
    '($A) => $B',
    '[a, $A]',
    '{ a: $B }',
    'a.b.foo()',
    'a()()',
    "'push('",
    'a === $A',
    'x1',
    'foo<string>($$$)',
    'export const $A = $B',
    'export const a = $B;',
    'export let $A = $B',
    'export var $A = $B',
    'export type $A = $B',
    'export class $A {}',
    'export interface $A {}',
    'export default class $A {}',
    '@a export const $A = $B',
  ];

  it('never reject a text that has a match', () => {
    let matched = 0;
    let dropped = 0;
    const numRuns = rounds(500, 150);
    fc.assert(
      fc.property(source, text => {
        for (const pattern of patterns) {
          const passed = passes(pattern, text);
          const count = matches(pattern, text);
          if (count > 0) matched++;
          if (!passed) dropped++;
          assert.ok(passed || count === 0 || hasErrorAtComment(text), `${pattern} was dropped`);
        }
      }),
      { numRuns },
    );
    // The property means something only if both happen.
    assert.ok(matched > numRuns / 10, `${matched} texts matched`);
    assert.ok(dropped > numRuns / 10, `${dropped} texts were dropped`);
  });

  it('pass what the engine finds in other languages', () => {
    const cases: [language: string, pattern: string, text: string][] = [
      ['python', 'print($A)', 'print \\\n (1)'],
      ['python', '$A.append($B)', 'x . append (\n1)'],
      ['go', 'fmt.Println($$$A)', 'package a\nfunc f() { fmt . Println("x") }'],
      ['rust', '$A.unwrap()', 'fn f() { x\n  .unwrap ( ) ; }'],
      ['java', '$A.close()', 'class A { void f() { x . close ( ) ; } }'],
      ['cpp', 'printf($$$A)', 'int f() { printf /* c */ ("x"); }'],
      ['csharp', 'Foo.Bar($A)', 'class A { void F() { Foo . Bar (1); } }'],
      ['kotlin', 'println($A)', 'fun f() { println (1) }'],
      ['ruby', 'puts "a"', "puts 'a'"],
      ['ruby', 'a.b.c', 'a.b { |x| x }.c'],
      ['Css', 'color: red', 'a { color:red }'],
      ['Html', '<b>$A</b>', '<b>x</b>'],
      ['json', '{ "a": 1 }', '{ "a" : 1 }'],
      ['bash', 'echo $A', 'echo hi'],
      ['lua', 'print($A)', 'print ( 1 )'],
    ];
    for (const [language, pattern, text] of cases) {
      if (!napi.supports(language)) continue;
      if (matches(pattern, text, language) > 0) {
        assert.ok(passes(pattern, text, language), `${language}: ${pattern} was dropped`);
      }
    }
    const found = cases.filter(([language, pattern, text]) => matches(pattern, text, language) > 0);
    assert.ok(found.length >= 10, `only ${found.map(([language]) => language).join(', ')} matched`);
  });
});
