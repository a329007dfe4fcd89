import { safeName } from '../../../base/safeName.ts';
import { abortErrorOf } from '../../../base/async.ts';
import { beginningOf, endOf } from '../../../base/cutText.ts';
import { plural } from '../../../base/phrases.ts';
import type { PendingContents } from '../../../hold/preview/overlay.ts';
import type { TextMatch, TextMatches } from '../../../hold/preview/textSearch.ts';
import { readText } from '../../../hold/preview/textFile.ts';
import type { ReadableFiles } from '../../../hold/preview/workspace.ts';
import { splitLinesInTurns } from '../../../hold/text/lines.ts';

/** The most characters that are shown of a line. */
const MAX_LINE_CHARS = 300;

/** How much is shown. */
export interface ReportOptions {
  /** Whether ignored files were searched, too. */
  readonly isAll: boolean;
  /** How many lines around each match. */
  readonly context: number;
  /** The lines of the files, for the context; a file that is missing here is shown without it. */
  readonly texts?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** The lines of the files with matches, as far as they can be read. */
export async function textsOf(
  matches: readonly TextMatch[],
  workspace: ReadableFiles,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const texts = new Map<string, readonly string[]>();
  for (const path of new Set(matches.map(match => match.path))) {
    if (signal.aborted) throw abortErrorOf(signal);
    const side = await readText(workspace, path).catch(() => null);
    if (side) texts.set(path, await splitLinesInTurns(side.text));
  }
  return texts;
}

/**
 * The report to the model about the lines that `search_text` found.
 * @param what names the query, e.g. `"total" in src`.
 */
export function textReport(
  what: string,
  { isAll, context, texts = new Map() }: ReportOptions,
  found: TextMatches,
  pending: PendingContents,
): string {
  const { matches, cutBy } = found;
  const ignored = isAll ? [] : ['Ignored files were not searched. Pass ignored to search them, too.'];
  if (matches.length === 0) return [`No line matches ${what}.`, ...notesOn(found), ...ignored].join('\n');
  const files = new Set(matches.map(match => match.path)).size;
  const more = cutBy === 'limit' ? ' More lines match: narrow the search to see them.' : '';
  const head = `${plural(matches.length, 'line matches', 'lines match')} ${what}, in ${plural(files, 'file')}.${more}`;
  return [head, ...notesOn(found), ...rows(matches, pending, context, texts)].join('\n');
}

function notesOn({ cutBy }: TextMatches): readonly string[] {
  return cutBy === 'time' ? ['There may be more: the search took too long. Narrow it with a glob.'] : [];
}

function* rows(
  matches: readonly TextMatch[],
  pending: PendingContents,
  context: number,
  texts: ReadonlyMap<string, readonly string[]>,
): Generator<string> {
  let path: string | undefined;
  /** The last line of the file that was shown. */
  let last = 0;
  for (const [index, match] of matches.entries()) {
    if (match.path !== path) {
      const changed = pending.at(match.path);
      const name = safeName(match.path);
      yield changed ? `${name} (as if ${changed.previewId} were applied)` : name;
      [path, last] = [match.path, 0];
    }
    const lines = context > 0 ? (texts.get(match.path) ?? []) : [];
    const next = matches[index + 1];
    const end = next?.path === path ? next.line - 1 : Infinity;
    const from = Math.max(last + 1, match.line - context);
    if (lines.length > 0 && last > 0 && from > last + 1) yield '--';
    yield* contextRows(lines, from, match.line - 1);
    yield `${match.line}: ${shorten(match.text, match.at)}`;
    last = Math.max(match.line, Math.min(match.line + context, end, lines.length));
    yield* contextRows(lines, match.line + 1, last);
  }
}

/** The lines from one number to another, as context. */
function* contextRows(lines: readonly string[], from: number, to: number): Generator<string> {
  for (let line = from; line <= to && line <= lines.length; line++) {
    const text = (lines[line - 1] ?? '').replace(/(?<![\r\n])[\r\n]+$/, '');
    yield `${line}- ${shorten(text, 0)}`;
  }
}

/** The line or, if it is long, the part around its match. */
function shorten(text: string, at: number): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const start = Math.max(0, Math.min(at - Math.floor(MAX_LINE_CHARS / 3), text.length - MAX_LINE_CHARS));
  const end = start + MAX_LINE_CHARS;
  const part = beginningOf(endOf(text, text.length - start), MAX_LINE_CHARS);
  return `${start > 0 ? '… ' : ''}${part}${end < text.length ? ' …' : ''} [line cut: ${text.length} characters]`;
}
