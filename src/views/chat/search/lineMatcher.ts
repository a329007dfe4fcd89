import * as vm from 'node:vm';
import { ToolError, messageOf } from '../../../agent/base/errors.ts';

/** Time limit for one text, in milliseconds: a pattern can backtrack forever. */
const TEXT_MS = 200;

/** A text to be found within a line, or a regular expression. */
export interface LineQuery {
  readonly query: string;
  readonly isRegex: boolean;
}

/** A matching line: its number, from 1, its text, and the offset of the first match in it. */
export interface FoundLine {
  readonly line: number;
  readonly text: string;
  readonly at: number;
}

/** Finds the lines of a text that a query matches, within a time limit. */
export class LineMatcher {
  readonly #at: (line: string) => number;
  readonly #context: vm.Context = vm.createContext({});
  readonly #script = new vm.Script('work()');

  /** @throws ToolError if the query is not a valid regular expression. */
  constructor(query: string, isRegex: boolean) {
    if (!isRegex) {
      this.#at = line => line.indexOf(query);
      return;
    }
    const pattern = regexOf(query);
    this.#at = line => line.search(pattern);
  }

  /** The first `limit` matching lines; `undefined` if the time limit is exceeded. */
  find(text: string, limit: number): readonly FoundLine[] | undefined {
    try {
      let found: readonly FoundLine[] = [];
      this.#context['work'] = () => {
        found = this.#find(text, limit);
      };
      // Only the timeout of `vm` can interrupt a regular expression while it is being matched.
      this.#script.runInContext(this.#context, { timeout: TEXT_MS });
      return found;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    }
  }

  #find(text: string, limit: number): FoundLine[] {
    const found: FoundLine[] = [];
    let line = 0;
    for (const content of text.split(/\r\n|\r|\n/)) {
      line++;
      const at = this.#at(content);
      if (at >= 0) found.push({ line, text: content, at });
      if (found.length >= limit) break;
    }
    return found;
  }
}

/**
 * A leading `(?i)`, which ripgrep supports, becomes the flag `i` of JavaScript.
 * @throws ToolError if the query is not a valid regular expression.
 */
export function regexOf(query: string): RegExp {
  const [, ignoreCase, source = query] = /^(\(\?i\))?(.*)$/s.exec(query) ?? [];
  const flags = ignoreCase === undefined ? '' : 'i';
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw new ToolError(`query is not a valid regular expression: ${messageOf(error)}`);
    }
  }
}
