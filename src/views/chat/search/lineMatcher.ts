import { messageOf, ToolError } from '../../../agent/base/errors.ts';
import type { TextMatch } from '../../../agent/hold/preview/textSearch.ts';

/** A text to be found within lines, or a regular expression. */
export interface LineQuery {
  readonly query: string;
  readonly isRegex: boolean;
  /** The texts to search, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly limit: number;
}

/** The first matching lines of the texts, at most `limit`. */
export function matchingLines({ query, isRegex, texts, limit }: LineQuery): readonly TextMatch[] {
  const pattern = isRegex ? regexOf(query) : undefined;
  const found: TextMatch[] = [];
  for (const [path, whole] of texts)
    for (const [index, text] of whole.split(/\r\n|\r|\n/).entries()) {
      const at = pattern ? text.search(pattern) : text.indexOf(query);
      if (at >= 0) found.push({ path, line: index + 1, text, at });
      if (found.length >= limit) return found;
    }
  return found;
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
