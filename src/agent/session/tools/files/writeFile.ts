import * as z from 'zod/mini';
import { plural } from '../../../base/phrases.ts';
import { inLineEndingsOf } from '../../../hold/text/lineEndings.ts';
import { countLines } from '../../../hold/text/lines.ts';
import { titled, titleSchema } from '../titles.ts';
import { defineTool } from '../tool.ts';
import { stageChange } from './stageChange.ts';
import { proposedSide, readText } from '../../../hold/preview/textFile.ts';
import { rewriteSummary } from '../../../hold/text/rewriteSummary.ts';

export const writeFileTool = defineTool({
  name: 'write_file',
  label: 'Write File',
  description:
    'Propose the whole content of a new or existing file. ' + 'To change part of a file, use edit_file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1)),
    content: z
      .string()
      .check(
        z.describe(
          'All of it. Line endings become those of the file or the workspace; all else is kept exactly.',
        ),
      ),
    title: titleSchema,
  }),
  async execute({ path: input, content, title }, context) {
    const path = await context.workspace.resolvePath(input);
    const before = await readText(context.workspace, path);
    const text = before ? await inLineEndingsOf(before.text, content) : content;
    const after = await proposedSide(context.workspace, path, before, text);
    const hasOwnEnding = before !== null || after.text.includes('\r') === content.includes('\r');
    const verb = before ? 'Rewrite' : 'Create';
    const summary = before
      ? await rewriteSummary(path, before.text, text)
      : `${path}: a new file of ${plural(countLines(content), 'line')}${hasOwnEnding ? '' : ', with CRLF line endings as the workspace sets'}.`;
    return stageChange(context, {
      path,
      before,
      after,
      keepsLineEndings: text !== content,
      sourceToolName: 'write_file',
      label: `${verb} ${path}`,
      ...titled(title, l10n => (before ? l10n.t('Rewrite {0}', path) : l10n.t('Create {0}', path))),
      summary,
    });
  },
});
