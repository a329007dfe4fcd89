import type { ToolOrigin } from '../../../hold/preview/toolCallPlan.ts';

/** A tool that VS Code offers to all extensions: its own, one of an extension or of an MCP server. */
export interface EditorTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly origin: ToolOrigin;
}

/** One part of a tool's answer. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  /** A part other than text, such as an image. `name` describes it to the model, in English. */
  | { readonly kind: 'other'; readonly name: string };

/** The port to VS Code for calling its tools. */
export interface EditorToolHost {
  readonly isTrusted: () => boolean;
  /** The tools that VS Code offers now, without Redline's own. They come and go with extensions and servers. */
  list(): readonly EditorTool[];
  /**
   * Calls a tool. When the signal fires, VS Code is told to cancel the call, but the tool may take its time.
   * @throws the tool's own error; an `AbortError` if VS Code or the tool cancelled the call.
   */
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<readonly AnswerPart[]>;
}
