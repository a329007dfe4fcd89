import * as z from 'zod/mini';
import { textResult } from '../preview/pendingAction.ts';
import { runSearch, type AstSearcher } from './ast/runSearch.ts';
import { defineTool, type Tool } from './tool.ts';

/** `ast_grep`: finds code by its structure. */
export function astGrepTool(searcher: AstSearcher): Tool {
  return defineTool({
    name: 'ast_grep',
    label: 'AST Grep',
    description:
      'Find code by its structure. The pattern is code in the language of the files; $A stands for one node, $$$A for ' +
      'any number of them, $_ for one that does not matter; the same variable twice means the same code. White space ' +
      'does not matter. Example: "console.log($$$A)".',
    parameters: z.object({
      pat: z.string().check(z.describe('The pattern.')),
      paths: pathsSchema,
    }),
    readOnly: true,
    async execute({ pat, paths }, context) {
      const result = await runSearch(searcher, [{ pat, out: null }], paths, context);
      const { matchReport, nothingReport } = await import('./ast/report.ts');
      return textResult(result.files.length === 0 ? nothingReport(result.summary) : matchReport(result));
    },
  });
}

/** Files, folders and globs. */
export const pathsSchema = z
  .array(z.string())
  .check(z.minLength(1))
  .check(
    z.describe('Files, folders and globs inside the workspace, e.g. ["src/**/*.ts"]; "." is everything.'),
  );
