import { forEachLimited } from '../base/async.ts';
import { beginningOf } from '../base/cutText.ts';
import type { Localiser } from '../base/localiser.ts';
import { detailOf } from '../base/errors.ts';
import type { ChatProvider, ChatRequest, ProviderAnswer, ProviderFailure } from './model/chatProvider.ts';
import {
  type AssistantMessage,
  type SessionMessage,
  type ToolCall,
  type ToolResultMessage,
  toolNameOf,
} from './model/messages.ts';
import type { SessionEvent } from './events.ts';
import { interruptions } from './model/interruptions.ts';

/** How many read-only calls of one answer run in parallel at most: each may hold a file, a process or a connection. */
const MAX_PARALLEL = 8;
/**
 * The most characters stored of an answer's reasoning, and of the text of an incomplete answer. The next requests contain that
 * text.
 */
const MAX_STORED = 200_000;

/** The loop's port to its session. Nothing here may throw. */
export interface LoopPort {
  /** For the message to the user about a failed answer. */
  readonly l10n: Localiser;
  readonly provider: ChatProvider;
  /** To be awaited before {@link nextRequest}; `undefined` if there is nothing to await. */
  prepare(): Promise<void> | undefined;
  /**
   * To be awaited after that, and before {@link mustAskAgain}, until it is `undefined`: previews staged in the meantime may be for
   * the user alone.
   */
  judge(): Promise<void> | undefined;
  /** Builds the next request with everything to tell so far; it is sent at once. Called once for each turn. */
  nextRequest(): ChatRequest;
  /** The request to send instead of one that failed; `undefined` if the failure is final. */
  retryRequest(failure: ProviderFailure): ChatRequest | undefined | Promise<ChatRequest | undefined>;
  append(message: SessionMessage): void;
  /** Runs one call. Always settles with its one result. */
  execute(call: ToolCall): Promise<ToolResultMessage>;
  /** Whether the call changes nothing, so that it may run in parallel with its neighbours. */
  isReadOnly(call: ToolCall): boolean;
  /** Settles the tool choice of the turn's request, now that the turn has ended with this answer. */
  settle(end: 'resolve' | 'aborted' | 'error', answer: AssistantMessage): void;
  /** Whether the model must be asked again although it called no tool. */
  mustAskAgain(): boolean;
  /** Whether the turn is over although the model called tools: see `ToolChoices.isOver`. */
  isOver(results: readonly ToolResultMessage[]): boolean;
  /** Work to be awaited before the next turn or the end of the loop; `undefined` if there is none. */
  betweenTurns(end: LoopEnd): Promise<void> | undefined;
  emit(event: SessionEvent): void;
  /** Logs a failed request. */
  report(failure: ProviderFailure): void;
}

export type LoopEnd = 'done' | 'aborted' | 'error';

/**
 * Repeats request, answer, tool calls and results until the model makes no more calls. However the loop ends, each
 * stored tool call has exactly one result right after it.
 */
export async function runLoop(port: LoopPort, signal: AbortSignal): Promise<LoopEnd> {
  for (;;) {
    const turn = await runTurn(port, signal);
    // A stop counts until the next request is made.
    const endByNow = (): LoopEnd => (turn.end === 'done' && signal.aborted ? 'aborted' : turn.end);
    const work = port.betweenTurns(endByNow());
    if (work) await work;
    if (turn.end === 'done') for (let judging = port.judge(); judging; judging = port.judge()) await judging;
    const end = endByNow();
    if (end !== 'done') return end;
    if (turn.results.length === 0 ? !port.mustAskAgain() : port.isOver(turn.results)) return 'done';
  }
}

/** How one turn ended, with the results of its calls. */
interface Turn {
  readonly end: LoopEnd;
  readonly results: readonly ToolResultMessage[];
}

async function runTurn(port: LoopPort, signal: AbortSignal): Promise<Turn> {
  port.emit({ type: 'turn_start' });
  port.emit({ type: 'message_start' });
  const message = await receive(port, signal);
  port.append(message);
  if (message.stopReason === 'aborted' || message.stopReason === 'error') {
    port.settle(message.stopReason, message);
    port.emit({ type: 'turn_end', stopReason: message.stopReason });
    return { end: message.stopReason, results: [] };
  }
  const all: ToolResultMessage[] = [];
  const cutCalls = message.stopReason === 'length' ? await import('./cutCall.ts') : undefined;
  const cut = cutCalls?.cutCallOf(message);
  for (const batch of batches(message.toolCalls, call => port.isReadOnly(call))) {
    const results: ToolResultMessage[] = [];
    await forEachLimited(batch, MAX_PARALLEL, async (call, index) => {
      const run = cutCalls && call === cut ? cutCalls.cutResult : (each: ToolCall) => port.execute(each);
      results[index] = await runCall(port, call, signal, run);
    });
    for (const result of results) port.append(result);
    all.push(...results);
  }
  const end = signal.aborted ? 'aborted' : 'done';
  port.settle(end === 'aborted' ? 'aborted' : 'resolve', message);
  port.emit({ type: 'turn_end', stopReason: end === 'aborted' ? 'aborted' : message.stopReason });
  return { end, results: all };
}

/** Receives the answer to one request, or to the requests that are sent instead when it fails. */
async function receive(port: LoopPort, signal: AbortSignal): Promise<AssistantMessage> {
  for (let preparing = port.prepare(); preparing; preparing = port.judge()) await preparing;
  for (let request = port.nextRequest(); ;) {
    const received = await receiveOnce(port, request, signal);
    if (!('failure' in received)) return received.message;
    const retry = signal.aborted ? undefined : port.retryRequest(received.failure);
    const instead = retry instanceof Promise ? await retry : retry;
    if (!instead) {
      port.report(received.failure);
      return unfinishedMessage(received, 'error', received.failure);
    }
    // A new answer begins, which does not include the text that has arrived so far.
    if (received.text !== '' || received.reasoning !== '') port.emit({ type: 'message_start' });
    request = instead;
  }
}

/** The part of an answer that has arrived. */
interface Arrived {
  readonly text: string;
  readonly reasoning: string;
}

type Received = { readonly message: AssistantMessage } | ({ readonly failure: ProviderFailure } & Arrived);

async function receiveOnce(port: LoopPort, request: ChatRequest, signal: AbortSignal): Promise<Received> {
  let text = '';
  let reasoning = '';
  const { l10n } = port;
  const message = l10n.t('The answer ended before it was complete.');
  const incomplete = { code: 'broken', message } as const;
  try {
    for await (const event of port.provider.stream(request, signal)) {
      switch (event.type) {
        case 'text':
          text += event.delta;
          port.emit({ type: 'message_update', delta: event.delta });
          break;
        case 'reasoning':
          reasoning += event.delta;
          port.emit({ type: 'reasoning_update', delta: event.delta });
          break;
        case 'retrying':
          port.emit(event);
          break;
        case 'done':
          return { message: finishedMessage(event.answer) };
        case 'error':
          return { failure: event.failure, text, reasoning };
        case 'aborted':
          return { message: unfinishedMessage({ text, reasoning }, 'aborted') };
      }
    }
  } catch (error) {
    // A provider must not throw; the session survives one that does.
    return { failure: { ...incomplete, detail: detailOf(error) }, text, reasoning };
  }
  return { message: unfinishedMessage({ text, reasoning }, 'error', incomplete) };
}

function finishedMessage({
  text,
  reasoning,
  toolCalls,
  stopReason,
  usage,
}: ProviderAnswer): AssistantMessage {
  const thought = storedReasoning(reasoning);
  const calls = toolCalls.map(call => ({ ...call, name: toolNameOf(call.name) }));
  return { role: 'assistant', text, ...thought, toolCalls: calls, stopReason, ...(usage ? { usage } : {}) };
}

function storedReasoning(reasoning = ''): Pick<AssistantMessage, 'reasoning'> {
  return reasoning === '' ? {} : { reasoning: beginningOf(reasoning, MAX_STORED) };
}

/** An incomplete answer keeps its text, up to a limit, but not its calls: nothing half-parsed is executed. */
function unfinishedMessage(
  { text, reasoning }: Arrived,
  stopReason: 'error' | 'aborted',
  failure?: Pick<ProviderFailure, 'code' | 'message'>,
): AssistantMessage {
  const why = failure ? { error: failure.message, errorCode: failure.code } : {};
  const kept = beginningOf(text, MAX_STORED);
  return { role: 'assistant', text: kept, ...storedReasoning(reasoning), toolCalls: [], stopReason, ...why };
}

/** Groups neighbouring read-only calls into one batch; every other call is a batch of its own. */
function batches(calls: readonly ToolCall[], isReadOnly: (call: ToolCall) => boolean): ToolCall[][] {
  const result: ToolCall[][] = [];
  let open: ToolCall[] | undefined;
  for (const call of calls) {
    if (!isReadOnly(call)) {
      result.push([call]);
      open = undefined;
    } else if (open) {
      open.push(call);
    } else {
      result.push((open = [call]));
    }
  }
  return result;
}

async function runCall(
  port: LoopPort,
  call: ToolCall,
  signal: AbortSignal,
  run: (call: ToolCall) => ToolResultMessage | Promise<ToolResultMessage>,
): Promise<ToolResultMessage> {
  port.emit({ type: 'tool_start', call });
  const result = signal.aborted ? interruptedResult(call) : await run(call);
  port.emit({ type: 'tool_end', call, result });
  return result;
}

/** The result of a call that never ran because the user stopped the turn. */
export function interruptedResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: interruptions.before,
    isError: true,
  };
}
