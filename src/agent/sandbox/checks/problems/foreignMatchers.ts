import { inWorker } from '../../../base/inWorker.ts';
import type { Match, MatchQuery } from './matchLines.ts';
import { NAMED } from './ownMatchers.ts';
import { contributedMatchers, matchersIn, type ProblemMatcher } from './problemMatcher.ts';

/** For all matchers together, in milliseconds. */
const TIME_LIMIT_MS = 10_000;

export interface ForeignMatchersOptions {
  /** The `contributes` of all extensions. */
  readonly contributions: () => readonly unknown[];
  /** The worker's script, which answers a {@link MatchQuery}. */
  readonly worker: string | URL;
  readonly timeLimitMs?: number;
}

/**
 * Finds problems with matchers of extensions and settings. Their patterns may backtrack forever, so they run in a thread of their
 * own.
 */
export class ForeignMatchers {
  readonly #options: ForeignMatchersOptions;

  constructor(options: ForeignMatchersOptions) {
    this.#options = options;
  }

  /**
   * @param asked a `problemMatcher`; by default, all matchers that extensions contribute
   * @throws an error that names unknown matchers, or says that they took too long
   */
  async find(text: string, asked: unknown): Promise<readonly Match[]> {
    const contributed = contributedMatchers(this.#options.contributions());
    if (asked === undefined) return this.#run({ text, matchers: [...contributed.matchers.values()] });
    const named = new Map<string, ProblemMatcher>([...Object.entries(NAMED), ...contributed.matchers]);
    const { matchers, unknown } = matchersIn(asked, { ...contributed, matchers: named });
    if (unknown.length > 0) throw new Error(`There is no problem matcher ${unknown.join(', ')}`);
    return this.#run({ text, matchers });
  }

  async #run(query: MatchQuery): Promise<readonly Match[]> {
    if (query.matchers.length === 0) return [];
    const { worker: file, timeLimitMs = TIME_LIMIT_MS } = this.#options;
    const found = await inWorker<readonly Match[]>(file, query, { timeLimitMs });
    if (!found) throw new Error('They took too long');
    return found;
  }
}
