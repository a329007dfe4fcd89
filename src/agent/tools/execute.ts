import * as z from 'zod/mini';
import '../base/schemaTexts.ts';
import { abortErrorOf, untilAborted } from '../base/abort.ts';
import { detailOf, isAbortError, isToolError, messageOf, ToolError } from '../base/errors.ts';
import { jsonSafe } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { ToolCall, ToolResultMessage } from '../model/messages.ts';
import { textOf, type AgentToolResult, type PendingAction } from '../preview/pendingAction.ts';
import type { Preview } from '../preview/preview.ts';
import type { QueuedPreview } from '../preview/queueResolveHandler.ts';
import { stagedText } from '../preview/resolveTexts.ts';
import type { Tool, ToolContext, ToolSchema } from './tool.ts';

/** The most characters of one result that the model gets. */
const MAX_RESULT_CHARS = 100_000;
/** The most characters of what a running call says of how far it is, of which the end matters most. */
const MAX_PROGRESS_CHARS = 10_000;

export interface ExecuteOptions {
  readonly tools: readonly Tool[];
  readonly context: Omit<ToolContext, 'stage' | 'push' | 'toolCallId'>;
  /** Registers a preview of this call at once. */
  readonly stage: (action: PendingAction) => QueuedPreview;
  /** Whether the human alone resolves, which the line about what was staged then says. */
  readonly userReviews: boolean;
  readonly logger: Logger;
}

/**
 * Runs one tool call and always gives its one result: an unknown tool, malformed or refused arguments and anything
 * thrown become error results that tell the model what to do.
 */
export async function executeToolCall(call: ToolCall, options: ExecuteOptions): Promise<ToolResultMessage> {
  const { onUpdate } = options.context;
  let ended = false;
  const staged: Preview[] = [];
  const writes: Promise<void>[] = [];
  const push = (action: PendingAction): Preview => {
    // A tool that does not listen to the signal goes on after its result was given.
    if (options.context.signal.aborted) throw abortErrorOf(options.context.signal);
    const { preview, stored } = options.stage(action);
    staged.push(preview);
    writes.push(stored.catch(() => undefined));
    return preview;
  };
  const context: ToolContext = {
    ...options.context,
    toolCallId: call.id,
    push,
    stage: async action => {
      const preview = push(action);
      await writes.at(-1);
      return preview;
    },
    ...(onUpdate
      ? { onUpdate: progress => void (ended || onUpdate(progress.slice(-MAX_PROGRESS_CHARS))) }
      : {}),
  };
  let result: AgentToolResult;
  let own: string;
  try {
    const tool = findTool(call.name, options.tools);
    const params = await parseArguments(call, tool.parameters);
    result = await untilAborted(context.signal, async () => {
      const answer = await tool.execute(params, context);
      await Promise.all(writes);
      return answer;
    });
    own = textOf(result); // throws where a tool answered with something else than a result
  } catch (error) {
    result = errorResult(call, error, options);
    own = textOf(result);
  }
  ended = true;
  const details = jsonSafe(result.details);
  const text = staged.length > 0 ? `${stagedText(staged, options.userReviews)}\n${own}` : own;
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: capped(text),
    isError: result.isError ?? false,
    ...(details === undefined ? {} : { details }),
  };
}

/** The result of a call that was never run because the user stopped the turn. */
export function interruptedResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: 'Interrupted by the user before it ran.',
    isError: true,
  };
}

function findTool(name: string, tools: readonly Tool[]): Tool {
  const tool = tools.find(candidate => candidate.name === name);
  if (tool) return tool;
  throw new ToolError(
    `There is no tool named ${name}. Available: ${tools.map(known => known.name).join(', ')}.`,
  );
}

async function parseArguments(call: ToolCall, schema: ToolSchema): Promise<unknown> {
  const parsed = await z.safeParseAsync(schema, parseJson(call));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(issue => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  throw new ToolError(
    `Invalid arguments for ${call.name}. ${issues.join('; ')}. Correct them and call it again.`,
  );
}

function parseJson(call: ToolCall): unknown {
  try {
    return JSON.parse(call.arguments) as unknown;
  } catch (error) {
    throw new ToolError(
      `The arguments of ${call.name} are not valid JSON (${messageOf(error)}). Send one JSON object and call it again.`,
    );
  }
}

function errorResult(call: ToolCall, error: unknown, { context, logger }: ExecuteOptions): AgentToolResult {
  const aborted = context.signal.aborted && (isAbortError(error) || error === abortErrorOf(context.signal));
  const text = aborted ? 'Interrupted by the user while it ran.' : messageOf(error);
  if (!aborted && !isToolError(error)) logger.error(`Tool ${call.name} threw: ${detailOf(error)}`);
  return { content: [{ type: 'text', text }], isError: true };
}

function capped(text: string): string {
  if (text.length <= MAX_RESULT_CHARS) return text;
  return `${text.slice(0, MAX_RESULT_CHARS)}\n[Cut off: ${text.length - MAX_RESULT_CHARS} more characters.]`;
}
