import type { PendingContents } from '../../preview/overlay.ts';
import { plural } from '../../text/plural.ts';

/** One line with at least one match. */
export interface TextMatch {
  /** Workspace path. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** The whole line without its line ending. */
  readonly text: string;
  /** Where in the line the first match begins, in UTF-16 units. */
  readonly at: number;
}

export interface TextMatches {
  /** Sorted by path and line. */
  readonly matches: readonly TextMatch[];
  /** Why there may be more matches: the limit was reached, or the search took too long. */
  readonly cutBy?: 'limit' | 'time';
  /** Files that were not searched because the pattern takes too long on them. */
  readonly skipped?: readonly string[];
}

/** The most characters that are shown of a line. */
const MAX_LINE_CHARS = 300;

/**
 * What the model is told about the lines that `search_text` found.
 * @param what names the query, e.g. `"total" in src`.
 * @param limit the most lines that were asked for.
 */
export function textReport(
  what: string,
  limit: number,
  found: TextMatches,
  pending: PendingContents,
): string {
  const { matches } = found;
  if (matches.length === 0) return [`No line matches ${what}.`, ...notesOn(found, limit)].join('\n');
  const files = new Set(matches.map(match => match.path)).size;
  const head = `${plural(matches.length, 'line matches', 'lines match')} ${what}, in ${plural(files, 'file')}.`;
  return [head, ...notesOn(found, limit), ...rows(matches, pending)].join('\n');
}

function notesOn({ cutBy, skipped = [] }: TextMatches, limit: number): string[] {
  const notes: string[] = [];
  if (cutBy === 'limit') notes.push(`There are more: only the first ${limit} are shown. Narrow the search.`);
  if (cutBy === 'time') notes.push('There may be more: the search took too long. Narrow it with a glob.');
  if (skipped.length > 0)
    notes.push(
      `Not searched, because the pattern takes too long on them: ${skipped.slice(0, 20).join(', ')}.`,
    );
  return notes;
}

function* rows(matches: readonly TextMatch[], pending: PendingContents): Generator<string> {
  let path: string | undefined;
  for (const match of matches) {
    const changed = match.path === path ? undefined : pending.at(match.path);
    if (match.path !== path)
      yield changed ? `${match.path} (as if ${changed.previewId} were applied)` : match.path;
    path = match.path;
    yield `${match.line}: ${shorten(match)}`;
  }
}

/** The line; of a long one the part around its match. */
function shorten({ text, at }: TextMatch): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const start = Math.max(0, Math.min(at - MAX_LINE_CHARS / 3, text.length - MAX_LINE_CHARS));
  const end = start + MAX_LINE_CHARS;
  const part = text.slice(start, end);
  return `${start > 0 ? '… ' : ''}${part}${end < text.length ? ' …' : ''} [line cut: ${text.length} characters]`;
}
