import * as z from 'zod/mini';
import { quoted } from '../../../base/safeName.ts';
import { ToolError } from '../../../base/errors.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { MAX_GLOB_CHARS } from '../../../hold/text/glob.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { TextSearch } from '../../../hold/preview/textSearch.ts';

/** The most lines in one result. */
const MAX_LINES = 200;
/** The most lines around a match that are shown on each side. */
const MAX_CONTEXT = 5;

/** The tool `search_text`. */
export function searchTextTool(textSearch: TextSearch): Tool {
  return defineTool({
    name: 'search_text',
    label: 'Search Text',
    description:
      'Search the files of the workspace for a text or a regular expression, line by line and case-sensitively. ' +
      'Returns numbered lines: `12: ` before a match, `13- ` before context.',
    parameters: z.object({
      query: z.string().check(z.minLength(1), z.describe('Without line breaks.')),
      isRegex: z.optional(z.boolean()),
      glob: z
        .optional(z.string().check(z.minLength(1), z.maxLength(MAX_GLOB_CHARS)))
        .check(
          z.describe('Only files that match this glob, e.g. "src/**/*.ts", "*.md" (in any folder) or "src".'),
        ),
      context: z
        .optional(z.int().check(z.minimum(0), z.maximum(MAX_CONTEXT)))
        .check(z.describe('Lines to show around each match.')),
      ignored: z.optional(z.boolean()).check(z.describe('Also search ignored files, such as node_modules.')),
    }),
    readOnly: true,
    async execute({ query, isRegex = false, glob, context = 0, ignored = false }, call) {
      const { signal, pending, workspace } = call;
      if (/[\r\n]/.test(query))
        throw new ToolError('query must be a single line. Search for one of its lines.');
      const where = glob === undefined ? '' : ` in ${glob}`;
      const what = `${isRegex ? `/${query}/` : quoted(query)}${where}`;
      const options = {
        query,
        isRegex,
        ...(glob === undefined ? {} : { glob }),
        ...(ignored ? { ignored } : {}),
      };
      const found = await textSearch.search(options, MAX_LINES, signal, pending);
      const { textReport, textsOf } = await import('./textReport.ts');
      const texts = context > 0 ? await textsOf(found.matches, workspace, signal) : undefined;
      return textResult(textReport(what, { isAll: ignored, context, texts }, found, pending));
    },
  });
}
