import * as z from 'zod/mini';
import { ToolError } from '../../base/errors.ts';
import { editFileTool } from '../../session/tools/files/editFile.ts';
import { writeFileTool } from '../../session/tools/files/writeFile.ts';
import { defineTool } from '../../session/tools/tool.ts';

/** Exact replacements in a file. */
export const editsSchema = z
  .array(
    z.object({
      old: z
        .string()
        .check(
          z.describe(
            'Exact text to replace. It must occur once in the file as read_file shows it, unless replaceAll is set.',
          ),
        ),
      new: z.string().check(z.describe('Its replacement.')),
      replaceAll: z.optional(z.boolean()),
    }),
  )
  .check(z.minLength(1));

/** Stages a change to one file: exact edits, or its whole content. */
export const proposeEditTool = defineTool({
  name: 'propose_edit',
  label: 'Propose Edit',
  description:
    'Propose a change to one file: either `edits`, exact replacements in the file as read_file shows it, or ' +
    '`content`, the whole new text, which also creates a file. Nothing is written: the user reviews the change as a diff ' +
    'and decides later. The call returns at once; go on with your work.',
  parameters: z.object({
    path: z.string().check(z.minLength(1)),
    edits: z.optional(editsSchema),
    content: z.optional(z.string().check(z.describe('The whole new content of the file.'))),
  }),
  async execute({ path, edits, content }, context) {
    if (edits !== undefined && content !== undefined)
      throw new ToolError('Give either edits or content, not both.');
    if (edits !== undefined) return editFileTool.execute({ path, edits }, context);
    if (content !== undefined) return writeFileTool.execute({ path, content }, context);
    throw new ToolError('Give edits, or content for the whole file.');
  },
});
