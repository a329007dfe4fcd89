import { isMissing, type AstGrepNapi, type SyntaxNode } from './astGrepNapi.ts';
import type { AstLanguage } from './languages.ts';

/** A pattern, parsed. */
export type PatternNode =
  /** `name` is empty for one that captures nothing, such as `$_`. */
  | { readonly type: 'variable'; readonly ellipsis: boolean; readonly name: string }
  | { readonly type: 'leaf'; readonly kind: string; readonly named: boolean; readonly text: string }
  | { readonly type: 'inner'; readonly kind: string; readonly children: readonly PatternNode[] };

/** The most kinds of nodes that an error names. */
const MAX_KINDS = 20;

/** A text is not a valid pattern in a language. The message is a clause for the model that says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Parses a pattern as the engine does: it is the innermost node that contains all of the text, or with a selector the first node
 * of that kind.
 * @throws PatternError when there is no such node.
 */
export function parsePattern(
  napi: AstGrepNapi,
  language: AstLanguage,
  pattern: string,
  selector?: string,
): PatternNode {
  const root = napi.parse(language.id, withExpando(pattern, language.expando));
  const node = selector === undefined ? wholeNode(root) : selectedNode(napi, language, root, selector);
  const parsed = toPattern(node, language.expando);
  if (parsed.type === 'variable' && parsed.ellipsis) {
    throw new PatternError(
      'it only says any number of nodes; use $A for one node, or make it part of a larger pattern',
    );
  }
  return parsed;
}

function selectedNode(
  napi: AstGrepNapi,
  language: AstLanguage,
  root: SyntaxNode,
  selector: string,
): SyntaxNode {
  const found = napi.hasKind(language.id, selector) ? root.find({ rule: { kind: selector } }) : null;
  if (found) return found;
  const kinds = new Set<string>();
  const add = (node: SyntaxNode): void => {
    if (node.isNamed()) kinds.add(node.kind());
    node.children().forEach(add);
  };
  add(root);
  throw new PatternError(
    `it has no node of the kind ${selector}, only ${[...kinds].slice(0, MAX_KINDS).join(', ')}`,
  );
}

function wholeNode(root: SyntaxNode): SyntaxNode {
  let node = root;
  const [first] = node.children();
  if (!first) throw new PatternError('it contains no code');
  if (!onlyChild(node))
    throw new PatternError(
      'it contains several pieces of code side by side; give one expression, statement or declaration',
    );
  for (let inner = onlyChild(node); inner; inner = onlyChild(node)) node = inner;
  if (node.kind() === 'ERROR') throw new PatternError('it does not parse');
  return node;
}

/** The only child of a node. A second one does not count if the parser inserted it or it is anonymous. */
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

/** Parses `$A`, `$_`, `$$A`, `$$$` and `$$$ARGS`, written with the language's expando character. */
function variableOf(text: string, expando: string): PatternNode | undefined {
  let sigils = 0;
  while (sigils < 3 && text.startsWith(expando, sigils * expando.length)) sigils++;
  if (sigils === 0) return undefined;
  const name = text.slice(sigils * expando.length);
  const ellipsis = sigils === 3;
  if (!(ellipsis ? /^[A-Z0-9_]*$/ : /^[A-Z_][A-Z0-9_]*$/).test(name)) return undefined;
  return { type: 'variable', ellipsis, name: name.startsWith('_') ? '' : name };
}

/** The variables that a match captures, as they are written: `$A`, `$$$ARGS`. */
export function boundVariables(pattern: PatternNode): ReadonlySet<string> {
  const bound = new Set<string>();
  const add = (node: PatternNode): void => {
    if (node.type === 'variable' && node.name !== '') bound.add(`${node.ellipsis ? '$$$' : '$'}${node.name}`);
    if (node.type === 'inner') node.children.forEach(add);
  };
  add(pattern);
  return bound;
}

/** Replaces the `$` of variables with the expando character, which is valid in identifiers of the language. */
export function withExpando(pattern: string, expando: string): string {
  if (expando === '$') return pattern;
  return pattern.replace(/(\$+)([A-Z_]?)/g, (all: string, sigils: string, next: string) =>
    next !== '' || sigils.length === 3 ? expando.repeat(sigils.length) + next : all,
  );
}
