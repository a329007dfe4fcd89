import * as z from 'zod/mini';
import { diffStat } from '../preview/lineDiff.ts';
import { splitLines } from '../preview/lines.ts';
import { stageChange } from './stageChange.ts';
import { proposedText, readText } from './textFile.ts';
import { defineTool } from './tool.ts';

export const writeFileTool = defineTool({
  name: 'write_file',
  label: 'Write File',
  description:
    'Propose the whole content of a file, new or existing. Stages a preview: nothing is written before it is ' +
    'applied. To change a part of a file, use edit_file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1), z.describe('Path inside the workspace.')),
    content: z.string().check(z.describe('The exact new content.')),
  }),
  async execute({ path: input, content }, context) {
    const path = await context.workspace.resolvePath(input);
    const before = await readText(context.workspace, path);
    const after = await proposedText(context.workspace, path, before, content);
    const { added, removed } = await diffStat(before?.text ?? '', content);
    const verb = before ? 'Rewrite' : 'Create';
    const summary = before
      ? `${path}: ${added} lines added, ${removed} removed.`
      : `${path}: a new file of ${splitLines(content).length} lines.`;
    return stageChange(context, {
      path,
      before,
      after,
      sourceToolName: 'write_file',
      label: `${verb} ${path}`,
      summary,
    });
  },
});
