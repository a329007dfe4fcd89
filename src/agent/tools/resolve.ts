import * as z from 'zod/mini';
import { modelResult } from '../preview/resolve/resolved.ts';
import { defineTool } from './tool.ts';

/** Applies or discards a pending preview for the model. Hidden, so always offered and never requested by name. */
export const resolveTool = defineTool({
  name: 'resolve',
  label: 'Resolve',
  description:
    'Apply or discard a pending preview. Call it after you have checked the diff of a staged change: `apply` writes ' +
    'exactly what was shown, `discard` drops it. Without an id it resolves the preview that you were reminded of.',
  parameters: z.object({
    action: z.enum(['apply', 'discard']),
    reason: z
      .string()
      .check(z.describe('One sentence that says why. It is shown to the user and kept in the ledger.')),
    extra: z
      .optional(z.record(z.string(), z.unknown()))
      .check(z.describe('Free-form data for the tool that staged the preview.')),
    id: z.optional(z.string()).check(z.describe('The id of a pending preview, e.g. "p3".')),
  }),
  hidden: true,
  execute: async ({ action, reason, extra, id }, context) =>
    modelResult(
      await context.resolve({
        action,
        reason,
        ...(extra === undefined ? {} : { extra }),
        ...(id === undefined ? {} : { id }),
        signal: context.signal,
      }),
    ),
});
