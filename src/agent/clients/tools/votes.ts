import * as z from 'zod/mini';
import { messageOf, ToolError } from '../../base/errors.ts';
import { textOf, textResult } from '../../hold/preview/pendingAction.ts';
import { modelResult } from '../../hold/preview/resolve/resolved.ts';
import { defineTool } from '../../session/tools/tool.ts';

const idSchema = z
  .string()
  .check(
    z.minLength(1),
    z.describe('The id of one of your previews, as the result of your call told it, e.g. "p3".'),
  );

/** Withdraws the agent's own proposals: its vote to discard them. */
export const withdrawTool = defineTool({
  name: 'withdraw',
  label: 'Withdraw',
  description:
    'Withdraw proposals of yours that are still pending, because they are wrong or no longer needed.',
  parameters: z.object({
    ids: z.array(idSchema).check(z.minLength(1), z.maxLength(1_000)),
    reason: z.optional(z.string().check(z.describe('One sentence that says why, for the user.'))),
  }),
  async execute({ ids, reason = '' }, { resolve, signal }) {
    const lines: string[] = [];
    let failed = 0;
    for (const id of new Set(ids)) {
      signal.throwIfAborted();
      const vote = {
        id,
        action: 'discard',
        reason: reason.trim() || 'Withdrawn by the agent.',
        signal,
      } as const;
      try {
        lines.push(textOf(modelResult(await resolve(vote))));
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        failed++;
        lines.push(messageOf(error));
      }
    }
    return { ...textResult(lines.join('\n')), isError: failed === lines.length };
  },
});

/** The agent's vote on one of its own previews. The invoker decides its effect. */
export const resolveOwnTool = defineTool({
  name: 'resolve',
  label: 'Resolve',
  description:
    'Apply or discard a proposal of yours, as far as the user lets you: by default, `apply` is only shown to the user as ' +
    'your recommendation. The result says what happened.',
  parameters: z.object({
    id: idSchema,
    action: z.enum(['apply', 'discard']),
    reason: z
      .string()
      .check(z.describe('One sentence that says why. It is shown to the user and kept in the ledger.')),
  }),
  execute: async ({ id, action, reason }, { resolve, signal }) =>
    modelResult(await resolve({ id, action, reason, signal })),
});
