import { Buffer } from 'node:buffer';
import { AdjacencyFilter } from '../prefilter/adjacencyFilter.ts';
import { blankComments } from '../prefilter/blankComments.ts';
import { holdsAll, toBytes, type ByteLiteral } from '../prefilter/byteLiteral.ts';
import { literalsOf } from '../prefilter/literals.ts';
import type { AstOp, UnboundVariables } from '../worker/protocol.ts';
import type { AstGrepNapi, PatternRule, SyntaxNode } from './astGrepNapi.ts';
import type { Range } from './fileLayout.ts';
import { languageById, type AstLanguage } from './languages.ts';
import { boundVariables, parsePattern, PatternError, withExpando, type PatternNode } from './pattern.ts';
import { Template } from './template.ts';

/** A pattern and its rewrite, compiled for one language. */
export interface CompiledOp {
  /** Its index in the request. */
  readonly index: number;
  readonly language: AstLanguage;
  readonly rule: PatternRule;
  /** The kind of node that the pattern is; `null` for a variable. */
  readonly kind: string | null;
  /** `null` for a pattern that only searches. */
  readonly template: Template | null;
  /** The pattern is a single variable, so every node matches. */
  readonly matchesAll: boolean;
  /** Set if the rewrite uses variables that the pattern does not bind: nothing may be replaced. */
  readonly unbound: UnboundVariables | null;
  /** Whether a text may contain a match; true for some texts that do not. */
  readonly mayMatch: (text: Buffer) => boolean;
}

/** All patterns of a request that are valid in one language. */
export interface LanguagePatterns {
  readonly language: AstLanguage;
  readonly ops: readonly CompiledOp[];
  /** The patterns for languages that may be embedded in files of this one. */
  readonly embedded: readonly LanguagePatterns[];
}

export interface InvalidPattern {
  readonly op: number;
  readonly language: string;
  readonly reason: string;
}

/** Compiles the patterns of a request, once for each language in it. */
export class PatternCompiler {
  readonly #napi: AstGrepNapi;
  readonly #ops: readonly AstOp[];
  readonly #compiled = new Map<string, LanguagePatterns>();
  readonly #invalid: InvalidPattern[] = [];

  constructor(napi: AstGrepNapi, ops: readonly AstOp[]) {
    this.#napi = napi;
    this.#ops = ops;
  }

  /** The patterns that are invalid in at least one of the languages so far. */
  get invalid(): readonly InvalidPattern[] {
    return this.#invalid;
  }

  /** Indexes of the patterns that were valid in none of the languages so far; empty before the first one. */
  get invalidEverywhere(): readonly number[] {
    const languages = [...this.#compiled.values()];
    if (languages.length === 0) return [];
    return this.#ops
      .map((_, index) => index)
      .filter(index => !languages.some(({ ops }) => ops.some(op => op.index === index)));
  }

  /** A rewrite that uses unbound variables in each of the languages so far in which its pattern is valid. */
  get unboundEverywhere(): UnboundVariables | undefined {
    const all = [...this.#compiled.values()].flatMap(({ ops }) => ops);
    const found = all.find(({ index }) => all.every(op => op.index !== index || op.unbound));
    return found?.unbound ?? undefined;
  }

  /** The kinds of nodes that a pattern is in the languages so far. */
  kindsOf(op: number): readonly { readonly language: string; readonly kind: string }[] {
    return [...this.#compiled.values()].flatMap(({ language, ops }) =>
      ops.flatMap(({ index, kind }) =>
        index === op && kind !== null ? [{ language: language.id, kind }] : [],
      ),
    );
  }

  patternsFor(language: AstLanguage): LanguagePatterns {
    let patterns = this.#compiled.get(language.id);
    if (!patterns) {
      const ops = this.#compileOps(language);
      // In the scripts and styles of a page, the ast-grep CLI looks only for patterns that are valid in HTML too.
      const inner = language.id === 'Html' ? ['JavaScript', 'TypeScript', 'Css'].map(languageById) : [];
      const embedded = inner.map(one => {
        const whole = this.patternsFor(one);
        return { ...whole, ops: whole.ops.filter(({ index }) => ops.some(op => op.index === index)) };
      });
      patterns = { language, ops, embedded };
      this.#compiled.set(language.id, patterns);
    }
    return patterns;
  }

  /** The ranges of a rewrite's multi-line strings. */
  #stringsOf(rewrite: string, language: AstLanguage): readonly Range[] {
    if (!rewrite.includes('\n')) return [];
    const text = withExpando(rewrite, language.expando);
    return this.#napi.stringsIn(this.#napi.parse(language.id, text), text, language);
  }

  #compileOps(language: AstLanguage): CompiledOp[] {
    return this.#ops.flatMap(({ pat, selector, out }, index) => {
      try {
        const pattern = parsePattern(this.#napi, language, pat, selector);
        const bound = boundVariables(pattern);
        const template = out === null ? null : new Template(out, bound, this.#stringsOf(out, language));
        return [
          {
            index,
            language,
            rule: selector === undefined ? pat : { context: pat, selector },
            kind: pattern.type === 'variable' ? null : pattern.kind,
            template,
            unbound: template?.unbound.length
              ? { op: index, language: language.id, names: template.unbound, bound: [...bound] }
              : null,
            matchesAll: pattern.type === 'variable',
            mayMatch: prefilterFor(pattern, language),
          },
        ];
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
        this.#invalid.push({ op: index, language: language.id, reason: error.message });
        return [];
      }
    });
  }
}

/** The scripts and styles of an HTML page. */
export function embeddedTexts(root: SyntaxNode): { language: string; node: SyntaxNode }[] {
  const of = (kind: string, language: (tag: string) => string): { language: string; node: SyntaxNode }[] =>
    root.findAll({ rule: { kind } }).flatMap(element => {
      const [tag] = element.children();
      return element
        .children()
        .filter(child => child.kind() === 'raw_text')
        .map(node => ({ language: language(tag?.text() ?? ''), node }));
    });
  return [
    ...of('script_element', tag => (/\blang\s*=\s*["']?ts["'\s>]/.test(tag) ? 'TypeScript' : 'JavaScript')),
    ...of('style_element', () => 'Css'),
  ];
}

/** Reused for texts without their comments, one after the other. */
let scratch = Buffer.alloc(0);

/** Runs both filters of a pattern, the cheaper one first, then both again on the text without its comments. */
function prefilterFor(pattern: PatternNode, language: AstLanguage): (text: Buffer) => boolean {
  const { all, rows, comments } = literalsOf(pattern, language);
  const literals: ByteLiteral[] = all.map(toBytes);
  const adjacency = new AdjacencyFilter(
    rows.map(row => row.map(toBytes)),
    language.comments,
  );
  const holds = (text: Buffer): boolean => holdsAll(text, literals) && adjacency.mayHold(text);
  if (language.id !== 'TypeScript' || comments || literals.length === 0) return holds;
  return text => {
    if (!holds(text)) return false;
    if (scratch.length < text.length) scratch = Buffer.allocUnsafeSlow(text.length);
    const code = scratch.subarray(0, text.length);
    return !blankComments(text, code) || holds(code);
  };
}
