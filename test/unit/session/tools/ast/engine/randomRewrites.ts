import type { Random } from '../../../../../support/fuzz/random.ts';

/** Sources and a rewrite of them. Some have CRLF, tabs and strings of several lines. */
export interface RandomRewrite {
  readonly files: Readonly<Record<string, string>>;
  readonly pat: string;
  readonly out: string;
  /** The variables of the rewrite that the pattern does not bind. */
  readonly unbound: readonly string[];
}

/** Patterns and the variables that they bind. */
const PATTERNS: readonly (readonly [pat: string, ...bound: string[]])[] = [
  ['foo($A)', '$A'],
  ['foo($A, $B)', '$A', '$B'],
  ['foo($$$ARGS)', '$$$ARGS'],
  ['foo($A, $$$A2)', '$A', '$$$A2'],
  ['strip($S)', '$S'],
  ['$F1($_X)', '$F1'],
  ['$LIST.push($B_)', '$LIST', '$B_'],
  ['if ($C) { $$$BODY }', '$C', '$$$BODY'],
  ['const $A = $B', '$A', '$B'],
  ['return $A', '$A'],
  ['($$$P) => $B', '$$$P', '$B'],
  ['$A ? $B : $C', '$A', '$B', '$C'],
  ['[$A, $$$, $B]', '$A', '$B'],
  ['{ a: $A, $$$REST }', '$A', '$$$REST'],
  ["'a'"],
];

const PIECES = [
  ...['bar(', ')', ', ', ' ', '.', 'x', '{ ', ' }', 'é', '😀', '\\', '`', "'", '_', 'A', '1', '1A'],
  ...['$', '$$', '$$$', '$1', '$100', '$1A', '$$1', '$a', '$home', '$-', "'$1'", "'$100'", '${x}', '$é'],
  ...[".replace(/(a)/, '$1')", '=> ', '\n', '\n  ', '\n    ', '\n      '],
];

export function randomRewrite(random: Random): RandomRewrite {
  const [pat, ...bound] = random.pick(PATTERNS);
  const stray = ['$Z', '$$$Z', '$_', '$A1', '$$$_A', '$ARGS', '$$$A'];
  const out = random
    .list(0, 8, () => {
      if (random.chance(0.02)) return random.pick(stray);
      if (bound.length === 0 || random.chance(0.5)) return random.pick(PIECES);
      const variable = random.pick(bound);
      return !variable.startsWith('$$$') && random.chance(0.1) ? `$${variable}` : variable;
    })
    .join('');
  const unbound = variablesOf(out).filter(variable => !bound.includes(variable));
  // The CLI has no way to write the literal that this is.
  if (unbound.some(variable => !variable.startsWith('$$') && out.includes(`$${variable}`)))
    return randomRewrite(random);
  const files = { 'a.ts': source(random), 'b.tsx': source(random), 'c.js': source(random) };
  return { files, pat, out, unbound };
}

/** The variables of a rewrite, `$$A` as `$A`, read sign by sign as the ast-grep CLI does. */
function variablesOf(out: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < out.length; at++) {
    if (out[at] !== '$') continue;
    let sigils = 1;
    while (sigils < 3 && out[at + sigils] === '$') sigils++;
    let end = at + sigils;
    if (!/[A-Z_]/.test(out[end] ?? '')) continue;
    while (/[A-Z_0-9]/.test(out[end] ?? '')) end++;
    found.push((sigils === 3 ? '$$$' : '$') + out.slice(at + sigils, end));
    at = end - 1;
  }
  return found;
}

/** Code with what the patterns match, over one and several lines, at several depths. */
function source(random: Random): string {
  const step = random.chance(0.3) ? '\t' : ' '.repeat(random.pick([2, 4, 3]));
  const text = `${random.list(1, 6, () => statement(random, '', step, 3)).join('\n')}\n`;
  return random.chance(0.3) ? text.replaceAll('\n', '\r\n') : text;
}

function statement(random: Random, indent: string, step: string, depth: number): string {
  const inner = indent + step;
  const value = (): string => expression(random, indent, step, 2);
  const block = (): string =>
    random
      .list(0, 3, () => statement(random, inner, step, depth - 1) + (random.chance(0.1) ? '\n' : ''))
      .join('\n');
  switch (depth > 0 ? random.below(7) : random.below(4)) {
    case 0:
      return `${indent}${value()};`;
    case 1:
      return `${indent}const ${random.pick(['x', 'größe'])} = ${value()}`;
    case 2:
      return `${indent}foo(${value()});${random.pick(['', ' // a'])}`;
    case 3:
      return `${indent}list.push(${value()})`;
    case 4:
      return `${indent}if (${value()}) {\n${block()}\n${indent}}`;
    case 5:
      return `${indent}function f() {\n${block()}\n${inner}return ${expression(random, inner, step, 2)};\n${indent}}`;
    default:
      return `${indent}{\n${block()}\n${indent}}`;
  }
}

function expression(random: Random, indent: string, step: string, depth: number): string {
  const inner = indent + step;
  const value = (): string => expression(random, inner, step, depth - 1);
  if (depth === 0)
    return random.pick([
      'x',
      "'a'",
      '1',
      '"日本"',
      'y.z',
      "'😀'",
      `\`${random.pick(['', inner])}a\n  b\n\n\t\${x}c\n\``,
    ]);
  switch (random.below(9)) {
    case 0:
      return `foo(${value()})`;
    case 1:
      return `foo(\n${inner}${value()},\n${inner}${value()},\n${indent})`;
    case 2:
      return `strip(${value()})`;
    case 3:
      return `{ a: ${value()}, b: ${value()} }`;
    case 4:
      return `{\n${inner}a: ${value()},\n\n${inner}b: ${value()},\n${indent}}`;
    case 5:
      return `(p, q) => ${value()}`;
    case 6:
      return `(p) => {\n${inner}return ${value()}\n${indent}}`;
    case 7:
      return `[\n${inner}${value()}, ${value()},\n${random.chance(0.2) ? step : inner}${value()}]`;
    default:
      return `${value()} ? ${value()} : ${value()}`;
  }
}
