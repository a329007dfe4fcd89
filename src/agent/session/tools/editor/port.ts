import * as z from 'zod/mini';
import type { Preview } from '../../../hold/preview/preview.ts';

const toolOrigin = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('extension'), id: z.string(), name: z.string() }),
  // An MCP server. VS Code does not tell which one, but the name of the tool begins with the name of the server.
  z.object({ kind: z.literal('mcp') }),
  z.object({ kind: z.literal('unknown') }),
]);

/** Who brings a tool, as far as VS Code tells extensions. */
export type ToolOrigin = z.output<typeof toolOrigin>;

/** A tool that VS Code offers to all extensions: its own, one of an extension or of an MCP server. */
export interface EditorTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly origin: ToolOrigin;
}

/** One part of what a tool answered. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  /** A part that is no text, such as an image. `name` tells the model what it is, in English. */
  | { readonly kind: 'other'; readonly name: string };

/** What Redline needs from VS Code to call its tools. */
export interface EditorToolHost {
  readonly isTrusted: () => boolean;
  /** The tools that VS Code offers now, without Redline's own. They come and go with extensions and servers. */
  list(): readonly EditorTool[];
  /**
   * Calls a tool. When the signal fires, VS Code is told to cancel the call, but the tool may take its time.
   * @throws what the tool throws; an `AbortError` if VS Code or the tool cancelled the call.
   */
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<readonly AnswerPart[]>;
}

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
