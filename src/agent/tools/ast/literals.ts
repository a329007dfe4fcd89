import type { AstLanguage } from './languages.ts';
import type { PatternNode } from './pattern.ts';

/** A piece of text that every file with a match contains. */
export interface Literal {
  readonly text: string;
  /** It is a token of its own: no letter, digit or underscore stands right before or after it. */
  readonly whole: boolean;
}

/** What a pattern demands of a file's text. */
export interface Literals {
  /** Each must be there; the longest first. */
  readonly all: readonly Literal[];
  /** Each is a row of literals that stand next to each other in this order, but for white space and comments. */
  readonly rows: readonly (readonly Literal[])[];
  /** Some of it is the text of a comment. */
  readonly comments: boolean;
}

/**
 * Nodes of fixed shape: nothing but punctuation can stand between their parts, and nothing after the last one that a
 * pattern would not have to name. Only there do neighbours in a pattern have to be neighbours in the text.
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

interface Leaf {
  readonly literals: readonly Literal[];
  /** The node's text must follow on that of the leaf before it. */
  readonly follows: boolean;
}

/** The literals of a pattern. A pattern of nothing but variables has none: every file may match. */
export function literalsOf(pattern: PatternNode, language: AstLanguage): Literals {
  const leaves: Leaf[] = [];
  collect(pattern, false, { language, leaves });
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

/** Adds what a node demands, and tells whether the text that follows it must begin right after its last literal. */
function collect(node: PatternNode, follows: boolean, into: Collection): boolean {
  switch (node.type) {
    case 'variable':
      into.leaves.push({ literals: [], follows: false });
      return false;
    case 'leaf':
      into.leaves.push({ literals: literalsOfLeaf(node, into.language), follows });
      return true;
    case 'inner': {
      const fixed = hasFixedShape(node.kind, into.language);
      let closed = follows;
      let afterEllipsis = false;
      for (const child of node.children) {
        // The engine does not look for punctuation right after an ellipsis.
        if (afterEllipsis && child.type === 'leaf' && !child.named) continue;
        afterEllipsis = child.type === 'variable' && child.ellipsis;
        closed = collect(child, closed && fixed, into) && fixed;
      }
      return closed;
    }
  }
}

function hasComment(node: PatternNode): boolean {
  if (node.type === 'leaf') return node.kind.includes('comment');
  return node.type === 'inner' && node.children.some(hasComment);
}

/** A call of Ruby may end in a block. */
function hasFixedShape(kind: string, language: AstLanguage): boolean {
  return fixedShapes.has(kind) || (kind === 'call' && language.id === 'python');
}

/**
 * Nameless tokens are compared by kind, and a kind may be written in several ways (`# if` for `#if`, `not   in`, all
 * sorts of quotes), so only their runs of one sort of characters count.
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
    // A row is looked for by its first literal, which should be telling.
    const begin = row.findIndex(literal => /\w/.test(literal.text));
    const telling = begin < 0 ? [] : row.slice(begin);
    if (telling.length > 1) rows.push(telling);
    row = [];
  };
  for (const leaf of leaves) {
    if (!leaf.follows || leaf.literals.length === 0) end();
    row.push(...leaf.literals);
  }
  end();
  return rows;
}
