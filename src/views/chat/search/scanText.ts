import { abortErrorOf } from '../../../agent/base/async.ts';
import { ToolError } from '../../../agent/base/errors.ts';
import { isUsableName } from '../../../agent/base/safeName.ts';
import { decodeText, type TextEncoding } from '../../../agent/hold/text/encodings.ts';
import { readingsOf } from '../../../agent/hold/text/glob.ts';
import { choicesOf } from '../../../agent/hold/text/globParts.ts';
import type { TextQuery } from '../../../agent/hold/preview/textSearch.ts';
import type { TextMatch, TextMatches } from '../../../agent/hold/preview/textSearch.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';
import { locate } from '../../workspace/workspacePaths.ts';
import { encodingIn } from '../../workspace/fileEncoding.ts';
import { LineSearch, type LineSearchOptions } from './lineSearch.ts';

/** How many files are read at most. */
const MAX_FILES = 20_000;
/** After this many files on which the pattern takes too long, the search gives up. */
const MAX_SLOW = 5;

/**
 * Searches by reading one file after the other: slower than ripgrep, but always available.
 * @throws ToolError for a pattern that is malformed or takes too long; the abort error.
 */
export async function scanText(
  workspace: VsCodeWorkspace,
  { query, isRegex, glob, ignored = false }: TextQuery,
  options: LineSearchOptions & { readonly limit: number },
): Promise<TextMatches> {
  const lines = new LineSearch({ query, isRegex }, options);
  try {
    return await scan(workspace, lines, { glob, ignored }, options);
  } finally {
    lines.dispose();
  }
}

async function scan(
  workspace: VsCodeWorkspace,
  lines: LineSearch,
  { glob, ignored }: { readonly glob: string | undefined; readonly ignored: boolean },
  { limit, timeLimitMs, signal }: LineSearchOptions & { readonly limit: number },
): Promise<TextMatches> {
  const deadline = Date.now() + timeLimitMs;
  const { paths, truncated } = await listAll(workspace, expandGlob(glob), ignored, signal);
  const matches: TextMatch[] = [];
  const skipped: string[] = [];
  const folders = workspace.folderRoots();
  const encodings = new Map<string, TextEncoding>();
  for (const folder of folders) encodings.set(folder.name, await encodingIn(folder));
  const result = (cutBy?: 'limit' | 'time'): TextMatches => ({
    matches,
    ...(cutBy === undefined ? {} : { cutBy }),
    ...(skipped.length > 0 ? { skipped } : {}),
  });
  for (const path of paths) {
    if (signal.aborted) throw abortErrorOf(signal);
    if (Date.now() > deadline) return result('time');
    const encoding = encodings.get(locate(path, folders).folder.name);
    const text = await searchableText(workspace, path, encoding);
    if (text === undefined) continue;
    const found = await lines.find(text, limit - matches.length + 1);
    if (!found) skipped.push(path);
    else matches.push(...found.map(line => ({ path, ...line })));
    if (skipped.length >= MAX_SLOW)
      throw new ToolError(
        'The pattern takes too long to match. Use a simpler one, without nested repetition.',
      );
    if (matches.length > limit) {
      matches.length = limit;
      return result('limit');
    }
  }
  return result(truncated ? 'limit' : undefined);
}

/**
 * The anchored globs for the `glob` of a query: without a slash it matches in any folder; without a wildcard it also means the
 * files of a folder of that name.
 */
export function expandGlob(glob: string | undefined): readonly string[] {
  if (glob === undefined) return ['**/*'];
  return choicesOf(glob).flatMap(anchoredGlobs);
}

function anchoredGlobs(glob: string): readonly string[] {
  if (glob.startsWith('!'))
    throw new ToolError('glob says which files to search, so it cannot begin with "!".');
  const trimmed = glob.replace(/^\.\//, '').replace(/\/$/, '');
  const anchored = trimmed.includes('/') ? trimmed.replace(/^\//, '') : `**/${trimmed}`;
  const readings = readingsOf(anchored);
  // Brackets alone may be part of a name.
  return /[*?{]/.test(trimmed) ? readings : [...readings, `${readings.at(-1)}/**`];
}

async function listAll(
  workspace: VsCodeWorkspace,
  globs: readonly string[],
  ignored: boolean,
  signal: AbortSignal,
): Promise<{ paths: readonly string[]; truncated: boolean }> {
  const listings = await Promise.all(
    globs.map(glob => workspace.listForSearch(glob, MAX_FILES, signal, ignored)),
  );
  const paths = [...new Set(listings.flatMap(listing => listing.paths))].filter(isUsableName).sort();
  return { paths, truncated: listings.some(listing => listing.truncated) };
}

/** The text of a file; `undefined` if it is not text, too large, gone in the meantime, or a link that leads outside. */
export async function searchableText(
  workspace: VsCodeWorkspace,
  path: string,
  encoding: TextEncoding | undefined,
): Promise<string | undefined> {
  const bytes = await workspace
    .resolvePath(path)
    .then(inside => workspace.read(inside))
    .catch(() => undefined);
  return bytes && decodeText(bytes, encoding)?.text;
}
