import type { TextEdit } from '../../../../hold/text/textEdit.ts';
import type { AstGrepNapi, SyntaxNode } from './astGrepNapi.ts';
import type { Template } from './template.ts';

/**
 * Code whose syntax does not follow from the kinds of its nodes: that which means something else where a statement or the body of a
 * function begins, a point right after a whole number, and a `<` after a type.
 */
const AMBIGUOUS =
  /^\s*(?:\{|(?:async|class|function|let)\b)|(?<![\w.$])\d[\d_]*\.(?!\d)|\b(?:as|satisfies)\s[^]*</;

/** What a type comes after. */
const TYPED = /\b(?:as|satisfies)\s/;

/** How much of each end of captured code is looked at, in characters. */
const EDGE = 64;

/** Two characters side by side that may become one token. */
const JOINED = /[\w$\u0080-\uffff]{2}|[!%&*+\-./<=>?^|~]{2}/;

/** The beginning of a decorator, the name of an element or a type, which cannot be any code. */
const NAMING = /(?:@|<\/?|\btypeof\s*)$/;

/** Code after which a `<` may begin the arguments of a type, with that. */
const GENERIC = /^[\w$]\s*</;

/** How far around a replacement that is looked for, in characters. */
const NEAR = 100;

/** The most nodes that an ellipsis may capture in a shape. */
const MOST = 64;

/** For each template, whether edits of a shape keep the syntax; those that are not in it are not known. */
const known = new WeakMap<Template, Map<string, boolean>>();

/** An edit in a statement. */
export interface PlacedEdit {
  readonly edit: TextEdit;
  /** Where its replacement begins in the new statement. */
  readonly at: number;
  /** It replaces the end of the statement, which does not run into the code after it. */
  readonly endsStatement: boolean;
}

/**
 * An edit as kinds of nodes: that of the matched node, and those of the code that it captures, with their first and last characters. If
 * the replacement is again one node of the same kind, in which all that was captured are nodes of the same kinds, the grammar accepts
 * every edit of the template with these kinds, wherever it does not depend on the code around it. Nearly all edits of a search have one
 * of a few shapes, so that only a few must be parsed.
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

  /**
   * Whether edits of this shape bring no syntax errors; `undefined` if that is not known yet.
   * @param endsStatement see {@link PlacedEdit}
   */
  keepsSyntax(before: string, edit: TextEdit, endsStatement: boolean): boolean | undefined {
    if (this.#captures.some(({ length }) => length > MOST) || AMBIGUOUS.test(this.#outline(edit)))
      return false;
    if (isJoined(before, edit, endsStatement)) return false;
    this.#key ??= [[this.#node.kind()], ...this.#captures.map(nodes => nodes.map(formOf))]
      .map(forms => forms.join(' '))
      .join('|');
    return known.get(this.#template)?.get(this.#key);
  }

  /** The replacement with the ends of the code that it captures, and without what the code around it does not reach. */
  #outline({ text }: TextEdit): string {
    let [written, outline, from] = ['', '', 0];
    for (const [start, end] of [...this.#places, [text.length, text.length]] as const) {
      const between = text.slice(from, start);
      written += between;
      outline += between + edgesOf(text.slice(start, end));
      from = end;
    }
    return TYPED.test(written) ? text : outline;
  }

  /**
   * Finds out whether edits of this shape keep the syntax.
   * @param statement code with the replacement that was parsed without errors
   */
  learn(
    napi: AstGrepNapi,
    language: string,
    statement: string,
    before: string,
    { edit, at, endsStatement }: PlacedEdit,
  ): void {
    if (this.keepsSyntax(before, edit, endsStatement) !== undefined || this.#key === undefined) return;
    const code = edit.text.trim();
    const from = at + edit.text.indexOf(code);
    const expected = [[this.#node.kind(), from, from + code.length] as const, ...this.#captured(at)];
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

/** Captured code, of which long code is left out but for its ends. */
function edgesOf(code: string): string {
  if (code.length <= EDGE) return code;
  const [head = ''] = /^(?:[\w.$]+|[^])/.exec(code.slice(0, EDGE)) ?? [];
  const [tail = ''] = /(?<![\w.$])[\w.$]+$/.exec(code.slice(-EDGE)) ?? [];
  return `${head} ${TYPED.test(code) ? 'as ' : ''}${tail}`;
}

/** The kind of captured code, and how it begins and ends: a sign, an optional semicolon and a line comment are not in the kind. */
function formOf(node: SyntaxNode): string {
  const kind = node.kind();
  const text = node.text();
  if (/^[A-Za-z_$][\w$]*$/.test(text)) return kind;
  const [head = ''] = /^[^\w\s]{0,2}/.exec(text) ?? [];
  const [tail = ''] = /[^\w\s]?$/.exec(text.slice(-1)) ?? [];
  return `${kind}:${head}:${tail}`;
}

/** Whether a replacement depends on the code around it, or lacks the end of the statement that it replaces. */
function isJoined(before: string, { start, end, text }: TextEdit, endsStatement: boolean): boolean {
  if (!endsStatement && lacksEnd(before.slice(start, end), text)) return true;
  const last = text.slice(-1);
  const lastSign = text.trimEnd().slice(-1);
  return (
    NAMING.test(before.slice(Math.max(0, start - NEAR), start)) ||
    JOINED.test(before.charAt(start - 1) + text.charAt(0)) ||
    JOINED.test(last + before.charAt(end)) ||
    GENERIC.test(lastSign + before.slice(end, end + NEAR))
  );
}

/** Whether new code lacks what ended the old code, so that the code after it may continue it. */
export function lacksEnd(old: string, now: string): boolean {
  const last = now.trimEnd().slice(-1);
  return last !== ';' && (old.endsWith(';') || (old.endsWith('}') && last !== '}'));
}
