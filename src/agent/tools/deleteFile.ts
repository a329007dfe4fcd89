import * as z from 'zod/mini';
import { splitLines } from '../preview/lines.ts';
import { textResult } from '../preview/pendingAction.ts';
import { readExistingText } from './textFile.ts';
import { defineTool } from './tool.ts';

export const deleteFileTool = defineTool({
  name: 'delete_file',
  label: 'Delete File',
  description: 'Propose to delete one text file. Stages a preview: nothing is deleted before it is applied.',
  parameters: z.object({ path: z.string().check(z.minLength(1), z.describe('Path inside the workspace.')) }),
  async execute({ path: input }, context) {
    const path = await context.workspace.resolvePath(input);
    const before = await readExistingText(context.workspace, path);
    await context.stage({
      label: `Delete ${path}`,
      sourceToolName: 'delete_file',
      changes: [{ kind: 'delete', path, before, after: null }],
    });
    return textResult(`${path}: deletes the file with its ${splitLines(before.text).length} lines.`);
  },
});
