/** A language that can be searched by structure. */
export interface AstLanguage {
  /** The engine's name for it. A grammar that is loaded is registered under this name. */
  readonly id: string;
  readonly extensions: readonly string[];
  /** The package that the grammar is loaded from; the other languages are built into the engine. */
  readonly grammar?: { readonly packageName: string; readonly symbol: string };
  /**
   * The character that replaces the `$` of metavariables before a pattern is parsed, one that identifiers may hold; `$` itself
   * where the language allows it.
   */
  readonly expando: string;
  /** The beginnings and ends of comments; a line comment ends with `\n`. */
  readonly comments: readonly (readonly [start: string, end: string])[];
  /**
   * The kinds of nodes for whole strings that may span several lines, a pattern that matches every text with one, and the kinds for
   * code in them. Text in a string that is not code is never indented.
   */
  readonly strings: readonly (readonly [kind: string, sign: RegExp, code?: string])[];
  /** Each of these strings ends with a quote, and its text has no nodes in it but its own. */
  readonly quoted: boolean;
  /** The text of an anonymous token (an operator, a keyword) is always its name in the grammar. */
  readonly exactTokens: boolean;
}

const slashes = [
  ['//', '\n'],
  ['/*', '*/'],
] as const;
const hash = [['#', '\n']] as const;
const markup = [['<!--', '-->']] as const;
/** Languages whose grammar gives one name to several spellings, such as all the ways to begin a string in Ruby. */
const withLooseTokens = new Set(['Html', 'Css', 'ruby', 'bash', 'lua', 'yaml']);

type MultiLineString = AstLanguage['strings'][number];
/** Lines that a backslash joins. */
const joined = /\\\r?\n/;
const template: MultiLineString[] = [
  ['template_string', /`/, 'template_substitution'],
  ['string', joined],
];
const typed: MultiLineString[] = [...template, ['template_literal_type', /`/, 'template_type']];
/** YAML has none: there the indentation of a string is part of its syntax. */
const strings: Readonly<Record<string, readonly MultiLineString[]>> = {
  TypeScript: typed,
  Tsx: typed,
  JavaScript: template,
  Html: [['quoted_attribute_value', /=/]],
  Css: [['string_value', joined]],
  python: [['string', /"""|'''|\\\r?\n/]],
  go: [['raw_string_literal', /`/]],
  rust: [
    ['string_literal', /"/],
    ['raw_string_literal', /r#*"/],
  ],
  java: [['string_literal', /"""/]],
  c: [['string_literal', joined]],
  cpp: [
    ['string_literal', joined],
    ['raw_string_literal', /R"/],
  ],
  csharp: [
    ['raw_string_literal', /"""/],
    ['verbatim_string_literal', /@"/],
    ['interpolated_string_expression', /\$/],
  ],
  ruby: [
    ['string', /["'%]/],
    ['heredoc_body', /<</],
    ['subshell', /`/],
    ['regex', /\//],
  ],
  kotlin: [['string_literal', /"""/]],
  lua: [['string', /\[=*\[|\\\r?\n/]],
  bash: [
    ['string', /"/],
    ['raw_string', /'/],
    ['ansi_c_string', /\$'/],
    ['heredoc_redirect', /<</],
  ],
};

/** Extensions, expando characters and names are those of the ast-grep CLI, so that both find the same matches. */
export const languages: readonly AstLanguage[] = [
  builtIn('TypeScript', ['ts', 'cts', 'mts'], '$', slashes),
  builtIn('Tsx', ['tsx'], '$', slashes),
  builtIn('JavaScript', ['js', 'cjs', 'mjs', 'jsx'], '$', slashes),
  builtIn('Html', ['html', 'htm', 'xhtml'], 'z', markup),
  builtIn('Css', ['css', 'scss'], '_', slashes),
  loaded('python', ['py', 'py3', 'pyi', 'bzl'], 'µ', hash),
  loaded('go', ['go'], 'µ', slashes),
  loaded('rust', ['rs'], 'µ', slashes),
  loaded('java', ['java'], '$', slashes),
  loaded('c', ['c', 'h'], '_', slashes),
  loaded('cpp', ['cc', 'hpp', 'cpp', 'c++', 'hh', 'cxx', 'cu', 'ino'], '_', slashes),
  loaded('csharp', ['cs'], 'µ', slashes, 'tree_sitter_c_sharp'),
  loaded('ruby', ['rb', 'rbw', 'gemspec'], 'µ', hash),
  loaded('kotlin', ['kt', 'ktm', 'kts'], 'µ', slashes),
  loaded('lua', ['lua'], '$', [['--', '\n']]),
  loaded(
    'bash',
    ['bash', 'bats', 'cgi', 'command', 'env', 'fcgi', 'ksh', 'sh', 'tmux', 'tool', 'zsh'],
    '$',
    hash,
  ),
  loaded('json', ['json'], '$', slashes),
  loaded('yaml', ['yaml', 'yml'], '$', hash),
];

function builtIn(
  id: string,
  extensions: readonly string[],
  expando: string,
  comments: AstLanguage['comments'],
): AstLanguage {
  const exactTokens = !withLooseTokens.has(id);
  const quoted = /^(?:TypeScript|Tsx|JavaScript)$/.test(id);
  return { id, extensions, expando, comments, strings: strings[id] ?? [], quoted, exactTokens };
}

function loaded(
  id: string,
  extensions: readonly string[],
  expando: string,
  comments: AstLanguage['comments'],
  symbol = `tree_sitter_${id}`,
): AstLanguage {
  const grammar = { packageName: `@ast-grep/lang-${id}`, symbol };
  return { ...builtIn(id, extensions, expando, comments), grammar };
}

const byExtension = new Map(languages.flatMap(language => language.extensions.map(ext => [ext, language])));
const byId = new Map(languages.map(language => [language.id, language]));

/** The language of a file, by its extension. */
export function languageOf(path: string): AstLanguage | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? byExtension.get(name.slice(dot + 1)) : undefined;
}

/** @throws Error when there is no language with this id. */
export function languageById(id: string): AstLanguage {
  const language = byId.get(id);
  if (!language) throw new Error(`No language ${id}`);
  return language;
}
