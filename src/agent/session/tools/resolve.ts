import * as z from 'zod/mini';
import { defineTool } from './tool.ts';

/** Applies or discards a pending preview for the model. Hidden, so always offered and never requested by name. */
export const resolveTool = defineTool({
  name: 'resolve',
  label: 'Resolve',
  description:
    'Vote on a pending preview, after you have checked its diff: `apply` writes exactly what was shown or, by the ' +
    "user's mode, recommends it to the user; `discard` drops it. Name one with id or several with ids; without " +
    'either, the last reminder counts.',
  parameters: z.object({
    action: z.enum(['apply', 'discard']),
    reason: z.string().check(z.describe('Why, for the user, in one sentence.')),
    extra: z
      .optional(z.record(z.string(), z.unknown()))
      .check(z.describe('Free-form data for the tool that staged the preview.')),
    id: z.optional(z.string()).check(z.describe('E.g. "p3".')),
    ids: z
      .optional(z.array(z.string()).check(z.minLength(1)))
      .check(z.describe('All of a task, for one vote.')),
  }),
  hidden: true,
  execute: async ({ action, reason, extra, id, ids }, context) => {
    const vote = { action, reason, ...(extra === undefined ? {} : { extra }), signal: context.signal };
    const named = ids ? [...(id === undefined ? [] : [id]), ...ids] : undefined;
    const meant = id !== undefined && !named ? [id] : (context.meant?.(named) ?? named);
    const [only, ...others] = meant ?? [];
    if (only === undefined) {
      const resolved = await context.resolve(vote); // before anything is loaded: the vote is on the present revision
      return (await import('../../hold/preview/resolve/modelResult.ts')).modelResult(resolved);
    }
    const { modelResult, resolveEach, withUnvoted } = await import('./resolveEach.ts');
    const result =
      others.length > 0
        ? await resolveEach([only, ...others], vote, context)
        : modelResult(await context.resolve({ ...vote, id: only, ...(named && { voteOn: [only] }) }));
    return withUnvoted(result, context.unvoted?.() ?? []);
  },
});
