import type { AstLanguage } from '../engine/languages.ts';
import type { PatternNode } from '../engine/pattern.ts';

/** A text that every file with a match contains. */
export interface Literal {
  readonly text: string;
  /** It is a token of its own: not directly preceded or followed by a letter, digit or underscore. */
  readonly whole: boolean;
}

/** The texts that a file must contain for a pattern to match. */
export interface Literals {
  /** All literals of the pattern, the longest first. */
  readonly all: readonly Literal[];
  /** Rows of literals that must follow each other in this order, with only gaps between them (see `AdjacencyFilter`). */
  readonly rows: readonly (readonly Literal[])[];
  /** Part of the pattern is a comment. */
  readonly comments: boolean;
}

/**
 * Kinds of nodes with a fixed shape: only punctuation can stand between their parts, and nothing optional can follow the
 * last part. Only in these must neighbours in the pattern be neighbours in the text.
 */
const fixedShapes = new Set([
  'call_expression',
  'member_expression',
  'arguments',
  'attribute',
  'argument_list',
  'selector_expression',
  'field_expression',
  'method_invocation',
  'field_access',
  'invocation_expression',
  'member_access_expression',
  'scoped_identifier',
]);

/**
 * Kinds of declarations that always begin with their keyword. The engine skips nothing to reach a node with parts, so in a pattern
 * such as `export const $A = $B` the keyword directly follows `export`.
 */
const declarations = new Set([
  'lexical_declaration',
  'variable_declaration',
  'class_declaration',
  'interface_declaration',
  'type_alias_declaration',
]);

interface Leaf {
  readonly literals: readonly Literal[];
  /** The leaf must directly follow the one before it. */
  readonly follows: boolean;
}

/** The literals of a pattern. A pattern that consists of variables has none: every file may match. */
export function literalsOf(pattern: PatternNode, language: AstLanguage): Literals {
  const leaves: Leaf[] = [];
  collect(pattern, { language, leaves });
  const unique = new Map<string, Literal>();
  for (const literal of leaves.flatMap(leaf => leaf.literals)) {
    const known = unique.get(literal.text);
    unique.set(literal.text, { text: literal.text, whole: literal.whole && (known?.whole ?? true) });
  }
  const all = [...unique.values()].sort((a, b) => b.text.length - a.text.length);
  return { all, rows: rowsOf(leaves), comments: hasComment(pattern) };
}

interface Collection {
  readonly language: AstLanguage;
  readonly leaves: Leaf[];
}

/** Adds the leaves of a node. Returns whether the leaf after it must directly follow its last one. */
function collect(node: PatternNode, into: Collection, follows = false): boolean {
  switch (node.type) {
    case 'variable':
      into.leaves.push({ literals: [], follows: false });
      return false;
    case 'leaf':
      into.leaves.push({ literals: literalsOfLeaf(node, into.language), follows });
      return true;
    case 'inner': {
      const fixed = hasFixedShape(node.kind, into.language);
      let closed = follows && (fixed || declarations.has(node.kind));
      let afterEllipsis = false;
      for (const [index, child] of node.children.entries()) {
        // The engine does not compare punctuation directly after an ellipsis.
        if (afterEllipsis && child.type === 'leaf' && !child.named) continue;
        afterEllipsis = child.type === 'variable' && child.ellipsis;
        const next = node.children[index + 1];
        const isExported = node.kind === 'export_statement' && next?.type === 'inner';
        closed = collect(child, into, closed) && (fixed || isExported);
      }
      return closed;
    }
  }
}

function hasComment(node: PatternNode): boolean {
  if (node.type === 'leaf') return node.kind.includes('comment');
  return node.type === 'inner' && node.children.some(hasComment);
}

/** In Python a `call` has a fixed shape; in Ruby it may end in a block. */
function hasFixedShape(kind: string, language: AstLanguage): boolean {
  return fixedShapes.has(kind) || (kind === 'call' && language.id === 'python');
}

/**
 * Anonymous tokens are compared by kind, and one kind may have several spellings (`# if` for `#if`, `not   in`, various
 * quotes). So such a token is split into its runs of word characters and of punctuation.
 */
function literalsOfLeaf(leaf: Extract<PatternNode, { type: 'leaf' }>, language: AstLanguage): Literal[] {
  if (leaf.named) {
    const whole = /identifier|^name$|^constant$/.test(leaf.kind) && /^\w+$/.test(leaf.text);
    return leaf.text === '' ? [] : [{ text: leaf.text, whole }];
  }
  if (!language.exactTokens || leaf.kind !== leaf.text || /['"`]/.test(leaf.text)) return [];
  const runs = leaf.text.match(/\w+|[^\w\s]+/g) ?? [];
  return runs.map(text => ({ text, whole: /^\w+$/.test(text) }));
}

function rowsOf(leaves: readonly Leaf[]): Literal[][] {
  const rows: Literal[][] = [];
  let row: Literal[] = [];
  const end = (): void => {
    // The scan looks for the first literal of a row, so that should be a word, not mere punctuation.
    const begin = row.findIndex(literal => /\w/.test(literal.text));
    const fromWord = begin < 0 ? [] : row.slice(begin);
    if (fromWord.length > 1) rows.push(fromWord);
    row = [];
  };
  for (const leaf of leaves) {
    if (!leaf.follows || leaf.literals.length === 0) end();
    row.push(...leaf.literals);
  }
  end();
  return rows;
}
