import * as z from 'zod/mini';
import { plural } from '../../../base/phrases.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { countLines } from '../../../hold/text/lines.ts';
import { reasoned, reasonSchema, titled, titleSchema } from '../titles.ts';
import { defineTool } from '../tool.ts';
import { assertApplicable, readExistingText } from '../../../hold/preview/textFile.ts';
import { rewriteSummary } from '../../../hold/text/rewriteSummary.ts';

export const deleteFileTool = defineTool({
  name: 'delete_file',
  label: 'Delete File',
  description: 'Propose to delete one text file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1)),
    title: titleSchema,
    reason: reasonSchema,
  }),
  async execute({ path: input, title, reason }, context) {
    const path = await context.workspace.resolvePath(input, { throughLink: false });
    const before = await readExistingText(context.workspace, path, context.pending);
    const change = { kind: 'delete', path, before, after: null } as const;
    await assertApplicable(context.workspace, [change]);
    context.stage({
      label: `Delete ${path}`,
      ...titled(title, l10n => l10n.t('Delete {0}', path)),
      ...reasoned(reason),
      sourceToolName: 'delete_file',
      changes: [change],
    });
    const [, ...diff] = (await rewriteSummary(path, before.text, '')).split('\n');
    const head = `${path}: deletes the file (${plural(countLines(before.text), 'line')}).`;
    return textResult([head, ...diff].join('\n'));
  },
});
