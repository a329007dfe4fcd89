import * as z from 'zod/mini';
import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import { counted } from '../../../hold/preview/label.ts';
import { applyTextEdits } from '../../../hold/text/textEdit.ts';
import { editTitle, titled, titleSchema } from '../titles.ts';
import { defineTool } from '../tool.ts';
import { stageChange } from './stageChange.ts';
import { asIfApplied, proposedSide, readText } from '../../../hold/preview/textFile.ts';

export const editFileTool = defineTool({
  name: 'edit_file',
  label: 'Edit File',
  description:
    'Propose edits to one file. Each `old` is text that occurs only once in the file, with its exact whitespace; ' +
    '`replaceAll` replaces it everywhere. All edits refer to the file as read_file shows it. An empty `old` creates a file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1)),
    edits: z
      .array(
        z.object({
          old: z.string(),
          new: z.string(),
          replaceAll: z.optional(z.boolean()),
        }),
      )
      .check(z.minLength(1)),
    amend: z
      .optional(z.string())
      .check(
        z.describe(
          'Id of a pending preview of yours to revise: edits then refer to the text that it proposes.',
        ),
      ),
    title: titleSchema,
  }),
  async execute({ path: input, edits, title, amend }, context) {
    const path = await context.workspace.resolvePath(input);
    if (amend !== undefined) {
      const { amendFile } = await import('./amendFile.ts');
      return amendFile(amend, path, edits, title, context);
    }
    const before = await readText(context.workspace, path);
    if (!before) {
      const [only, ...others] = edits;
      if (!only || only.old !== '' || others.length > 0) {
        throw new ToolError(
          `There is no file ${path}${asIfApplied(context.pending, path)}. Use list_files to find the right path, or create it with one edit whose old is empty.`,
        );
      }
      const summary = `${path}: a new file.`;
      return stageChange(context, {
        path,
        before,
        after: await proposedSide(context.workspace, path, null, only.new),
        sourceToolName: 'edit_file',
        label: `Create ${path}`,
        ...titled(title, l10n => l10n.t('Create {0}', path)),
        summary,
      });
    }
    const { locateEdits } = await import('./locateEdits.ts');
    const { shownEdits } = await import('./shownEdits.ts');
    const located = await locateEdits(path, before.text, edits);
    const text = applyTextEdits(before.text, located);
    const after = await proposedSide(context.workspace, path, before, text);
    const count = plural(located.length, 'edit');
    const isInPlaces = located.length > edits.length;
    // The model need not know the lines in which a text is replaced everywhere: if its vote depends on that, their diff follows.
    const shown = isInPlaces && context.noteShown ? [] : shownEdits(before.text, located);
    return stageChange(context, {
      path,
      before,
      after,
      edits: located,
      ...(isInPlaces ? { places: located.length } : {}),
      sourceToolName: 'edit_file',
      ...counted(`Edit ${path} (`, { noun: 'edit', count: located.length }, ')'),
      ...titled(title, editTitle(path, before.text, located)),
      summary: [`${path}: ${count}.`, ...shown].join('\n'),
    });
  },
});
