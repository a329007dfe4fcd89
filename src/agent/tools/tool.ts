import type * as z from 'zod/v4/core';
import type { AgentToolResult, PendingAction } from '../preview/pendingAction.ts';
import type { ResolveCall } from '../preview/modelResolver.ts';
import type { Preview } from '../preview/preview.ts';
import type { RevertRequest } from '../tree/revert.ts';
import type { Workspace } from '../preview/workspace.ts';

/** What the arguments of a tool must be: a schema of zod, of either of its builds. */
export type ToolSchema = z.$ZodType;

/** What a running tool may reach. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /** The model's id of this call. */
  readonly toolCallId: string;
  /** The workspace as if the pending previews were applied. */
  readonly workspace: Workspace;
  /** The pending preview that has the last say in what a path holds there, if one does. */
  pendingOn(path: string): string | undefined;
  /** Stages a preview; settles when it is safe on disk. Nothing is changed by it. */
  stage(action: PendingAction): Promise<Preview>;
  /** The same at once; that it is safe on disk is waited for before the call's result is given. */
  push(action: PendingAction): Preview;
  /** Resolves a preview as the model. */
  resolve(call: ResolveCall): Promise<AgentToolResult>;
  /** Asks to take the conversation back between this turn and the next. Nothing has happened when it returns. */
  revert(request: Omit<RevertRequest, 'actor'>): void;
  /** Tells how far a long call is, in a few words. */
  onUpdate?(progress: string): void;
}

/**
 * A tool of the agent. `execute` gets arguments that its schema accepted; it throws `ToolError` with a text for the
 * model, and anything else is reported to the model by its message.
 */
export interface Tool<Schema extends ToolSchema = ToolSchema> {
  readonly name: string;
  /** For people. */
  readonly label: string;
  /** For the model. */
  readonly description: string;
  readonly parameters: Schema;
  /** What the model is offered in place of the JSON Schema of `parameters`, for tools that are written in another. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** Not listed and not requestable by name, but always offered. */
  readonly hidden?: boolean;
  /** Changes nothing and stages nothing: calls of one message may run side by side. */
  readonly readOnly?: boolean;
  /** While it says no, the tool does not exist. */
  readonly isEnabled?: () => boolean;
  execute(params: z.output<Schema>, context: ToolContext): Promise<AgentToolResult>;
}

/** Gives `execute` the types of its schema. */
export function defineTool<Schema extends ToolSchema>(tool: Tool<Schema>): Tool {
  return tool;
}
