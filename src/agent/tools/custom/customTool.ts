import { messageOf } from '../../base/errors.ts';
import { resultOf, textOf } from '../../preview/pendingAction.ts';
import { readText } from '../textFile.ts';
import type { Tool, ToolContext } from '../tool.ts';
import { toolParameters } from './parameters.ts';
import type { CustomTool, CustomToolContext, CustomToolSessionEvent } from './redline.d.ts';
import type { ToolHost } from './toolHost.ts';
import type { ToolOwner } from './toolOwner.ts';
import type { RunningCall, ToolScopes } from './toolScopes.ts';

/** What servers take for a name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A custom tool that can be registered. */
export interface LoadedTool {
  readonly tool: Tool;
  /** Tells the tool of its session. What it throws goes to its owner. */
  onSession(event: CustomToolSessionEvent): void;
}

/** What a custom tool runs in. */
export interface ToolSurroundings {
  readonly owner: ToolOwner;
  readonly cwd: string;
  readonly scopes: ToolScopes;
  readonly host: ToolHost;
}

/**
 * Makes a tool of the agent out of what a factory gave.
 * @throws Error with a sentence for the author about what is missing.
 */
export function customTool(given: unknown, surroundings: ToolSurroundings): LoadedTool {
  const { owner, scopes } = surroundings;
  const definition = checked(given);
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
        push: action => context.push(action),
        sides: new Map(),
        ended: false,
      };
      return scopes.run(owner, call, async () => {
        try {
          const answer: unknown = await definition.execute(
            context.toolCallId,
            params,
            progress => scopes.leave(() => context.onUpdate?.(textOf(resultOf(progress, '')))),
            contextOf(context, call, surroundings),
            context.signal,
          );
          return resultOf(answer, `${name} ended without an answer.`);
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
      scopes
        .run(owner, undefined, async () => definition.onSession?.(event))
        .catch((error: unknown) => owner.report({ kind: 'threwLater', message: messageOf(error) }, error));
    },
  };
}

function checked(given: unknown): CustomTool {
  if (typeof given !== 'object' || given === null) throw new Error('it is not an object');
  const { name, description, execute } = given as Partial<Record<keyof CustomTool, unknown>>;
  if (typeof name !== 'string') throw new Error('`name` must be a text');
  if (!NAME.test(name)) throw new Error('`name` may hold up to 64 letters, digits, `_` and `-`');
  if (typeof description !== 'string' || description.trim() === '')
    throw new Error('`description` must be a text: it tells the model when to use the tool');
  if (typeof execute !== 'function') throw new Error('`execute` must be a function');
  return given as CustomTool;
}

function contextOf(
  { workspace }: ToolContext,
  call: RunningCall,
  { cwd, host, scopes }: ToolSurroundings,
): CustomToolContext {
  return {
    cwd,
    hasUI: host.hasUI,
    sessionId: host.session()?.id ?? '',
    readFile: input =>
      scopes.leave(async () => {
        const path = await workspace.resolvePath(input);
        const side = await readText(workspace, path);
        if (side) call.sides.set(path, side);
        return side?.text ?? null;
      }),
  };
}
