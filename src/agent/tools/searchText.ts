import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import { textResult } from '../preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';

export interface TextQuery {
  /** One line: the text itself, or a regular expression. Case matters. */
  readonly query: string;
  readonly isRegex: boolean;
  /** Relative to the workspace folder; without a slash it means files of that name in any folder. */
  readonly glob?: string;
}

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
  /** By path and line. */
  readonly matches: readonly TextMatch[];
  /** Why there may be more: so many lines were asked for, or the search took too long. */
  readonly cutBy?: 'limit' | 'time';
  /** Files that were left out because the pattern takes too long on them. */
  readonly skipped?: readonly string[];
}

/** Searches the files of the workspace as a person sees them, without those that .gitignore or `files.exclude` hide. */
export interface TextSearch {
  /**
   * @throws ToolError for a pattern that cannot be used; the abort error when `signal` fires.
   */
  search(query: TextQuery, limit: number, signal: AbortSignal): Promise<TextMatches>;
}

/** The most lines of one call. */
const MAX_LINES = 200;
/** The most characters that are shown of a line. */
const MAX_LINE_CHARS = 300;

/** The tool `search_text` on top of whatever searches. */
export function searchTextTool(textSearch: TextSearch): Tool {
  return defineTool({
    name: 'search_text',
    label: 'Search Text',
    description:
      'Search the files of the workspace for a text or a regular expression, line by line. Case matters. Ignored ' +
      'files are left out. Answers with numbered lines.',
    parameters: z.object({
      query: z
        .string()
        .check(z.minLength(1), z.describe('The exact text to find, or a regular expression. One line.')),
      isRegex: z
        .optional(z.boolean())
        .check(z.describe('Whether query is a regular expression. Default: false.')),
      glob: z
        .optional(z.string().check(z.minLength(1)))
        .check(
          z.describe('Only files that match this glob, e.g. "src/**/*.ts", "*.md" (in any folder) or "src".'),
        ),
    }),
    readOnly: true,
    async execute({ query, isRegex = false, glob }, { signal, pendingOn }) {
      if (/[\r\n]/.test(query)) throw new ToolError('query must be one line: search for one of its lines.');
      const where = glob === undefined ? '' : ` in ${glob}`;
      const what = `${isRegex ? `/${query}/` : JSON.stringify(query)}${where}`;
      const options = { query, isRegex, ...(glob === undefined ? {} : { glob }) };
      const found = await textSearch.search(options, MAX_LINES, signal);
      const notes = notesOn(found);
      if (found.matches.length === 0) return textResult([`No line matches ${what}.`, ...notes].join('\n'));
      const files = new Set(found.matches.map(match => match.path)).size;
      const head = `${count(found.matches.length, 'line matches', 'lines match')} ${what}, in ${count(files, 'file', 'files')}.`;
      return textResult([head, ...notes, ...rows(found.matches, pendingOn)].join('\n'));
    },
  });
}

function notesOn({ cutBy, skipped = [] }: TextMatches): string[] {
  const notes: string[] = [];
  if (cutBy === 'limit')
    notes.push(`These are not all: no more than ${MAX_LINES} are shown. Narrow the search.`);
  if (cutBy === 'time') notes.push('These may not be all: the search took too long. Narrow it with a glob.');
  if (skipped.length > 0)
    notes.push(`Left out, because the pattern takes too long on them: ${skipped.slice(0, 20).join(', ')}.`);
  return notes;
}

function* rows(
  matches: readonly TextMatch[],
  pendingOn: (path: string) => string | undefined,
): Generator<string> {
  let path: string | undefined;
  for (const match of matches) {
    const pending = match.path === path ? undefined : pendingOn(match.path);
    if (match.path !== path)
      yield pending === undefined ? match.path : `${match.path} (as if ${pending} were applied)`;
    path = match.path;
    yield `${match.line}: ${shorten(match)}`;
  }
}

/** The part of a long line around its match. */
function shorten({ text, at }: TextMatch): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const start = Math.max(0, Math.min(at - MAX_LINE_CHARS / 3, text.length - MAX_LINE_CHARS));
  const end = start + MAX_LINE_CHARS;
  const part = text.slice(start, end);
  return `${start > 0 ? '… ' : ''}${part}${end < text.length ? ' …' : ''} [line cut: ${text.length} characters]`;
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
