import type { TextEdit } from '../../../../hold/text/textEdit.ts';
import type { SyntaxNode } from './astGrepNapi.ts';
import { FileLayout, type Range } from './fileLayout.ts';
import { EditShape } from './editShape.ts';
import type { Captures, Template } from './template.ts';

/** A place where a pattern matched, in UTF-16 offsets. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Two edits overlap and are not identical. */
export class OverlapError extends Error {
  override readonly name = 'OverlapError';
  /** Both edits, by place. */
  readonly edits: readonly [TextEdit, TextEdit];

  constructor(edits: readonly [TextEdit, TextEdit]) {
    super('Overlapping replacements');
    this.edits = edits;
  }
}

/** A node of the syntax tree that matched. */
export interface MatchedNode extends Match {
  readonly node: SyntaxNode;
}

/**
 * The matches that do not lie inside another one, sorted by place. The ast-grep CLI leaves nested ones alone too.
 * @param offset where in the file the parsed text begins
 */
export function outermostMatches(
  nodes: readonly SyntaxNode[],
  offset: number,
): { readonly outer: readonly MatchedNode[]; readonly nested: number } {
  const outer: MatchedNode[] = [];
  let last = -Infinity;
  for (const node of nodes) {
    const { start, end } = rangeOf(node, offset);
    if (start < last) continue;
    outer.push({ node, start, end });
    last = end;
  }
  return { outer, nested: nodes.length - outer.length };
}

/**
 * The edits that rewrite matches. `offset` is the one given to {@link outermostMatches}.
 * @param strings finds the multi-line strings of the language
 * @param shapes gets the shapes of the edits
 */
export function replacementEdits(
  matches: readonly MatchedNode[],
  template: Template,
  source: string,
  offset: number,
  strings: StringFinder,
  shapes: Map<TextEdit, EditShape>,
): TextEdit[] {
  const root = matches[0]?.node.getRoot();
  const nodes = new Map<number, SyntaxNode>();
  const layout = new FileLayout(
    source,
    () =>
      (root ? strings.in(root.root()) : []).map(({ start, end }) => ({
        start: start + offset,
        end: end + offset,
      })),
    at => {
      const node = nodes.get(at);
      return node !== undefined && strings.isOutside(node);
    },
  );
  return matches.map(({ node, start, end }) => {
    const shape = new EditShape(template, node);
    nodes.set(start, node);
    const text = template.render(source, start, capturesOf(node, offset, shape, nodes), layout, (from, to) =>
      shape.place(from, to),
    );
    const edit = { start, end, text };
    shapes.set(edit, shape);
    return edit;
  });
}

/** Finds the multi-line strings of a language. */
export interface StringFinder {
  /** Those of a syntax tree. */
  in(root: SyntaxNode): readonly Range[];
  /** Whether a node is known to be in the text of none. */
  isOutside(node: SyntaxNode): boolean;
}

function rangeOf(node: SyntaxNode, offset: number): Match {
  const { start, end } = node.range();
  return { start: start.index + offset, end: end.index + offset };
}

/** @param nodes gets the nodes that are captured, by where they begin */
function capturesOf(
  node: SyntaxNode,
  offset: number,
  shape: EditShape,
  nodes: Map<number, SyntaxNode>,
): Captures {
  return {
    single(name) {
      const found = node.getMatch(name);
      shape.captured(found ? [found] : []);
      if (!found) return undefined;
      const range = rangeOf(found, offset);
      nodes.set(range.start, found);
      return range;
    },
    multiple(name) {
      const found = node.getMultipleMatches(name);
      shape.captured(found);
      const [first] = found;
      const last = found.at(-1);
      if (!first || !last) return undefined;
      const range = { start: rangeOf(first, offset).start, end: rangeOf(last, offset).end };
      nodes.set(range.start, first);
      return range;
    },
  };
}

/**
 * Merges the edits of several patterns, sorted by place. Identical edits become one, and edits that change nothing are
 * dropped.
 * @throws OverlapError when two edits overlap and are not identical.
 */
export function mergeEdits(source: string, groups: readonly (readonly TextEdit[])[]): TextEdit[] {
  const all = groups.flat().sort((a, b) => a.start - b.start || a.end - b.end);
  const merged: TextEdit[] = [];
  for (const edit of all) {
    const last = merged.at(-1);
    if (last?.start === edit.start && last.end === edit.end && last.text === edit.text) continue;
    if (last && edit.start < last.end) throw new OverlapError([last, edit]);
    merged.push(edit);
  }
  return merged.filter(edit => source.slice(edit.start, edit.end) !== edit.text);
}
