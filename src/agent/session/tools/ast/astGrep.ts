import * as z from 'zod/mini';
import { textResult } from '../../../hold/preview/pendingAction.ts';
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
      pat: z.string(),
      selector: selectorSchema(
        'A kind of syntax node: only the first such node of the pattern is searched for, the rest is context. For ' +
          'code that does not stand alone: pat "({ k: $V })", selector "pair"; pat "class A { $F = $V }", selector ' +
          '"public_field_definition".',
      ),
      paths: pathsSchema('Files, folders and globs, e.g. ["src/**/*.ts"]; "." is the whole workspace.'),
    }),
    readOnly: true,
    async execute({ pat, selector, paths }, context) {
      const { searchByStructure } = await import('./structuralSearch.ts');
      const result = await searchByStructure(searcher, [{ pat, selector, out: null }], paths, context);
      const { matchReport, nothingReport } = await import('./report.ts');
      return textResult(result.files.length === 0 ? nothingReport(result.summary) : matchReport(result));
    },
  });
}

/**
 * The argument that selects a node of a pattern. Each request sends the words, so only one tool explains the argument to the model.
 */
export function selectorSchema(words: string) {
  return z.optional(z.string().check(z.minLength(1), z.maxLength(100))).check(z.describe(words));
}

/** Files, folders and globs. */
export function pathsSchema(words: string) {
  return z
    .array(z.string().check(z.maxLength(4_096)))
    .check(z.minLength(1))
    .check(z.describe(words));
}
