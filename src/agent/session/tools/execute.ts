import en from 'zod/v4/locales/en.js';
import * as z from 'zod/mini';
import { safeName } from '../../base/safeName.ts';
import { abortErrorOf, untilAborted } from '../../base/async.ts';
import { beginningOf, endOf } from '../../base/cutText.ts';
import { detailOf, isAbortError, messageOf, ToolError } from '../../base/errors.ts';
import { isDeeperThan, jsonSafe, MAX_DEPTH } from '../../base/json.ts';
import type { Logger } from '../../base/logger.ts';
import { plural } from '../../base/phrases.ts';
import { isKnownBy } from '../conversation/conversationPreviews.ts';
import { interruptions } from '../model/interruptions.ts';
import type { ImageFile, ToolCall, ToolResultMessage } from '../model/messages.ts';
import { resultText, type AgentToolResult, type PendingAction } from '../../hold/preview/pendingAction.ts';
import { nameOf, type Preview } from '../../hold/preview/preview.ts';
import type { QueuedPreview } from '../../hold/preview/previewStoreOptions.ts';
import { MAX_RESULT_DIFF_CHARS, shownDiff, type NoteShown } from '../../hold/preview/shownDiffs.ts';
import { amendedText } from '../../hold/preview/resolve/waitTexts.ts';
import { MAX_RESULT_CHARS } from './resultRows.ts';
import { leftOutArguments, repairArguments, unknownArguments } from './repairArguments.ts';
import type { ModelPreviews, Tool, ToolContext } from './tool.ts';
import { specOf } from './toolSpec.ts';

// The small build of zod comes without error messages.
z.config(en());

/** The most characters of one progress report; its end is kept, which matters most. */
const MAX_PROGRESS_CHARS = 10_000;

export interface ExecuteOptions {
  readonly tools: readonly Tool[];
  readonly context: Omit<ToolContext, 'stage' | 'followUp' | 'toolCallId'>;
  /** Stages a preview of this call; `stored` settles when it is on disk. */
  readonly stage: (action: PendingAction) => QueuedPreview;
  /** The line before the result that describes the previews staged by the call. Never rejects. */
  readonly describeStaged: (staged: readonly Preview[]) => string | Promise<string>;
  /** Tells the model why a tool that is not among these cannot be called now; `undefined` if no tool has this name. */
  readonly unavailable?: (name: string) => Promise<string | undefined>;
  readonly logger: Logger;
}

/**
 * Runs one tool call. Never rejects: an unknown tool, malformed or invalid arguments and errors of the tool
 * become an error result that tells the model what to do.
 */
export async function executeToolCall(call: ToolCall, options: ExecuteOptions): Promise<ToolResultMessage> {
  const effects = new CallEffects(options);
  const context = effects.noting(call.id);
  let result: AgentToolResult;
  let ownText: string;
  let note = '';
  try {
    const tool = await findTool(call.name, options);
    const { params, leftOut } = await parseArguments(call, tool);
    if (leftOut.length > 0)
      note = `\n[Ignored, since ${call.name} has no such argument: ${leftOut.map(name => safeName(name)).join(', ')}.]`;
    result = await untilAborted(context.signal, async () => {
      const answer = await tool.execute(params, context);
      await effects.stored();
      return answer;
    });
    ownText = resultText(result); // throws if the tool returned something other than a result
  } catch (error) {
    result = errorResult(call, error, options);
    ownText = resultText(result);
  }
  effects.end();
  const details = jsonSafe(result.details);
  const { pending, image } = effects;
  const text = [...(await effects.lines()), ownText, ...(await effects.diffs(call.name, details))].join('\n');
  if (!context.signal.aborted) effects.delivered();
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    // Half a surrogate pair, from a cut name or from a file, would make servers refuse this and every later request.
    content: `${capped(text)}${note}`.toWellFormed(),
    isError: result.isError ?? false,
    ...(image ? { image } : {}),
    ...(pending.length > 0 ? { pending } : {}),
    ...(details === undefined ? {} : { details }),
  };
}

/** The previews that one call stages, amends and recommends, which its result names. */
class CallEffects {
  readonly #options: ExecuteOptions;
  readonly #staged: Preview[] = [];
  /** The previews that it amended, or whose resolution it recommended. */
  readonly #touched: string[] = [];
  readonly #amended: string[] = [];
  readonly #writes: Promise<void>[] = [];
  /** The diffs in the result. */
  readonly #shown: Parameters<NoteShown>[] = [];
  /** Previews of this call that were carried out at once; the result says so. */
  readonly #carriedOut = new Set<string>();
  /** The image that the model is shown. */
  image: ImageFile | undefined;
  #hasEnded = false;

  constructor(options: ExecuteOptions) {
    this.#options = options;
  }

  /** The previews that the result names. */
  get pending(): readonly string[] {
    return [...this.#staged.map(({ id }) => id), ...this.#touched];
  }

  /** Settles when all of it is on disk. */
  async stored(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** The call is answered: it reports no more progress. */
  end(): void {
    this.#hasEnded = true;
  }

  /** The diffs of previews that the tool has staged but not shown, for the end of the result. */
  async diffs(toolName: string, details: unknown): Promise<readonly string[]> {
    const isShown = (preview: Preview): boolean => this.#shown.some(([{ id }]) => id === preview.id);
    const unshown = this.#staged.filter(each => each.kind === 'files' && !isShown(each));
    if (unshown.length === 0 || isKnownBy(toolName, details) || !this.#options.context.noteShown) return [];
    const room = Math.floor(MAX_RESULT_DIFF_CHARS / unshown.length);
    const texts: string[] = [];
    for (const preview of unshown) {
      const shown = await shownDiff(preview, 0, room);
      this.#shown.push([preview, { from: 0, ...shown }]);
      texts.push(`The diff of ${nameOf(preview)}:\n${shown.text}`);
    }
    return texts;
  }

  /** The model gets the result, with the diffs in it. */
  delivered(): void {
    for (const shown of this.#shown) this.#options.context.noteShown?.(...shown);
  }

  /** The lines before the tool's own text. */
  async lines(): Promise<readonly string[]> {
    const waiting = this.#staged.filter(({ id }) => !this.#carriedOut.has(id));
    const head = waiting.length > 0 ? [await this.#options.describeStaged(waiting)] : [];
    return [...head, ...this.#amended];
  }

  /** The context for the tool, which notes everything that the tool does with previews. */
  noting(toolCallId: string): ToolContext {
    const { context } = this.#options;
    const { onUpdate, carryOut, noteShown, own, showImage } = context;
    const note: NoteShown = (...shown) => {
      if (!this.#hasEnded) this.#shown.push(shown);
      else if (!context.signal.aborted) noteShown?.(...shown); // in the report of a command
    };
    return {
      ...context,
      ...(showImage ? { showImage: async bytes => (this.image = await showImage(bytes)) } : {}),
      ...(own ? { own: async () => this.#amending(await own()) } : {}),
      ...(noteShown ? { noteShown: note } : {}),
      toolCallId,
      stage: action => {
        this.#assertRunning();
        return this.#stage(action);
      },
      followUp: action => this.#stage(action),
      ...(carryOut
        ? {
            carryOut: async (preview: Preview, isGranted: () => boolean) => {
              const resolved = await carryOut(preview, isGranted);
              if (resolved.kind !== 'recommended') this.#carriedOut.add(preview.id);
              return resolved;
            },
          }
        : {}),
      resolve: async vote => {
        const resolved = await context.resolve(noteShown ? { ...vote, noteShown: note } : vote);
        if (resolved.kind === 'recommended') this.#touched.push(resolved.preview.id);
        return resolved;
      },
      ...(onUpdate
        ? { onUpdate: progress => void (this.#hasEnded || onUpdate(endOf(progress, MAX_PROGRESS_CHARS))) }
        : {}),
    };
  }

  #amending(previews: ModelPreviews): ModelPreviews {
    return {
      ...previews,
      amend: (preview, changes, title) => {
        this.#assertRunning();
        const made = previews.amend(preview, changes, title);
        this.#touched.push(preview.id);
        this.#amended.push(amendedText(made.preview, made.above, made.vote));
        this.#writes.push(made.stored);
        return made;
      },
    };
  }

  #stage(action: PendingAction): Preview {
    const { preview, stored } = this.#options.stage(action);
    this.#staged.push(preview);
    this.#writes.push(stored);
    return preview;
  }

  /** A tool that ignores the signal may still be running although the call has been answered. */
  #assertRunning(): void {
    const { signal } = this.#options.context;
    if (signal.aborted) throw abortErrorOf(signal);
  }
}

async function findTool(name: string, { tools, unavailable }: ExecuteOptions): Promise<Tool> {
  const tool = tools.find(candidate => candidate.name === name);
  if (tool) return tool;
  const why = await unavailable?.(name);
  if (why !== undefined) throw new ToolError(why);
  throw new ToolError(
    `There is no tool named ${safeName(name)}. Available: ${tools.map(known => known.name).join(', ')}.`,
  );
}

/**
 * Validates the arguments. Arguments of our own tools are always repaired first, and unknown ones are refused. Arguments of other
 * tools are repaired only if the schema refuses them, and the tool itself decides about unknown ones.
 */
async function parseArguments(
  call: ToolCall,
  tool: Tool,
): Promise<{ readonly params: unknown; readonly leftOut: readonly string[] }> {
  const given = refuseDeep(call, parseJson(call));
  const first = tool.isOurs ? undefined : await z.safeParseAsync(tool.parameters, given);
  if (first?.success) return { params: first.data, leftOut: [] };
  const schema = specOf(tool).parameters;
  const repaired = refuseDeep(call, repairArguments(given, schema, tool.isOurs));
  const unknown = tool.isOurs ? unknownArguments(repaired, schema) : undefined;
  if (unknown !== undefined)
    throw new ToolError(
      `Invalid arguments for ${call.name}. ${unknown} Nothing was done. Correct them and call it again.`,
    );
  const parsed = await z.safeParseAsync(tool.parameters, repaired);
  if (parsed.success)
    return { params: parsed.data, leftOut: tool.isOurs ? leftOutArguments(given, schema) : [] };
  const issues = parsed.error.issues.map(issue => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  throw new ToolError(
    `Invalid arguments for ${call.name}. ${issues.join('; ')}. Correct them and call it again.`,
  );
}

function parseJson(call: ToolCall): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch (error) {
    throw new ToolError(
      `The arguments of ${call.name} are not valid JSON (${messageOf(error)}). Send one JSON object and call it again.`,
    );
  }
}

function refuseDeep(call: ToolCall, value: unknown): unknown {
  if (!isDeeperThan(MAX_DEPTH, value)) return value;
  throw new ToolError(
    `The arguments of ${call.name} are nested more than ${MAX_DEPTH} levels deep. Send flatter ones and call it again.`,
  );
}

function errorResult(call: ToolCall, error: unknown, { context, logger }: ExecuteOptions): AgentToolResult {
  const aborted = context.signal.aborted && (isAbortError(error) || error === abortErrorOf(context.signal));
  const text = aborted ? interruptions.during : messageOf(error);
  if (!aborted && !(error instanceof ToolError)) logger.error(`Tool ${call.name} threw: ${detailOf(error)}`);
  return { content: [{ type: 'text', text }], isError: true };
}

function capped(text: string): string {
  if (text.length <= MAX_RESULT_CHARS) return text;
  return `${beginningOf(text, MAX_RESULT_CHARS)}\n[Cut off: ${plural(text.length - MAX_RESULT_CHARS, 'more character')}.]`;
}
