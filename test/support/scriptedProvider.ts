import type {
  ChatProvider,
  ChatRequest,
  ProviderAnswer,
  ProviderEvent,
  ProviderFailure,
} from '../../src/agent/session/model/chatProvider.ts';
import type { SessionMessage, TokenUsage } from '../../src/agent/session/model/messages.ts';
import type { ScriptedCall } from './scriptedReply.ts';

/** A complete answer. */
export interface ScriptedTurnAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  /** Default: `toolCalls` with calls, `stop` without. */
  readonly stopReason?: ProviderAnswer['stopReason'];
  readonly usage?: TokenUsage;
}

/** What the model does with one request. In the last two cases `text` arrives first. */
export type ScriptedTurn =
  | ScriptedTurnAnswer
  /** The request fails, or breaks midway. */
  | { readonly text?: string; readonly error: Partial<ProviderFailure> }
  /** Nothing more comes until the request is aborted. */
  | { readonly text?: string; readonly hang: true };

/** Decides on a turn by the request, its number from 0, and the signal of the run. */
export type ScriptStep = (
  request: ChatRequest,
  n: number,
  signal: AbortSignal,
) => ScriptedTurn | Promise<ScriptedTurn>;

/** One turn after the other, each a value or a function, or one function for all of them. */
export type Script = ScriptStep | readonly (ScriptedTurn | ScriptStep)[];

export interface ScriptedProvider extends ChatProvider {
  /** Every request so far, as it was sent. */
  readonly requests: readonly ChatRequest[];
  /**
   * What no server would have accepted, see {@link requestViolations}, and requests for which the script has no turn.
   * Those are answered with an error, so that a session which would ask forever ends.
   */
  readonly violations: readonly string[];
}

/** Creates a `ChatProvider` that follows a script and checks each request as a strict server does. */
export function createScriptedProvider(script: Script, id = 'scripted'): ScriptedProvider {
  const requests: ChatRequest[] = [];
  const violations: string[] = [];
  const turnFor = async (request: ChatRequest, n: number, signal: AbortSignal): Promise<ScriptedTurn> => {
    const step = typeof script === 'function' ? script : script[n];
    if (step !== undefined) return typeof step === 'function' ? step(request, n, signal) : step;
    violations.push(`request ${n}: the script has no turn for it`);
    return { error: { message: `The script has no turn ${n}.` } };
  };
  return {
    id,
    label: 'Scripted',
    requests,
    violations,
    async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
      const n = requests.push(request) - 1;
      violations.push(...requestViolations(request).map(violation => `request ${n}: ${violation}`));
      const turn = await turnFor(request, n, signal);
      const text = turn.text ?? '';
      for (const delta of text.match(/[\s\S]{1,8}/g) ?? []) yield { type: 'text', delta };
      if ('hang' in turn) await aborted(signal);
      if (signal.aborted) {
        yield { type: 'aborted' };
        return;
      }
      if ('error' in turn) {
        const failure = { code: 'server', message: 'It failed.', detail: 'scripted', ...turn.error } as const;
        yield { type: 'error', failure };
        return;
      }
      yield { type: 'done', answer: answerOf(turn, request) };
    },
  };
}

function answerOf(
  { text = '', toolCalls: scripted = [], stopReason, usage }: ScriptedTurnAnswer,
  request: ChatRequest,
): ProviderAnswer {
  const before = request.messages.reduce(
    (sum, m) => sum + (m.role === 'assistant' ? m.toolCalls.length : 0),
    0,
  );
  const toolCalls = scripted.map(({ id, name, arguments: args }, index) => ({
    id: id ?? `call_${before + index + 1}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return {
    text,
    toolCalls,
    stopReason: stopReason ?? (toolCalls.length > 0 ? 'toolCalls' : 'stop'),
    ...(usage ? { usage } : {}),
  };
}

/**
 * The rules of every server that a request breaks: a choice names an offered tool, each tool is offered once, and each
 * call has exactly one result right after it (see {@link historyViolations}).
 */
export function requestViolations({ tools, toolChoice, messages }: ChatRequest): string[] {
  const names = tools.map(tool => tool.name);
  const found = historyViolations(messages);
  if (new Set(names).size < names.length) found.push(`a tool is offered twice: ${names.join(', ')}`);
  if (toolChoice?.type === 'tool' && !names.includes(toolChoice.name))
    found.push(`the choice names ${toolChoice.name}, which is not offered`);
  if (toolChoice?.type === 'required' && names.length === 0)
    found.push('a call is required, but no tools are offered');
  return found;
}

/** Tool calls without exactly one result right after their message, and results without a call. */
export function historyViolations(messages: readonly SessionMessage[]): string[] {
  const found: string[] = [];
  let open: string[] = [];
  const close = (): void => {
    if (open.length > 0) found.push(`calls without a result: ${open.join(', ')}`);
    open = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const at = open.indexOf(message.toolCallId);
      if (at < 0) found.push(`a result without an open call: ${message.toolCallId}`);
      else open.splice(at, 1);
      continue;
    }
    close();
    if (message.role === 'assistant') open = message.toolCalls.map(call => call.id);
  }
  close();
  return found;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
