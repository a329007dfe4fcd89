import type { ChatProvider, ChatRequest, ProviderAnswer, ProviderEvent } from './chatProvider.ts';
import { fenceFor } from './attachments.ts';
import type { SessionMessage, ToolResultMessage } from './messages.ts';
import { parseSlashCommand, slashCommandHelp } from './slashCommands.ts';

/** The reason with which the offline provider resolves what it was told to do. */
export const OFFLINE_REASON = 'Exactly the change you asked for.';

/** The most characters of a tool's output that the answer repeats; the whole stands with the call. */
const MAX_REPEATED_CHARS = 2_000;

/**
 * The provider that needs no key and no network. It is not a language model: it turns slash commands into tool calls
 * that run through the same loop as a model's, answers a forced `resolve` with apply, and says what it can do.
 */
export function createOfflineProvider(): ChatProvider {
  return {
    id: 'offline',
    label: 'Offline',
    isVerbatim: true,
    async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
      if (signal.aborted) {
        yield { type: 'aborted' };
        return;
      }
      const answer = answerTo(request);
      if (answer.text !== '') yield { type: 'text', delta: answer.text };
      for (const call of answer.toolCalls) yield { type: 'toolCall', name: call.name };
      yield { type: 'done', answer };
    },
  };
}

function answerTo(request: ChatRequest): ProviderAnswer {
  const { toolChoice, messages } = request;
  if (toolChoice?.type === 'tool' && toolChoice.name === 'resolve') {
    return calling(messages, 'resolve', { action: 'apply', reason: OFFLINE_REASON });
  }
  const sinceAnswer = messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1);
  const prompt = sinceAnswer.findLast(message => message.role === 'user');
  if (prompt) return answerPrompt(messages, prompt.text);
  const results = sinceAnswer.filter(message => message.role === 'tool');
  if (results.length > 0) return saying(results.map(aboutResult).join('\n\n'));
  const outcomes = sinceAnswer.filter(message => message.role === 'steering' && message.kind === 'outcome');
  return saying(outcomes.length > 0 ? 'Understood. What is next?' : 'Nothing to do.');
}

function answerPrompt(messages: readonly SessionMessage[], prompt: string): ProviderAnswer {
  const command = parseSlashCommand(prompt);
  switch (command?.kind) {
    case 'call':
      return calling(messages, command.call.tool, command.call.arguments);
    case 'malformed':
      return saying(`That command needs the form \`${command.usage}\`.`);
    case 'help':
      return saying(`The commands:\n\n${slashCommandHelp()}`);
    case 'vote':
    case 'discardAll':
    case 'revert':
    case 'tools':
      return saying('That command works where a person types it: in the Redline chat.');
    case undefined:
      return saying(
        'I am the offline provider, not a language model. I can run these commands:\n\n' +
          `${slashCommandHelp()}\n\nConnect a model to talk in your own words.`,
      );
  }
}

function aboutResult(result: ToolResultMessage): string {
  if (result.isError) return `\`${result.toolName}\` did not work: ${result.content}`;
  if (awaitsReview(result)) return 'The preview is ready: look at the diff, then apply or discard it.';
  const isSentence = result.toolName === 'resolve' || !result.content.includes('\n');
  return isSentence ? result.content : quoted(result.content);
}

/** Output as it is, whatever it holds. */
function quoted(output: string): string {
  const shown = output.slice(0, MAX_REPEATED_CHARS);
  const fence = fenceFor(shown);
  const rest = output.length - shown.length;
  return `${fence}\n${shown}\n${fence}${rest === 0 ? '' : `\n\n${rest} more characters stand with the call above.`}`;
}

/** A staged change in Manual mode, or a recorded recommendation: what is left to do is the person's. */
function awaitsReview({ toolName, content }: ToolResultMessage): boolean {
  return toolName === 'resolve' ? content.startsWith('Your recommendation') : content.startsWith('Staged as');
}

function saying(text: string): ProviderAnswer {
  return { text, toolCalls: [], stopReason: 'stop' };
}

function calling(
  messages: readonly SessionMessage[],
  name: string,
  args: Record<string, unknown>,
): ProviderAnswer {
  const calls = messages.reduce(
    (sum, message) => sum + (message.role === 'assistant' ? message.toolCalls.length : 0),
    0,
  );
  const call = { id: `offline_${calls + 1}`, name, arguments: JSON.stringify(args) };
  return { text: '', toolCalls: [call], stopReason: 'toolCalls' };
}
