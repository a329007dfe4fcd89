import * as z from 'zod/mini';
import type { FileChange } from '../../preview/fileChange.ts';
import { textResult } from '../../preview/pendingAction.ts';
import { assertApplicable } from '../../preview/textFile.ts';
import { replacementTitle, titled, titleSchema } from '../titles.ts';
import { defineTool, type Tool } from '../tool.ts';
import { pathsSchema } from './astGrep.ts';
import type { AstSearcher } from './structuralSearch.ts';

/** `ast_edit`: stages replacements of code that is found by structure. */
export function astEditTool(searcher: AstSearcher): Tool {
  return defineTool({
    name: 'ast_edit',
    label: 'AST Edit',
    description:
      'Propose replacements of code found by its structure, in any number of files. Each op has a pattern (see ' +
      'ast_grep) and the code that replaces its matches, which may use the variables of the pattern; empty code ' +
      'deletes the matches. All ops refer to the files as they are now. Stages a preview: nothing is written until it ' +
      'is applied.',
    parameters: z.object({
      ops: z
        .array(
          z.object({
            pat: z.string().check(z.describe('The pattern, e.g. "console.log($$$A)".')),
            out: z.string().check(z.describe('Its replacement, e.g. "logger.info($$$A)"; empty to delete.')),
          }),
        )
        .check(z.minLength(1)),
      paths: pathsSchema,
      title: titleSchema,
    }),
    async execute({ ops, paths, title }, context) {
      const { searchByStructure } = await import('./structuralSearch.ts');
      const result = await searchByStructure(searcher, ops, paths, context);
      const { editLabel, editReport, nothingReport } = await import('./report.ts');
      const { files, summary } = result;
      if (files.length === 0) return textResult(`${nothingReport(summary)} Nothing was staged.`);
      const changes: FileChange[] = files.flatMap(({ path, found }) =>
        found.kind === 'edits'
          ? [{ kind: 'modify', path, before: found.before, after: found.after, edits: found.edits }]
          : [],
      );
      await assertApplicable(context.workspace, changes);
      context.stage({
        ...editLabel(files),
        title: titled(title, replacementTitle(ops)),
        sourceToolName: 'ast_edit',
        changes,
        details: { ops, paths },
      });
      return textResult(editReport(result));
    },
  });
}
