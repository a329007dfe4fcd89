import * as z from 'zod/mini';
import { safeName } from '../../../base/safeName.ts';
import { plural } from '../../../base/phrases.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { isGlob, MAX_GLOB_CHARS } from '../../../hold/text/glob.ts';
import { fittingRows } from '../resultRows.ts';
import { defineTool } from '../tool.ts';

/** The most rows in one result. */
const MAX_ROWS = 1_000;
/** The most files that are counted to fold them. */
const MAX_COUNTED = 20_000;

export const listFilesTool = defineTool({
  name: 'list_files',
  label: 'List Files',
  description:
    'List the files of the workspace that match a glob, e.g. "{src,test}/**/*.ts". Ignored files are left out.',
  parameters: z.object({
    glob: z.string().check(z.minLength(1), z.maxLength(MAX_GLOB_CHARS)),
    depth: z
      .optional(z.int().check(z.minimum(1)))
      .check(z.describe('Levels to show, e.g. 1; the files below are counted by folder.')),
  }),
  readOnly: true,
  async execute({ glob, depth }, { workspace, signal }) {
    const { choicesOf } = await import('../../../hold/text/globParts.ts');
    const wanted = choicesOf(glob).flatMap(withContent);
    const found = await workspace.list(
      wanted.length > 1 ? `{${wanted.join(',')}}` : (wanted[0] ?? glob),
      depth === undefined ? MAX_ROWS : MAX_COUNTED,
      signal,
    );
    const rows = depth === undefined ? found.paths : folded(found.paths, depth);
    const shown = fittingRows(rows.slice(0, MAX_ROWS).map(row => safeName(row)));
    if (shown.length === 0)
      return textResult(
        found.truncated
          ? `Too many files match ${glob}, and the first ones are all ignored. Narrow the glob to see the others.`
          : `No file matches ${glob}. Ignored files are not listed; read_file reads them if you know the path.`,
      );
    const isCut = found.truncated || shown.length < rows.length;
    const head = isCut
      ? depth === undefined
        ? `The first ${shown.length} files that match ${glob}; narrow the glob to see the others`
        : `Files that match ${glob}; there are more: narrow the glob to see the others`
      : `${plural(found.paths.length, 'file matches', 'files match')} ${glob}`;
    return textResult(`${head}:\n${shown.join('\n')}`);
  },
});

/** Without a wildcard, a glob names a file or a folder with all that it holds. */
function withContent(glob: string): readonly string[] {
  const path = glob.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '');
  if (path === '' || path === '.') return ['**'];
  return isGlob(path) ? [path] : [path, `${path}/**`];
}

/** The paths, with one row for each folder at this depth that has files: `src/ (12 files)`. */
function folded(paths: readonly string[], depth: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const names = path.split('/');
    const row = names.length > depth ? `${names.slice(0, depth).join('/')}/` : path;
    counts.set(row, (counts.get(row) ?? 0) + 1);
  }
  return [...counts].map(([row, count]) => (row.endsWith('/') ? `${row} (${plural(count, 'file')})` : row));
}
