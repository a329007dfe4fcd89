import * as z from 'zod/mini';
import { safeName } from '../../../base/safeName.ts';
import { plural } from '../../../base/phrases.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { MAX_GLOB_CHARS } from '../../../hold/text/glob.ts';
import { fittingRows } from '../resultRows.ts';
import { defineTool } from '../tool.ts';

/** The most paths in one result. */
const MAX_FILES = 1_000;

export const listFilesTool = defineTool({
  name: 'list_files',
  label: 'List Files',
  description:
    'List the files of the workspace that match a glob, e.g. "src/**/*.ts". Ignored files are left out.',
  parameters: z.object({
    glob: z.string().check(z.minLength(1), z.maxLength(MAX_GLOB_CHARS)),
  }),
  readOnly: true,
  async execute({ glob }, { workspace, signal }) {
    const found = await workspace.list(glob, MAX_FILES, signal);
    const paths = fittingRows(found.paths.map(path => safeName(path)));
    if (paths.length === 0)
      return textResult(
        `No file matches ${glob}. Ignored files are not listed; read_file reads them if you know the path.`,
      );
    const head =
      found.truncated || paths.length < found.paths.length
        ? `The first ${paths.length} files that match ${glob}; narrow the glob to see the others`
        : `${plural(paths.length, 'file matches', 'files match')} ${glob}`;
    return textResult(`${head}:\n${paths.join('\n')}`);
  },
});
