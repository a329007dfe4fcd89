/** A captured range of a file, as offsets into its text. */
export interface Capture {
  readonly start: number;
  readonly end: number;
}

/** What the variables of a pattern matched. */
export interface Captures {
  single(name: string): Capture | undefined;
  /** From the first to the last of the nodes that an ellipsis matched; `undefined` when it matched none. */
  multiple(name: string): Capture | undefined;
}

type Part =
  | { readonly text: string }
  | { readonly variable: string; readonly multiple: boolean; readonly indent: number };

/**
 * How far back the start of a line is searched for, in bytes of UTF-8. If it is farther, the indentation counts as 0.
 */
const MAX_LOOK_BACK = 512;

/**
 * A rewrite, from which the replacement of each match is made as the ast-grep CLI makes it: captured code of several
 * lines keeps its relative indentation, moved to the column of its variable, and the whole replacement is indented like
 * the line in which the match begins. Only spaces count as indentation. A variable has capital letters, digits and
 * underscores and does not begin with a digit; every other `$` stands for itself. A literal `$HOME` is written `$$HOME`,
 * unless the pattern binds `$HOME`.
 */
export class Template {
  /** The variables of the rewrite that the pattern does not bind, as they are written. */
  readonly unbound: readonly string[];
  readonly #parts: readonly Part[];

  /** @param bound what {@link boundVariables} gives for the pattern. */
  constructor(rewrite: string, bound: ReadonlySet<string>) {
    const unbound = new Set<string>();
    this.#parts = parse(rewrite, bound, unbound);
    this.unbound = [...unbound];
  }

  /** The replacement for a match that begins at `start` of `source`. A variable that captured no code is left out. */
  render(source: string, start: number, captures: Captures): string {
    let text = '';
    for (const part of this.#parts) {
      if ('text' in part) text += part.text;
      else text += captured(source, part, captures);
    }
    return text.includes('\n') ? shift(text, 0, indentAt(source, start)) : text;
  }
}

function parse(rewrite: string, bound: ReadonlySet<string>, unbound: Set<string>): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const match of rewrite.matchAll(/(\${1,3})([A-Z_][A-Z0-9_]*)/g)) {
    const [all, sigils = '', variable = ''] = match;
    const multiple = sigils.length === 3;
    parts.push({ text: rewrite.slice(at, match.index) });
    at = match.index + all.length;
    if (bound.has(`${multiple ? '$$$' : '$'}${variable}`))
      parts.push({ variable, multiple, indent: indentAt(rewrite, match.index) });
    else if (sigils.length === 2) parts.push({ text: `$${variable}` });
    else unbound.add(all);
  }
  parts.push({ text: rewrite.slice(at) });
  return parts;
}

function captured(source: string, part: Extract<Part, { variable: string }>, captures: Captures): string {
  const range = part.multiple ? captures.multiple(part.variable) : captures.single(part.variable);
  if (!range) return '';
  const text = source.slice(range.start, range.end);
  return text.includes('\n') ? shift(text, indentAt(source, range.start), part.indent) : text;
}

/** Moves all lines but the first from one column to another; a line that has too little indentation for it stays. */
function shift(text: string, from: number, to: number): string {
  if (from === to) return text;
  if (from < to) return text.replaceAll('\n', `\n${' '.repeat(to - from)}`);
  const cut = ' '.repeat(from - to);
  return text
    .split('\n')
    .map(line => (line.startsWith(cut) ? line.slice(cut.length) : line))
    .join('\n');
}

/** The number of spaces at the start of the line that contains `offset`. */
function indentAt(text: string, offset: number): number {
  let indent = 0;
  let bytes = 0;
  for (let at = offset - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    bytes += bytesOf(code);
    if (bytes > MAX_LOOK_BACK) return 0;
    if (code === 0x0a) return indent;
    indent = code === 0x20 ? indent + 1 : 0;
  }
  return indent;
}

/** The bytes of a UTF-16 unit in UTF-8; half a surrogate pair counts as half of four bytes. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) return 2;
  return 3;
}
