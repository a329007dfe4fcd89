import { detailOf } from '../base/errors.ts';
import type { ChatProvider, ChatRequest, ProviderAnswer, ProviderFailure } from '../model/chatProvider.ts';
import type { AssistantMessage, SessionMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import { interruptedResult } from '../tools/execute.ts';
import type { SessionEvent } from './events.ts';

/** What the loop needs of its session. Nothing here may throw. */
export interface LoopPort {
  readonly provider: ChatProvider;
  /** Everything the model is to know by now; called once for each request. */
  nextRequest(): ChatRequest | Promise<ChatRequest>;
  /** A request failed: the request to make instead, if there is one that may not. */
  retryRequest(failure: ProviderFailure): ChatRequest | undefined;
  append(message: SessionMessage): void;
  /** Runs one call and gives its one result, whatever happens. */
  execute(call: ToolCall): Promise<ToolResultMessage>;
  /** Whether the call changes nothing, so that it may run beside its neighbours. */
  isReadOnly(call: ToolCall): boolean;
  /** The turn is over, with this answer: settle the tool choice of its request. */
  settle(end: 'resolve' | 'aborted' | 'error', answer: AssistantMessage): void;
  /** Whether the model must be asked again although it made no call. */
  hasMoreToSay(): boolean;
  /** Something to be done between this turn and whatever comes next; `undefined` if there is nothing. */
  betweenTurns(end: LoopEnd): Promise<void> | undefined;
  emit(event: SessionEvent): void;
  /** A request failed. */
  report(failure: ProviderFailure): void;
}

export type LoopEnd = 'done' | 'aborted' | 'error';

/**
 * Request, answer, tool calls, results, and again, until the model makes no more calls. Whatever happens, each tool
 * call that was stored has exactly one result right after it when the loop ends.
 */
export async function runLoop(port: LoopPort, signal: AbortSignal): Promise<LoopEnd> {
  for (;;) {
    const turn = await runTurn(port, signal);
    const work = port.betweenTurns(turn.end);
    if (work) await work;
    if (turn.end !== 'done') return turn.end;
    if (turn.calls === 0 && !port.hasMoreToSay()) return 'done';
  }
}

async function runTurn(port: LoopPort, signal: AbortSignal): Promise<{ end: LoopEnd; calls: number }> {
  port.emit({ type: 'turn_start' });
  port.emit({ type: 'message_start' });
  const message = await receive(port, signal);
  port.append(message);
  if (message.stopReason === 'aborted' || message.stopReason === 'error') {
    port.settle(message.stopReason, message);
    port.emit({ type: 'turn_end', stopReason: message.stopReason });
    return { end: message.stopReason, calls: 0 };
  }
  for (const batch of batches(message.toolCalls, call => port.isReadOnly(call))) {
    for (const result of await Promise.all(batch.map(call => runCall(port, call, signal))))
      port.append(result);
  }
  const end = signal.aborted ? 'aborted' : 'done';
  port.settle(end === 'aborted' ? 'aborted' : 'resolve', message);
  port.emit({ type: 'turn_end', stopReason: end === 'aborted' ? 'aborted' : message.stopReason });
  return { end, calls: message.toolCalls.length };
}

/** The answer to one request, or to those that are made in its place. */
async function receive(port: LoopPort, signal: AbortSignal): Promise<AssistantMessage> {
  const next = port.nextRequest();
  for (let request = next instanceof Promise ? await next : next; ;) {
    const received = await receiveOnce(port, request, signal);
    if (!('failure' in received)) return received.message;
    const instead = signal.aborted ? undefined : port.retryRequest(received.failure);
    if (!instead) {
      port.report(received.failure);
      return unfinished(received.text, 'error', received.failure);
    }
    request = instead;
  }
}

type Received =
  { readonly message: AssistantMessage } | { readonly failure: ProviderFailure; readonly text: string };

async function receiveOnce(port: LoopPort, request: ChatRequest, signal: AbortSignal): Promise<Received> {
  let text = '';
  const cutOff = { code: 'broken', message: 'The answer ended before it was complete.' } as const;
  try {
    for await (const event of port.provider.stream(request, signal)) {
      switch (event.type) {
        case 'text':
          text += event.delta;
          port.emit({ type: 'message_update', delta: event.delta });
          break;
        case 'toolCall':
          break;
        case 'done':
          return { message: answered(event.answer) };
        case 'error':
          return { failure: event.failure, text };
        case 'aborted':
          return { message: unfinished(text, 'aborted') };
      }
    }
  } catch (error) {
    // A provider must not throw; the session outlives one that does.
    return { failure: { ...cutOff, detail: detailOf(error) }, text };
  }
  return { message: unfinished(text, 'error', cutOff) };
}

function answered({ text, toolCalls, stopReason, usage }: ProviderAnswer): AssistantMessage {
  return { role: 'assistant', text, toolCalls, stopReason, ...(usage ? { usage } : {}) };
}

/** An answer that broke off keeps its text and none of its calls: nothing half-parsed is executed. */
function unfinished(
  text: string,
  stopReason: 'error' | 'aborted',
  failure?: Pick<ProviderFailure, 'code' | 'message'>,
): AssistantMessage {
  const why = failure ? { error: failure.message, errorCode: failure.code } : {};
  return { role: 'assistant', text, toolCalls: [], stopReason, ...why };
}

/** Neighbouring read-only calls make one batch; every other call is a batch of its own. */
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

async function runCall(port: LoopPort, call: ToolCall, signal: AbortSignal): Promise<ToolResultMessage> {
  port.emit({ type: 'tool_start', call });
  const result = signal.aborted ? interruptedResult(call) : await port.execute(call);
  port.emit({ type: 'tool_end', call, result });
  return result;
}
