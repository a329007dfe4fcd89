import type { ScriptedCall } from '../scriptedReply.ts';
import type { Random } from './random.ts';
import { LARGE_PATHS, PATHS } from './sandbox.ts';

/** What arguments may name of the world as it is. */
export interface Known {
  /** Absolute path of the workspace folder. */
  readonly folder: string;
  readonly previewIds: readonly string[];
  readonly nodes: number;
  /** Paths that earlier calls were about. */
  readonly paths: readonly string[];
}

const ODD_PATHS = [
  ...[
    '',
    ' ',
    '.',
    '..',
    '/',
    '//',
    './',
    '~',
    '~/x',
    '...',
    'a/..',
    '../sentinel/secret.txt',
    '../beside.txt',
  ],
  ...['/etc/passwd', '/etc/hostname', '/dev/null', '/proc/self/environ', 'C:\\x.txt', '\\\\server\\share'],
  ...['a.txt/', 'a.txt/x', 'src//app.ts', './a.txt', 'src/../a.txt', 'src/./app.ts', 'src', 'src/'],
  ...[
    'outside/secret.txt',
    'outside/new.txt',
    'outside/deep/er/file.txt',
    'linked-src/app.ts',
    'src/up/a.txt',
  ],
  ...[
    'src/up/src/up/src/up/a.txt',
    'linked-src/up/../../sentinel/secret.txt',
    'loop/x',
    'dangling/x',
    'hooks/config',
  ],
  ...[
    '.git',
    '.git/config',
    '.GIT/config',
    '.git./config',
    '.git /config',
    '.g\u0131t/config',
    '.git/hooks/new',
  ],
  ...[
    '.vscode/tasks.json',
    '.VSCode/settings.json',
    '.v\u017Fcode/settings.json',
    'settings-link/settings.json',
  ],
  ...[
    'agents.md',
    'AGENTS.md.',
    'AGENTS.md::$DATA',
    '.redline/tools/x.ts',
    'x.code-workspace',
    '.husky/pre-commit',
  ],
  ...['cafe\u0301.txt', 'caf\u00E9-nfd.txt', 'case.txt', 'CASE.TXT', 'A.txt', '\uFF41.txt'],
  ...[
    'nul\0byte.txt',
    'tab\t.txt',
    'esc\u001B[31m.txt',
    'rtl\u202Egpj.txt',
    'zero\u200Bwidth.txt',
    '\uD800.txt',
  ],
  ...[
    'con',
    'aux.txt',
    'a:b',
    'a?b',
    'a*b',
    '[x]',
    '{a,b}.txt',
    '$HOME/x',
    '`id`',
    '%2e%2e/x',
    '-',
    '--help',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty/x', 'node_modules/x/index.js', '.redline-tmp'],
];
const LONG_PATHS = [
  'x'.repeat(300),
  `${'d/'.repeat(600)}x`,
  `${'../'.repeat(500)}etc/passwd`,
  `${'long'.repeat(2_000)}`,
];

const TEXTS = [
  ...[
    '',
    ' ',
    '\n',
    '\r\n',
    '\r',
    'one',
    'line 3',
    'a',
    'aa',
    'x\n',
    'one\r\ntwo',
    'one\ntwo',
    '\uFEFFone',
    '\uFEFF',
  ],
  ...[
    'a\0b',
    '\uD800',
    '\uDC00\uD800',
    '\u202Eevil',
    '\u200B',
    'caf\u00E9',
    'cafe\u0301',
    '\u{1F600}',
    '\u001B[31m',
  ],
  ...[
    '<<<<<<< current file\n=======\n>>>>>>> proposed change\n',
    '$&',
    "$'",
    '$1',
    '\\n',
    '{{',
    '</script>',
    '`',
  ],
  ...[
    'foo(a, b)',
    'return',
    'export function add',
    '[click](command:evil)',
    '__proto__',
    'null',
    '  indented\n\ttab \n',
  ],
];
const LARGE_TEXTS = [
  'a'.repeat(400_000),
  'a\n'.repeat(100_000),
  ' '.repeat(50_000),
  'ab '.repeat(300_000),
  '\u{1F600}'.repeat(50_000),
  'x'.repeat(6_000_000),
];

const PATTERNS = [
  ...[
    'one',
    'line',
    'foo',
    'a',
    '.',
    '^',
    '$',
    '\\b',
    '(?i)ONE',
    '[a-z]+',
    'line \\d+',
    '\\p{L}+',
    '(?<=o)n',
    '(?!x)o',
  ],
  ...[
    '[',
    '(',
    ')',
    '*',
    '+',
    '\\',
    '(?',
    '(?<n>',
    '[z-a]',
    '{1}',
    'a{2,1}',
    '\\1',
    '(?R)',
    '(?P<n>a)',
    '\\u{110000}',
  ],
  ...['[[:alpha:]]', '\\Q', '\\x', '(?#c)', 'a{99999999}', '(?:)', '|', '()', '(?i', '\\k<n>'],
];
/** They take a regular expression that backtracks forever. */
const SLOW_PATTERNS = [
  '(a+)+$',
  '(a|a)*b',
  '(.*a){20}b',
  '(\\w+\\s?)+!',
  '^(( *)*)*x$',
  '(x+x+)+y',
  '(a?){40}a{40}',
];
const LONG_PATTERNS = [
  'a'.repeat(50_000),
  'a|'.repeat(10_000),
  '('.repeat(5_000),
  '[a'.repeat(5_000),
  'a{1,500}'.repeat(50),
];

const GLOBS = [
  ...[
    '**/*',
    '*',
    '*.txt',
    '**/*.ts',
    'src',
    'src/',
    'src/**',
    './src',
    '{a,b}.txt',
    '*.{ts,tsx}',
    '?.txt',
    '[ab].txt',
  ],
  ...[
    '[',
    '[!',
    '[z-a]',
    '{a,b',
    'a}',
    '!(a)',
    '!a',
    '@(a|b)',
    '+(a|b).txt',
    '?(',
    '\\',
    '\\*',
    '**',
    '***',
    '**/**/**/x',
  ],
  ...[
    '../**',
    '/etc/*',
    '/**',
    '~/*',
    'C:/*',
    '.git/**',
    '**/.git/**',
    'outside/**',
    'loop/**',
    '\0',
    '\n',
    ' ',
    '#x',
  ],
  ...[
    '[[:alpha:]]',
    '{1..99999}',
    '{a..z}{a..z}',
    '**/node_modules/**',
    '-x',
    '--files',
    '(?i)x',
    '.',
    '..',
    '',
  ],
];
const HOSTILE_GLOBS = [
  '*'.repeat(300),
  '{a,b}'.repeat(14),
  '+(+(a|b)|+(a|b))c',
  '*a'.repeat(60),
  '**/'.repeat(200),
  '['.repeat(2_000),
  '{'.repeat(2_000),
  '('.repeat(2_000),
  'x'.repeat(20_000),
  `${'a/'.repeat(3_000)}*`,
  '{1..1000}{1..1000}',
];

const AST_PATTERNS = [
  ...[
    'foo($A, $B)',
    'foo($$$A)',
    '$A',
    '$$$',
    '$_',
    '$A + $B',
    'if ($A) { $$$B }',
    'return $A',
    'export function $F($$$P) { $$$B }',
  ],
  ...[
    '',
    ' ',
    '(',
    'foo($A',
    ')',
    '}',
    'class',
    '<div>$A</div>',
    '<p class="$X">$$$C</p>',
    '.x { $$$ }',
    '$A.$B.$C',
    '$$A',
  ],
  ...[
    '\0',
    '\uD800',
    '// comment',
    '"string"',
    '`${$A}`',
    '/re/',
    '$A = $A',
    '@x',
    '#!',
    'function ( {',
    '$1',
    '$a',
    '\u202E',
  ],
];
const HOSTILE_AST = [
  '('.repeat(3_000),
  'a.'.repeat(2_000) + 'b',
  '[['.repeat(1_500),
  '$A + '.repeat(800) + '$B',
  'x'.repeat(100_000),
  '{'.repeat(3_000),
];

export const TOOL_NAMES = [
  ...[
    'read_file',
    'list_files',
    'search_text',
    'ast_grep',
    'edit_file',
    'write_file',
    'delete_file',
    'rename_file',
  ],
  ...['ast_edit', 'resolve', 'revert_to_state'],
] as const;

/** A random call: valid, half-valid or hostile. */
export function randomCall(random: Random, known: Known): ScriptedCall {
  const name = random.chance(0.02)
    ? random.pick([
        'no_such_tool',
        '',
        '__proto__',
        'constructor',
        'Read_File',
        'x'.repeat(1_000),
        'run_command',
      ])
    : random.pick([...TOOL_NAMES, ...FREQUENT]);
  const args = argumentsFor(name, random, known);
  const kind = random.next();
  if (kind < 0.9) return { name, arguments: args };
  if (kind < 0.95) return { name, arguments: mangled(args, random) };
  return { name, arguments: random.pick(NOT_ARGUMENTS)() };
}

/** These stage and resolve, so they are wanted more often than the others. */
const FREQUENT = [
  ...[
    'edit_file',
    'edit_file',
    'write_file',
    'write_file',
    'read_file',
    'read_file',
    'resolve',
    'resolve',
    'resolve',
  ],
  ...['delete_file', 'rename_file', 'read_file', 'list_files'],
];

const FITTING_EDITS = [
  ...[3, 7, 12, 21, 39].map(n => ({ path: 'b.txt', edits: [{ old: `line ${n}\n`, new: `changed ${n}\n` }] })),
  {
    path: 'b.txt',
    edits: [
      { old: 'line 5\n', new: '' },
      { old: 'line 30\n', new: 'a\nb\nc\n' },
    ],
  },
  { path: 'a.txt', edits: [{ old: 'two', new: 'zwei\r\nII' }] },
  { path: 'link.txt', edits: [{ old: 'one', new: 'eins' }] },
  { path: 'crlf.txt', edits: [{ old: 'two\r\n', new: 'zwei\r\n' }] },
  { path: 'utf16le.txt', edits: [{ old: 'two', new: '\u{1F600}' }] },
  { path: 'bom.txt', edits: [{ old: 'one', new: '' }] },
  { path: 'src/app.ts', edits: [{ old: 'return a + b;', new: 'return foo(b, a);' }] },
  { path: '.vscode/settings.json', edits: [{ old: '{}', new: '{"a": 1}' }] },
  { path: 'CLAUDE.md', edits: [{ old: 'line 20\n', new: 'linked\n' }] },
  { path: 'bidi\u202Etxt.exe', edits: [{ old: 'bidi', new: 'BIDI' }] },
  { path: 'large/lines.txt', edits: [{ old: 'line 59999', new: 'the end' }] },
  { path: 'large/one-char.txt', edits: [{ old: 'a'.repeat(400_000), new: 'b' }] },
  { path: 'new/created.ts', edits: [{ old: '', new: 'foo(1, 2);\n' }] },
];

/** What some models send instead of an object. */
const NOT_ARGUMENTS: readonly (() => string)[] = [
  () => '',
  () => '{',
  () => '{"path": "a.txt"',
  () => '[]',
  () => 'null',
  () => '"a.txt"',
  () => '1e999',
  () => '{"path":"a.txt"}{"path":"b.txt"}',
  () => '{"__proto__":{"path":"a.txt"}}',
  () => `${'['.repeat(4_000)}${']'.repeat(4_000)}`,
  () => `${'{"path":'.repeat(4_000)}1${'}'.repeat(4_000)}`,
  () => '\u0000',
  () => `{"path":"${'x'.repeat(200_000)}"}`,
  () => `{"edits":[${'{"old":"a","new":"b"},'.repeat(5_000)}{}],"path":"a.txt"}`,
];

function argumentsFor(name: string, random: Random, known: Known): Record<string, unknown> {
  const path = (): string => randomPath(random, known);
  const number = (): unknown => random.pick([1, 2, 3, 40, 0, -1, 1.5, 1e9, Number.MAX_SAFE_INTEGER, '1']);
  switch (name) {
    case 'read_file':
      return {
        path: path(),
        ...(random.chance(0.3) ? { startLine: number() } : {}),
        ...(random.chance(0.3) ? { endLine: number() } : {}),
      };
    case 'list_files':
      return { glob: glob(random) };
    case 'search_text':
      return {
        query: pattern(random),
        ...(random.chance(0.5) ? { isRegex: true } : {}),
        ...(random.chance(0.4) ? { glob: glob(random) } : {}),
      };
    case 'ast_grep':
      return { pat: astPattern(random), paths: random.list(1, 2, () => astPath(random, known)) };
    case 'ast_edit': {
      const op = () => ({ pat: astPattern(random), out: random.pick([...AST_PATTERNS, 'bar($B, $A)', 'x']) });
      return { ops: random.list(1, 2, op), paths: random.list(1, 2, () => astPath(random, known)) };
    }
    case 'edit_file':
      if (random.chance(0.5)) return random.pick(FITTING_EDITS);
      return { path: path(), edits: random.list(1, 3, () => ({ old: text(random), new: text(random) })) };
    case 'write_file':
      return { path: path(), content: text(random) };
    case 'delete_file':
      return { path: path() };
    case 'rename_file':
      return { from: path(), to: path() };
    case 'resolve':
      return {
        action: random.pick(['apply', 'apply', 'apply', 'discard', 'maybe']),
        reason: text(random),
        ...(random.chance(0.6)
          ? { id: random.pick([...known.previewIds, ...known.previewIds, 'p0', 'p999999', '']) }
          : {}),
        ...(random.chance(0.1) ? { extra: { title: text(random), nested: { a: [1, { b: null }] } } } : {}),
      };
    default:
      return {
        category: random.pick(['failure', 'tangent', 'completion', 'step-summary', 'other']),
        step: random.chance(0.8)
          ? `n${random.below(known.nodes + 2)}`
          : random.pick(['', 'n', 'n-1', '1e9', 'n999999999999']),
        ...(random.chance(0.5) ? { summary: text(random) } : {}),
      };
  }
}

export function randomPath(random: Random, { folder, paths }: Known): string {
  const kind = random.next();
  if (kind < 0.45) return random.pick(PATHS);
  if (kind < 0.6) return random.pick(paths.length > 0 ? paths : PATHS);
  if (kind < 0.72) return `new/${random.below(30)}/file${random.below(5)}.ts`;
  if (kind < 0.74) return random.pick(LARGE_PATHS);
  if (kind < 0.78) return `${folder}/${random.pick(PATHS)}`;
  if (kind < 0.8)
    return `${folder}/../${random.pick(['sentinel/secret.txt', 'beside.txt', 'storage/previews.jsonl'])}`;
  if (kind < 0.82) return random.pick(LONG_PATHS);
  return random.pick(ODD_PATHS);
}

function text(random: Random): string {
  const kind = random.next();
  if (kind < 0.01) return random.pick(LARGE_TEXTS);
  if (kind < 0.7) return random.pick(TEXTS);
  return random.list(1, 6, () => random.pick(TEXTS)).join('');
}

function pattern(random: Random): string {
  const kind = random.next();
  if (kind < 0.02) return random.pick(SLOW_PATTERNS);
  if (kind < 0.04) return random.pick(LONG_PATTERNS);
  return random.pick([...PATTERNS, ...TEXTS]);
}

function glob(random: Random): string {
  return random.chance(0.06) ? random.pick(HOSTILE_GLOBS) : random.pick(GLOBS);
}

function astPattern(random: Random): string {
  return random.chance(0.04) ? random.pick(HOSTILE_AST) : random.pick(AST_PATTERNS);
}

function astPath(random: Random, known: Known): string {
  const kind = random.next();
  if (kind < 0.5)
    return random.pick(['src', 'src/app.ts', 'src/**/*.ts', '.', 'src/page.html', 'src/style.css']);
  return kind < 0.75 ? glob(random) : randomPath(random, known);
}

/** Arguments of which something is missing, of another type, or too much. */
function mangled(args: Record<string, unknown>, random: Random): Record<string, unknown> {
  const key = random.pick(Object.keys(args));
  const { [key]: _, ...others } = args;
  const odd: unknown = random.pick<unknown>([
    ...[null, 1, true, '', [], {}, [null], { a: 1 }, 1e308, ['a.txt'], { length: 3 }],
    ...[
      { toString: 1 },
      [[[[]]]],
      { old: 'a' },
      Array(200).fill('a'),
      Array(200).fill({ old: 'a', new: 'b' }),
    ],
  ]);
  return random.chance(0.3)
    ? others
    : random.chance(0.2)
      ? { ...args, extra: odd }
      : { ...others, [key]: odd };
}
