import type { AstLanguage } from './languages.ts';
import type { Structure, SyntaxNode } from './structure.ts';

/** A pattern as the tree that is matched against files. */
export type PatternNode =
  | { readonly type: 'variable'; readonly ellipsis: boolean }
  | { readonly type: 'leaf'; readonly kind: string; readonly named: boolean; readonly text: string }
  | { readonly type: 'inner'; readonly kind: string; readonly children: readonly PatternNode[] };

/** Why a text is no pattern in some language; the message is a clause for the model. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Reads a pattern the way the engine does: the one innermost node that holds all of it.
 * @throws PatternError when there is none.
 */
export function parsePattern(structure: Structure, language: AstLanguage, pattern: string): PatternNode {
  let node = structure.parse(language.id, withExpando(pattern, language.expando));
  const [first] = node.children();
  if (!first) throw new PatternError('it holds no code');
  if (!onlyChild(node))
    throw new PatternError(
      'it holds several pieces of code side by side; give one expression, statement or declaration',
    );
  for (let inner = onlyChild(node); inner; inner = onlyChild(node)) node = inner;
  if (node.kind() === 'ERROR') throw new PatternError('it does not parse');
  const parsed = toPattern(node, language.expando);
  if (parsed.type === 'variable' && parsed.ellipsis) {
    throw new PatternError(
      'it is nothing but any number of nodes; use $A for one, or put it into a larger pattern',
    );
  }
  return parsed;
}

/** The child of a node that has no other; a second one that is missing from the text or nameless does not count. */
function onlyChild(node: SyntaxNode): SyntaxNode | undefined {
  const [first, second, ...others] = node.children();
  if (others.length > 0) return undefined;
  return second === undefined || isMissing(second) || second.kind() === '' ? first : undefined;
}

function toPattern(node: SyntaxNode, expando: string): PatternNode {
  const text = node.text();
  const variable = variableOf(text, expando);
  if (variable) return variable;
  const children = node.children();
  if (children.length === 0) return { type: 'leaf', kind: node.kind(), named: node.isNamed(), text };
  const present = children.filter(child => !isMissing(child));
  return { type: 'inner', kind: node.kind(), children: present.map(child => toPattern(child, expando)) };
}

/** A token that the parser made up to go on has no text. */
function isMissing(node: SyntaxNode): boolean {
  const { start, end } = node.range();
  return start.index === end.index && node.children().length === 0;
}

/** `$A`, `$_`, `$$A`, `$$$` and `$$$ARGS`, with the language's character in the place of `$`. */
function variableOf(text: string, expando: string): PatternNode | undefined {
  let sigils = 0;
  while (sigils < 3 && text.startsWith(expando, sigils * expando.length)) sigils++;
  if (sigils === 0) return undefined;
  const name = text.slice(sigils * expando.length);
  if (sigils === 3) return /^[A-Z0-9_]*$/.test(name) ? { type: 'variable', ellipsis: true } : undefined;
  return /^[A-Z_][A-Z0-9_]*$/.test(name) ? { type: 'variable', ellipsis: false } : undefined;
}

/** Replaces the `$` of variables by a character that the language has in identifiers. */
function withExpando(pattern: string, expando: string): string {
  if (expando === '$') return pattern;
  return pattern.replace(/(\$+)([A-Z_]?)/g, (all: string, sigils: string, next: string) =>
    next !== '' || sigils.length === 3 ? expando.repeat(sigils.length) + next : all,
  );
}
