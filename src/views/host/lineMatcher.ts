import * as vm from 'node:vm';
import { ToolError, messageOf } from '../../agent/base/errors.ts';

/** How long one text may take, in milliseconds: a pattern can backtrack for ever, and this runs on the main thread. */
const TEXT_MS = 200;

/** A line of a text with the place of its first match. */
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

  /** @throws ToolError when the query is no regular expression. */
  constructor(query: string, isRegex: boolean) {
    if (!isRegex) {
      this.#at = line => line.indexOf(query);
      return;
    }
    const pattern = regexOf(query);
    this.#at = line => line.search(pattern);
  }

  /** At most `limit` lines; `undefined` when it takes too long. */
  find(text: string, limit: number): readonly FoundLine[] | undefined {
    try {
      let found: readonly FoundLine[] = [];
      this.#context['work'] = () => {
        found = this.#find(text, limit);
      };
      // The only thing that ends a regular expression that is being matched.
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

/** `(?i)` at the start, which ripgrep knows, is taken as the flag that JavaScript has for it. */
function regexOf(query: string): RegExp {
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
