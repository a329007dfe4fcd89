import * as z from 'zod/mini';
import type { Preview } from './preview.ts';

const toolOrigin = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('extension'), id: z.string(), name: z.string() }),
  // An MCP server. VS Code does not tell which one, but the name of the tool begins with the name of the server.
  z.object({ kind: z.literal('mcp') }),
  z.object({ kind: z.literal('unknown') }),
]);

/** Provider of a tool, as far as VS Code tells extensions. */
export type ToolOrigin = z.output<typeof toolOrigin>;

const plan = z.object({
  tool: z.string(),
  origin: toolOrigin,
  arguments: z.record(z.string(), z.unknown()),
  timeLimit: z.number(),
});

/** A call as its preview shows it and as it is made. `timeLimit` is in seconds. */
export type ToolCallPlan = z.output<typeof plan>;

/** The call that a preview makes; `undefined` if it makes none. */
export function toolCallOf(preview: Preview): ToolCallPlan | undefined {
  return preview.purpose === 'toolCall' ? plan.safeParse(preview.details).data : undefined;
}
