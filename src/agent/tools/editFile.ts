import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import { applyTextEdits, type TextEdit } from '../preview/textEdit.ts';
import { locateEdits } from './textEdits.ts';
import { stageChange } from './stageChange.ts';
import { proposedText, readText } from './textFile.ts';
import { defineTool } from './tool.ts';

/** The most lines of one edit that the summary shows. */
const MAX_SHOWN_LINES = 20;

export const editFileTool = defineTool({
  name: 'edit_file',
  label: 'Edit File',
  description:
    'Propose edits to one file. Each `old` must occur exactly once in the file, with its exact whitespace; give ' +
    'enough context to make it unique. All edits refer to the file as it is now. An empty `old` for a file that does ' +
    'not exist creates it. Stages a preview: nothing is written before it is applied.',
  parameters: z.object({
    path: z.string().check(z.minLength(1), z.describe('Path inside the workspace.')),
    edits: z
      .array(
        z.object({
          old: z.string().check(z.describe('Exact text to replace.')),
          new: z.string().check(z.describe('Its replacement.')),
        }),
      )
      .check(z.minLength(1)),
  }),
  async execute({ path: input, edits }, context) {
    const path = await context.workspace.resolvePath(input);
    const before = await readText(context.workspace, path);
    if (!before) {
      const [only, ...others] = edits;
      if (!only || only.old !== '' || others.length > 0) {
        throw new ToolError(
          `There is no file ${path}. Use list_files to find the right path, or create it with one edit whose old is empty.`,
        );
      }
      const summary = `${path}: a new file.`;
      return stageChange(context, {
        path,
        before,
        after: await proposedText(context.workspace, path, null, only.new),
        sourceToolName: 'edit_file',
        label: `Create ${path}`,
        summary,
      });
    }
    const located = locateEdits(path, before.text, edits);
    const text = applyTextEdits(before.text, located);
    const after = await proposedText(context.workspace, path, before, text);
    const count = located.length === 1 ? '1 edit' : `${located.length} edits`;
    return stageChange(context, {
      path,
      before,
      after,
      edits: located,
      sourceToolName: 'edit_file',
      label: `Edit ${path} (${count})`,
      summary: [`${path}: ${count}.`, ...located.map(edit => shownEdit(before.text, edit))].join('\n'),
    });
  },
});

/** `-line:old` and `+line:new`, so that the model can check where the edit landed. */
function shownEdit(text: string, edit: TextEdit): string {
  const line = text.slice(0, edit.start).split('\n').length;
  const rows = (sign: string, part: string): string[] =>
    part === '' ? [] : part.split(/\r?\n/).map((row, i) => `${sign}${line + i}:${row}`);
  const all = [...rows('-', text.slice(edit.start, edit.end)), ...rows('+', edit.text)];
  if (all.length <= MAX_SHOWN_LINES) return all.join('\n');
  return [...all.slice(0, MAX_SHOWN_LINES), `[${all.length - MAX_SHOWN_LINES} more lines not shown]`].join(
    '\n',
  );
}
