import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import { textResult } from '../preview/pendingAction.ts';
import { readExistingText } from './textFile.ts';
import { defineTool } from './tool.ts';

export const renameFileTool = defineTool({
  name: 'rename_file',
  label: 'Rename File',
  description:
    'Propose to rename or move one text file; its content stays. Mentions of it in other files are not changed. Stages a ' +
    'preview: nothing is moved before it is applied.',
  parameters: z.object({
    from: z.string().check(z.minLength(1), z.describe('Path of the file.')),
    to: z.string().check(z.minLength(1), z.describe('Its new path, where no file may be.')),
  }),
  async execute({ from: oldInput, to: newInput }, context) {
    const from = await context.workspace.resolvePath(oldInput);
    const path = await context.workspace.resolvePath(newInput);
    const before = await readExistingText(context.workspace, from);
    if (await context.workspace.read(path)) {
      throw new ToolError(`There is a file ${path} already. Choose another path, or delete that file first.`);
    }
    await context.stage({
      label: `Rename ${from} to ${path}`,
      sourceToolName: 'rename_file',
      changes: [{ kind: 'rename', path, from, before, after: before }],
    });
    return textResult(`${from} becomes ${path}; its content stays.`);
  },
});
