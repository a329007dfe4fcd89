import { abortErrorOf } from '../../agent/base/abort.ts';
import { ToolError } from '../../agent/base/errors.ts';
import { decodeText } from '../../agent/base/textCodec.ts';
import type { Workspace } from '../../agent/preview/workspace.ts';
import type { TextMatch, TextMatches, TextQuery } from '../../agent/tools/searchText.ts';
import { LineMatcher } from './lineMatcher.ts';

type Files = Pick<Workspace, 'list' | 'read' | 'resolvePath'>;

/** The most files that are read. */
const MAX_FILES = 20_000;
/** After so many files on which the pattern takes too long, it is given up. */
const MAX_SLOW = 5;

/**
 * Searches by reading one file after the other: slower than ripgrep, and there wherever Node is.
 * @throws ToolError for a pattern that is malformed or takes too long; the abort error.
 */
export async function scanText(
  workspace: Files,
  { query, isRegex, glob }: TextQuery,
  { limit, timeLimitMs, signal }: { limit: number; timeLimitMs: number; signal: AbortSignal },
): Promise<TextMatches> {
  const matcher = new LineMatcher(query, isRegex);
  const deadline = Date.now() + timeLimitMs;
  const { paths, truncated } = await listAll(workspace, listGlobs(glob), signal);
  const matches: TextMatch[] = [];
  const skipped: string[] = [];
  const result = (cutBy?: 'limit' | 'time'): TextMatches => ({
    matches,
    ...(cutBy === undefined ? {} : { cutBy }),
    ...(skipped.length > 0 ? { skipped } : {}),
  });
  for (const path of paths) {
    if (signal.aborted) throw abortErrorOf(signal);
    if (Date.now() > deadline) return result('time');
    const text = await textOf(workspace, path);
    if (text === undefined) continue;
    const found = matcher.find(text, limit - matches.length + 1);
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
 * What `glob` means to those who list files: without a slash it is a name in any folder, without a wildcard it may be
 * a folder.
 */
export function listGlobs(glob: string | undefined): readonly string[] {
  if (glob === undefined) return ['**/*'];
  if (glob.startsWith('!'))
    throw new ToolError('glob says which files to search, so it cannot begin with "!".');
  const trimmed = glob.replace(/^\.\//, '').replace(/\/$/, '');
  const anchored = trimmed.includes('/') ? trimmed.replace(/^\//, '') : `**/${trimmed}`;
  return /[*?{[]/.test(trimmed) ? [anchored] : [anchored, `${anchored}/**`];
}

async function listAll(
  workspace: Pick<Workspace, 'list'>,
  globs: readonly string[],
  signal: AbortSignal,
): Promise<{ paths: readonly string[]; truncated: boolean }> {
  const listings = await Promise.all(globs.map(glob => workspace.list(glob, MAX_FILES, signal)));
  const paths = [...new Set(listings.flatMap(listing => listing.paths))].sort();
  return { paths, truncated: listings.some(listing => listing.truncated) };
}

/** The text of a file; `undefined` for what is no text, too big, gone meanwhile, or a link that leads outside. */
async function textOf(workspace: Files, path: string): Promise<string | undefined> {
  const bytes = await workspace
    .resolvePath(path)
    .then(inside => workspace.read(inside))
    .catch(() => undefined);
  return bytes && decodeText(bytes)?.text;
}
