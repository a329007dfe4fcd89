import { messageOf } from '../../../base/errors.ts';
import { answerOf, resultText, textResult } from '../../../hold/preview/pendingAction.ts';
import { readText } from '../../../hold/preview/textFile.ts';
import type { Tool, ToolContext } from '../tool.ts';
import type { RunningCall, CurrentTool } from './currentTool.ts';
import { toolParameters } from './loading/parameters.ts';
import { asOurToolError } from './parsePendingAction.ts';
import type { ToolHost } from './pi.ts';
import type {
  CustomTool,
  CustomToolContext,
  CustomToolSessionEvent,
} from '../../../../../examples/tools/redline.d.ts';
import type { ToolOwner } from './toolOwner.ts';

/** The tool names that servers accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A custom tool that can be registered. */
export interface LoadedTool {
  readonly tool: Tool;
  /** Tells the tool about its session. Errors that it throws are reported to its owner. */
  onSession(event: CustomToolSessionEvent): void;
}

/** The environment of a custom tool. */
export interface ToolEnvironment {
  readonly owner: ToolOwner;
  readonly cwd: string;
  readonly currentTool: CurrentTool;
  readonly host: ToolHost;
}

/**
 * Makes a tool of the agent from the definition that a factory returned.
 * @throws Error with a sentence for the author on the fault of the definition.
 */
export function createCustomTool(given: unknown, environment: ToolEnvironment): LoadedTool {
  const { owner, currentTool } = environment;
  const definition = validateDefinition(given);
  const { name, description, label } = definition;
  const tool: Tool = {
    name,
    label: typeof label === 'string' && label.trim() !== '' ? label : name,
    description,
    ...toolParameters(definition.parameters),
    ...(definition.hidden === true ? { hidden: true } : {}),
    ...(definition.readOnly === true ? { readOnly: true } : {}),
    execute: (params, context) => {
      const call: RunningCall = {
        tool,
        stage: action => context.stage(action),
        filesRead: new Map(),
        ended: false,
      };
      return currentTool.run(owner, call, async () => {
        try {
          const answer: unknown = await definition.execute(
            context.toolCallId,
            params,
            progress =>
              currentTool.runOutside(() =>
                context.onUpdate?.(resultText({ content: [], ...answerOf(progress) })),
              ),
            contextOf(context, call, environment),
            context.signal,
          );
          const result = answerOf(answer);
          const { content = [] } = result;
          if (content.length > 0) return { ...result, content };
          return { ...result, ...textResult(`${name} ended without a result.`) };
        } catch (error) {
          throw asOurToolError(error);
        } finally {
          call.ended = true;
        }
      });
    },
  };
  return {
    tool,
    onSession: event => {
      if (typeof definition.onSession !== 'function') return;
      currentTool
        .run(owner, undefined, async () => definition.onSession?.(event))
        .catch((error: unknown) => owner.report({ kind: 'threwLater', message: messageOf(error) }, error));
    },
  };
}

function validateDefinition(given: unknown): CustomTool {
  if (typeof given !== 'object' || given === null) throw new Error('it is not an object');
  const { name, description, execute } = given as Partial<Record<keyof CustomTool, unknown>>;
  if (typeof name !== 'string') throw new Error('`name` must be a string');
  if (!NAME.test(name)) throw new Error('`name` must be 1 to 64 letters, digits, `_` and `-`');
  if (typeof description !== 'string' || description.trim() === '')
    throw new Error('`description` must be a string: it tells the model when to use the tool');
  if (typeof execute !== 'function') throw new Error('`execute` must be a function');
  return given as CustomTool;
}

function contextOf(
  { workspace }: ToolContext,
  call: RunningCall,
  { cwd, host, currentTool }: ToolEnvironment,
): CustomToolContext {
  return {
    cwd,
    hasUI: host.hasUI,
    sessionId: host.session()?.id ?? '',
    readFile: input =>
      currentTool.runOutside(async () => {
        const path = await workspace.resolvePath(input);
        const side = await readText(workspace, path);
        if (side) call.filesRead.set(path, side);
        return side?.text ?? null;
      }),
  };
}
