import * as z from 'zod/mini';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { assertApplicable } from '../../../hold/preview/textFile.ts';
import { replacementTitle, titled, titleSchema, withBrokenFiles } from '../titles.ts';
import { defineTool, type Tool } from '../tool.ts';
import { pathsSchema, selectorSchema } from './astGrep.ts';
import type { AstSearcher } from './structuralSearch.ts';

const SOURCE = 'ast_edit';

/** `ast_edit`: stages replacements of code that is found by structure. */
export function astEditTool(searcher: AstSearcher): Tool {
  return defineTool({
    name: SOURCE,
    label: 'AST Edit',
    description:
      'Propose replacements of code found by its structure, in any number of files. Each op has a pattern (see ' +
      'ast_grep) and the code for its matches, which may use its variables. No op sees the changes of another.',
    parameters: z.object({
      ops: z
        .array(
          z.object({
            pat: z.string().check(z.describe('E.g. "console.log($$$A)".')),
            selector: selectorSchema('See ast_grep.'),
            out: z.string().check(z.describe('E.g. "logger.info($$$A)"; empty to delete the matches.')),
          }),
        )
        .check(z.minLength(1)),
      paths: pathsSchema('Files, folders, globs.'),
      title: titleSchema,
    }),
    async execute({ ops, paths, title }, context) {
      const { searchByStructure } = await import('./structuralSearch.ts');
      const result = await searchByStructure(searcher, ops, paths, context);
      const { CUT_REPORT, editLabel, editReport, nothingReport } = await import('./report.ts');
      const { files, summary } = result;
      if (files.length === 0) return textResult(nothingReport(summary, 'Nothing was staged.'));
      const { astChanges } = await import('./astChanges.ts');
      const changes = await astChanges(files, context.workspace);
      const broken = files.filter(file => file.newSyntaxErrors).map(file => file.path);
      await assertApplicable(context.workspace, changes);
      const preview = context.stage({
        ...editLabel(files),
        ...withBrokenFiles(titled(title, replacementTitle(ops)), broken.length),
        sourceToolName: SOURCE,
        changes,
        details: { ops, paths, ...(broken.length === 0 ? {} : { noLongerParse: broken }) },
      });
      const report = editReport(result);
      if (!CUT_REPORT.test(report)) context.noteShown?.(preview, { from: 0, text: report, end: Infinity });
      return textResult(report);
    },
  });
}
