import { ToolError } from '../../../agent/base/errors.ts';
import { isUsableName } from '../../../agent/base/safeName.ts';
import { decodeText, type TextEncoding } from '../../../agent/hold/text/encodings.ts';
import { readingsOf } from '../../../agent/hold/text/glob.ts';
import { choicesOf } from '../../../agent/hold/text/globParts.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';

/** How many files are read at most. */
const MAX_FILES = 20_000;

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

/** The files that a search reads one by one. */
export async function listAll(
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
