import * as z from 'zod/mini';
import { textResult } from '../../preview/pendingAction.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { AstSearcher } from './structuralSearch.ts';

/** `ast_grep`: finds code by structure. */
export function astGrepTool(searcher: AstSearcher): Tool {
  return defineTool({
    name: 'ast_grep',
    label: 'AST Grep',
    description:
      'Find code by its structure. The pattern is code in the language of the files. $A matches one node, $$$A any ' +
      'number of nodes, $_ any one node; a variable that occurs twice matches the same code. Whitespace does not ' +
      'matter. Example: "console.log($$$A)".',
    parameters: z.object({
      pat: z.string().check(z.describe('The pattern.')),
      paths: pathsSchema,
    }),
    readOnly: true,
    async execute({ pat, paths }, context) {
      const { searchByStructure } = await import('./structuralSearch.ts');
      const result = await searchByStructure(searcher, [{ pat, out: null }], paths, context);
      const { matchReport, nothingReport } = await import('./report.ts');
      return textResult(result.files.length === 0 ? nothingReport(result.summary) : matchReport(result));
    },
  });
}

/** Files, folders and globs. */
export const pathsSchema = z
  .array(z.string().check(z.maxLength(4_096)))
  .check(z.minLength(1))
  .check(
    z.describe(
      'Files, folders and globs inside the workspace, e.g. ["src/**/*.ts"]; "." is the whole workspace.',
    ),
  );
