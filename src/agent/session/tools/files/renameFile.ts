import * as z from 'zod/mini';
import { ToolError } from '../../../base/errors.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { reasoned, reasonSchema, titled, titleSchema } from '../titles.ts';
import { defineTool } from '../tool.ts';
import {
  asIfApplied,
  assertApplicable,
  assertCanHoldFile,
  readExistingText,
} from '../../../hold/preview/textFile.ts';

export const renameFileTool = defineTool({
  name: 'rename_file',
  label: 'Rename File',
  description: 'Propose to rename or move one text file. References to it are not updated.',
  parameters: z.object({
    from: z.string().check(z.minLength(1)),
    to: z.string().check(z.minLength(1)),
    title: titleSchema,
    reason: reasonSchema,
  }),
  async execute({ from: oldInput, to: newInput, title, reason }, context) {
    const from = await context.workspace.resolvePath(oldInput, { throughLink: false });
    const path = await context.workspace.resolvePath(newInput, { throughLink: false });
    const before = await readExistingText(context.workspace, from, context.pending);
    if (path === from && !newInput.endsWith(path))
      throw new ToolError(
        `${oldInput} and ${newInput} are one file here, ${from}. A change of case alone cannot be proposed; choose another name.`,
      );
    if (await context.workspace.read(path)) {
      const asIf = asIfApplied(context.pending, path);
      throw new ToolError(`${path} already exists${asIf}. Choose another path, or delete that file first.`);
    }
    await assertCanHoldFile(context.workspace, path, from);
    const change = { kind: 'rename', path, from, before, after: before } as const;
    await assertApplicable(context.workspace, [change]);
    context.stage({
      label: `Rename ${from} to ${path}`,
      ...titled(title, l10n => l10n.t('Rename {0} to {1}', from, path)),
      ...reasoned(reason),
      sourceToolName: 'rename_file',
      changes: [change],
    });
    return textResult(`${from} becomes ${path}; its content stays the same.`);
  },
});
