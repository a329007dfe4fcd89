import * as z from 'zod/mini';
import { modelResult } from '../../hold/preview/resolve/modelResult.ts';
import { resolveEach } from '../../session/tools/resolveEach.ts';
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
  description: 'Withdraw pending previews of yours that are wrong or no longer needed.',
  parameters: z.object({
    ids: z.array(idSchema).check(z.minLength(1), z.maxLength(1_000)),
    reason: z.optional(z.string().check(z.describe('One sentence that says why, for the user.'))),
  }),
  execute: ({ ids, reason = '' }, context) => {
    const { signal } = context;
    const why = reason.trim() || 'Withdrawn by the agent.';
    return resolveEach([...new Set(ids)], { action: 'discard', reason: why, signal }, context);
  },
});

/** The agent's vote on one of its own previews. The invoker decides its effect. */
export const resolveOwnTool = defineTool({
  name: 'resolve',
  label: 'Resolve',
  description:
    'Apply or discard a preview of yours, as far as the user lets you: by default, `apply` is only shown to the user as ' +
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
