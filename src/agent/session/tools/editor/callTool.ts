import { safeName } from '../../../base/safeName.ts';
import { untilAborted } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import { commandLabel } from '../../../sandbox/commands/commandPlan.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import type { Preview } from '../../../hold/preview/preview.ts';
import type { CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { defineTool, type Tool, type ToolSchema } from '../tool.ts';
import type { EditorTool, EditorToolHost } from './port.ts';
import type { ToolCallPlan } from '../../../hold/preview/toolCallPlan.ts';
import { answerResult, endedResult, failedResult } from './toolAnswer.ts';

/** The longest arguments of a call, as JSON text: a person has to read them. */
const MAX_ARGUMENTS_CHARS = 100_000;

/** The parts that calls of VS Code's tools need. */
export interface CallParts {
  readonly host: EditorToolHost;
  readonly runs: CommandRuns;
  /** The time limit of a call, in seconds, after which it is cancelled. */
  readonly timeLimit: () => number;
}

/** A tool of VS Code as it is offered to the model. */
export interface Offered {
  /** Its name for the model. */
  readonly name: string;
  readonly description: string;
  readonly tool: EditorTool;
  /** Whether the user has said that the tool only reads; then it is called at once. */
  readonly readOnly: boolean;
  /** Refuses invalid arguments before asking anyone. */
  readonly parameters: ToolSchema;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * A tool of VS Code as a tool of the agent. A call stages a preview, which only the user can apply, unless the user has said
 * that the tool only reads.
 */
export function callTool(offered: Offered, parts: CallParts): Tool {
  const { tool, name, description, readOnly, parameters, inputSchema } = offered;
  const { host, runs, timeLimit } = parts;
  return defineTool({
    name,
    label: tool.name,
    description,
    parameters,
    inputSchema,
    readOnly,
    async execute(params, { signal, stage }) {
      refuseUntrusted(host);
      refuseIfGone(host, tool, 'Use another tool.');
      const input = params as Readonly<Record<string, unknown>>;
      const seconds = timeLimit();
      if (readOnly) {
        const late = AbortSignal.timeout(seconds * 1_000);
        const result = await called(host, tool, input, AbortSignal.any([signal, late]));
        signal.throwIfAborted();
        return result ?? endedResult('timeLimit', seconds);
      }
      const json = JSON.stringify(input);
      if (json.length > MAX_ARGUMENTS_CHARS)
        throw new ToolError(
          `The arguments have ${plural(json.length, 'character')}, more than the ${MAX_ARGUMENTS_CHARS} that the user can be asked about. Send less and call it again.`,
        );
      const plan: ToolCallPlan = {
        tool: tool.name,
        origin: tool.origin,
        arguments: input,
        timeLimit: seconds,
      };
      const call = commandLabel(`${tool.name} ${json}`);
      const preview: Preview = stage({
        label: `Call: ${call}`,
        title: l10n => l10n.t('Call: {0}', call),
        sourceToolName: 'call_tool',
        purpose: 'toolCall',
        humanOnly: true,
        details: plan,
        apply: async () => {
          refuseUntrusted(host);
          refuseIfGone(host, tool, 'Nothing was called. The preview can be applied once the tool is back.');
          const run = runs.start(preview.id, seconds * 1_000);
          try {
            const result = await called(host, tool, input, run.signal);
            return result ?? endedResult(run.endedBy ?? 'user', seconds);
          } finally {
            run.end();
          }
        },
      });
      return textResult('The tool has not been called yet.');
    },
  });
}

/**
 * The result of a call; `undefined` if the signal ended it. A failure is a result, too, since the tool may have done
 * something.
 */
async function called(
  host: EditorToolHost,
  { name }: EditorTool,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<AgentToolResult | undefined> {
  try {
    return answerResult(await untilAborted(signal, () => host.call(name, input, signal)));
  } catch (error) {
    return signal.aborted ? undefined : failedResult(error);
  }
}

function refuseUntrusted(host: EditorToolHost): void {
  if (!host.isTrusted())
    throw new ToolError(
      'This workspace is not trusted, so no tool of VS Code is called in it. Only the user can change that.',
    );
}

/** Refuses a tool that is no longer there, or belongs to someone else now. */
function refuseIfGone(host: EditorToolHost, { name, origin }: EditorTool, instead: string): void {
  const now = host.list().find(tool => tool.name === name);
  if (!now) throw new ToolError(`VS Code does not offer the tool ${safeName(name)} now. ${instead}`);
  if (JSON.stringify(now.origin) !== JSON.stringify(origin))
    throw new ToolError(`The tool ${safeName(name)} comes from another extension or server now. ${instead}`);
}
