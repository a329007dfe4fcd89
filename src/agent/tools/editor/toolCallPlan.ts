import * as z from 'zod/mini';
import type { Preview } from '../../preview/preview.ts';

const details = z.object({
  tool: z.string(),
  origin: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('extension'), id: z.string(), name: z.string() }),
    z.object({ kind: z.literal('mcp') }),
    z.object({ kind: z.literal('unknown') }),
  ]),
  arguments: z.record(z.string(), z.unknown()),
  timeLimit: z.number(),
});

/** A call as its preview shows it and as it is made. `timeLimit` is in seconds. */
export type ToolCallPlan = z.output<typeof details>;

/** The call that a preview makes; `undefined` if it makes none. */
export function toolCallOf(preview: Preview): ToolCallPlan | undefined {
  return preview.purpose === 'toolCall' ? details.safeParse(preview.details).data : undefined;
}
