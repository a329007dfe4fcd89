import type { AstGrepNapi, SyntaxNode } from './astGrepNapi.ts';
import type { Template } from './template.ts';

/**
 * Code whose syntax does not follow from the kinds of its nodes: that which means something else where a statement or the body of a
 * function begins, and a name right after the point of a number.
 */
const AMBIGUOUS = /^\s*(?:\{|(?:async|class|function|let)\b)|(?<![\w.$])\d+\.[A-Za-z_$]/;

/** The most nodes that an ellipsis may capture in a shape. */
const MOST = 64;

/** For each template, whether edits of a shape keep the syntax; those that are not in it are not known. */
const known = new WeakMap<Template, Map<string, boolean>>();

/**
 * An edit as kinds of nodes: that of the matched node, and those of the code that it captures. If the replacement is again one node of
 * the same kind, in which all that was captured are nodes of the same kinds, the grammar accepts every edit of the template with these
 * kinds, wherever it is. Nearly all edits of a search have one of a few shapes, so that only a few must be parsed.
 */
export class EditShape {
  readonly #template: Template;
  readonly #node: SyntaxNode;
  readonly #captures: (readonly SyntaxNode[])[] = [];
  readonly #places: (readonly [start: number, end: number])[] = [];
  #key: string | undefined;

  constructor(template: Template, node: SyntaxNode) {
    this.#template = template;
    this.#node = node;
  }

  /** A variable captured these nodes. {@link place} follows. */
  captured(nodes: readonly SyntaxNode[]): void {
    this.#captures.push(nodes);
  }

  /** The place of the last captured nodes in the replacement. */
  place(start: number, end: number): void {
    this.#places.push([start, end]);
  }

  /** Whether edits of this shape bring no syntax errors; `undefined` if that is not known yet. */
  keepsSyntax(text: string): boolean | undefined {
    if (AMBIGUOUS.test(text) || this.#captures.some(({ length }) => length > MOST)) return false;
    this.#key ??= [[this.#node], ...this.#captures]
      .map(nodes => nodes.map(node => node.kind()).join(' '))
      .join('|');
    return known.get(this.#template)?.get(this.#key);
  }

  /**
   * Finds out whether edits of this shape keep the syntax.
   * @param statement code with the replacement that was parsed without errors
   * @param at where the replacement begins in it
   */
  learn(napi: AstGrepNapi, language: string, statement: string, at: number, text: string): void {
    if (this.keepsSyntax(text) !== undefined || this.#key === undefined) return;
    const expected = [[this.#node.kind(), at, at + text.length] as const, ...this.#captured(at)];
    const kinds = [...new Set(expected.map(([kind]) => kind))];
    const found = napi.parse(language, statement).findAll({ rule: { any: kinds.map(kind => ({ kind })) } });
    const nodes = new Set(
      found.map(node => {
        const { start, end } = node.range();
        return `${node.kind()} ${start.index} ${end.index}`;
      }),
    );
    const shapes = known.get(this.#template) ?? new Map<string, boolean>();
    known.set(
      this.#template,
      shapes.set(
        this.#key,
        expected.every(one => nodes.has(one.join(' '))),
      ),
    );
  }

  /** The captured nodes with the places where they should be in the new code. */
  #captured(at: number): readonly (readonly [kind: string, start: number, end: number])[] {
    return this.#captures.flatMap((nodes, index) => {
      const [start, end] = this.#places[index] ?? [0, 0];
      const from = nodes[0]?.range().start.index ?? 0;
      return nodes.flatMap(node => {
        if (!node.isNamed()) return []; // no rule can look for its kind
        if (nodes.length === 1) return [[node.kind(), at + start, at + end] as const]; // its lines may have been moved
        const range = node.range();
        const shift = at + start - from;
        return [[node.kind(), range.start.index + shift, range.end.index + shift] as const];
      });
    });
  }
}
