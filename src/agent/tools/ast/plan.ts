import { Buffer } from 'node:buffer';
import { AdjacencyFilter } from './adjacencyFilter.ts';
import { blankComments } from './blankComments.ts';
import type { AstLanguage } from './languages.ts';
import { languageById } from './languages.ts';
import { holdsAll, toBytes, type ByteLiteral } from './literalFilter.ts';
import { literalsOf } from './literals.ts';
import { parsePattern, PatternError, type PatternNode } from './pattern.ts';
import type { AstOp } from './protocol.ts';
import type { Structure } from './structure.ts';
import { Template } from './template.ts';

/** One pattern in one language, ready to be looked for. */
export interface CompiledOp {
  /** Its place in the request. */
  readonly index: number;
  readonly pat: string;
  readonly template: Template | null;
  /** It is a lone variable. */
  readonly matchesAll: boolean;
  /** Whether a text may hold a match. */
  readonly mayMatch: (text: Buffer) => boolean;
}

/** What is looked for in the files of one language. */
export interface Plan {
  readonly language: AstLanguage;
  readonly ops: readonly CompiledOp[];
  /** The same in the languages that files of this one may have inside of them. */
  readonly inner: readonly Plan[];
}

export interface InvalidPattern {
  readonly op: number;
  readonly language: string;
  readonly reason: string;
}

/** Compiles patterns for each language that turns up, once. */
export class Plans {
  readonly #structure: Structure;
  readonly #ops: readonly AstOp[];
  readonly #plans = new Map<string, Plan>();
  readonly #invalid: InvalidPattern[] = [];

  constructor(structure: Structure, ops: readonly AstOp[]) {
    this.#structure = structure;
    this.#ops = ops;
  }

  /** Patterns that are not valid in a language that turned up. */
  get invalid(): readonly InvalidPattern[] {
    return this.#invalid;
  }

  /** Places of the patterns that were valid in no language that turned up, if any did. */
  get invalidEverywhere(): readonly number[] {
    const plans = [...this.#plans.values()];
    if (plans.length === 0) return [];
    return this.#ops
      .map((_, index) => index)
      .filter(index => !plans.some(plan => plan.ops.some(op => op.index === index)));
  }

  for(language: AstLanguage): Plan {
    let plan = this.#plans.get(language.id);
    if (!plan) {
      const ops = this.#compile(language);
      // Pages hold scripts and styles, where the ast-grep CLI looks only for what could stand in a page too.
      const inner = language.id === 'Html' ? ['JavaScript', 'TypeScript', 'Css'].map(languageById) : [];
      const within = inner.map(one => {
        const whole = this.for(one);
        return { ...whole, ops: whole.ops.filter(({ index }) => ops.some(op => op.index === index)) };
      });
      plan = { language, ops, inner: within };
      this.#plans.set(language.id, plan);
    }
    return plan;
  }

  #compile(language: AstLanguage): CompiledOp[] {
    return this.#ops.flatMap(({ pat, out }, index) => {
      try {
        const pattern = parsePattern(this.#structure, language, pat);
        return [
          {
            index,
            pat,
            template: out === null ? null : new Template(out),
            matchesAll: pattern.type === 'variable',
            mayMatch: filterFor(pattern, language),
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

/** Texts are cleared of comments in here, one after the other. */
let scratch = Buffer.alloc(0);

/** Both filters of a pattern, the cheaper one first; then both again without the comments of the text. */
function filterFor(pattern: PatternNode, language: AstLanguage): (text: Buffer) => boolean {
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
