import * as z from 'zod/mini';
import { defineTool } from './tool.ts';

/** Finalises a pending preview. Hidden: always offered, never requested by name. */
export const resolveTool = defineTool({
  name: 'resolve',
  label: 'Resolve',
  description:
    'Apply or discard a pending preview. Call it after you have checked the diff of a staged change: `apply` lands ' +
    'exactly what was shown, `discard` drops it. Without an id it is about the preview that you were reminded of.',
  parameters: z.object({
    action: z.enum(['apply', 'discard']),
    reason: z
      .string()
      .check(z.describe('One sentence: why. It is shown to the user and kept in the ledger.')),
    extra: z
      .optional(z.record(z.string(), z.unknown()))
      .check(z.describe('Free-form data for the producer of the preview.')),
    id: z.optional(z.string()).check(z.describe('The id of a pending preview, e.g. "p3".')),
  }),
  hidden: true,
  execute: ({ action, reason, extra, id }, context) =>
    context.resolve({
      action,
      reason,
      ...(extra === undefined ? {} : { extra }),
      ...(id === undefined ? {} : { id }),
      signal: context.signal,
    }),
});
