import type * as z from 'zod/v4/core';
import type { ImageFile } from '../model/messages.ts';
import type { RevertRequest } from '../conversation/revert.ts';
import type { ResolveCall } from '../forcing/modelResolver.ts';
import type { FileChange } from '../../hold/preview/fileChange.ts';
import type { PendingContents } from '../../hold/preview/overlay.ts';
import type { AgentToolResult, PendingAction } from '../../hold/preview/pendingAction.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import type { NoteShown } from '../../hold/preview/shownDiffs.ts';
import type { Handled, Resolved } from '../../hold/preview/resolve/resolved.ts';
import type { Workspace } from '../../hold/preview/workspace.ts';

/** The schema of a tool's arguments, from either build of zod. */
export type ToolSchema = z.$ZodType;

/** An open preview of the conversation, and whom it waits for, in words for the model. */
export interface OpenPreview {
  readonly preview: Preview;
  readonly waits: string;
  /** If it is stale: the files to read again. */
  readonly toRead: readonly string[] | undefined;
}

/** The pending previews in the conversation of the calling model. */
export interface ModelPreviews {
  /** Oldest first. */
  open(): Promise<readonly OpenPreview[]>;
  /**
   * The preview, to be amended.
   * @throws ToolError if it is not the model's to amend, or has changed since the model was shown it.
   */
  toAmend(id: string): Preview;
  /**
   * Makes these changes its next revision. The call's result is delivered once that is stored on disk.
   * @param preview from {@link toAmend}
   * @param title its new title; the preview keeps its own without one
   * @throws ToolError if it has changed since then
   */
  amend(preview: Preview, changes: readonly FileChange[], title?: string): Amended;
  /** The result of the call says of this preview that it is stale, if it is. */
  noteStale(preview: Preview): void;
}

/** A preview that was just amended. */
export interface Amended {
  readonly preview: Preview;
  /** The ids of the previews that build on it. */
  readonly above: readonly string[];
  /** Whether the model had voted on it, or has no vote, as in Manual mode. */
  readonly vote: 'none' | 'open' | 'outdated';
  /** Settles once the revision is on disk; see `PreviewStore`. */
  readonly stored: Promise<void>;
}

/** The context that a tool may use during one call. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /** The model's id of this call. */
  readonly toolCallId: string;
  /** The workspace as if the pending previews of the conversation were applied. */
  readonly workspace: Workspace;
  /** The contents that those previews propose. */
  readonly pending: PendingContents;
  /** Stages a preview, which changes no file. The call's result is delivered once the preview is stored on disk. */
  stage(action: PendingAction): Preview;
  /** Stages the consequence of a preview of this call, even if the call ended long before. */
  followUp(action: PendingAction): Preview;
  /**
   * Applies a preview of this call at once, as a vote of the model. Absent if the caller is not the model of a session.
   * @param isGranted called at the last moment: whether the user's settings allow this apply, regardless of the model's other
   *   rights
   */
  carryOut?(preview: Preview, isGranted: () => boolean): Promise<Resolved>;
  /**
   * The result of the call, which the model sees with its next request, shows this part of the preview's diff; see
   * `ModelResolver.noteShown`. Absent if the caller is not the model of a session.
   */
  noteShown?: NoteShown;
  /** The pending previews of the conversation. Absent if the caller is not the model of a session. */
  own?(): Promise<ModelPreviews>;
  /** Resolves a preview as the model. */
  resolve(call: ResolveCall): Promise<Resolved | Handled>;
  /**
   * The previews that a `resolve` with these ids, or without any, is about, in an order in which they can be applied; `undefined`
   * if that is for {@link resolve} to find out. Absent if the caller is not the model of a session.
   */
  meant?(ids: readonly string[] | undefined): readonly string[] | undefined;
  /**
   * The ids of the previews that the model must vote on before its turn ends. Absent if the caller is not the model of a session.
   */
  unvoted?(): readonly string[];
  /** Requests a revert of the conversation, which the session applies before the next turn. */
  revert(request: Omit<RevertRequest, 'actor'>): void;
  /** Shows an image to the model with the result of this call. Absent where no image can be shown. */
  showImage?(bytes: Uint8Array): Promise<ImageFile | undefined>;
  /** Reports the progress of a long call, in a few words. */
  onUpdate?(progress: string): void;
}

/**
 * A tool of the agent. `execute` gets arguments that its schema accepted. It throws a `ToolError` whose message tells the
 * model what to do next; of any other error the model also gets the message, and the log gets the stack.
 */
export interface Tool<Schema extends ToolSchema = ToolSchema> {
  readonly name: string;
  /** The name that the user sees. */
  readonly label: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  readonly parameters: Schema;
  /** The JSON Schema that the model gets; derived from `parameters` when it is left out. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** Not listed for the user and not requestable by name, but always offered to the model. */
  readonly hidden?: boolean;
  /** Changes and stages nothing: calls of one message may run in parallel, and plan mode offers the tool. */
  readonly readOnly?: boolean;
  /** Set by {@link defineTool}: a call with arguments that the schema does not name is refused. */
  readonly isOurs?: boolean;
  /** While it returns false, the tool is not offered and cannot be called. */
  readonly isEnabled?: () => boolean;
  execute(params: z.output<Schema>, context: ToolContext): Promise<AgentToolResult>;
}

/** A tool of ours. Infers the parameter types of `execute` from the schema. */
export function defineTool<Schema extends ToolSchema>(tool: Tool<Schema>): Tool {
  return { ...tool, isOurs: true };
}
