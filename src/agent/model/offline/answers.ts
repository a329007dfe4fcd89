import { plural } from '../../text/plural.ts';
import { fenceFor } from '../attachments.ts';
import type { ChatRequest, ProviderAnswer } from '../chatProvider.ts';
import type { SessionMessage, ToolResultMessage } from '../messages.ts';
import { parseSlashCommand, slashCommandHelp } from './slashCommands.ts';

/** The reason that the offline provider gives when it is forced to resolve. */
export const OFFLINE_REASON = 'Exactly the change you asked for.';

/** How much of a tool's output the answer repeats, in characters. All of it is shown with the call. */
const MAX_REPEATED_CHARS = 2_000;

/** What the offline provider answers to a request. */
export function answerTo(request: ChatRequest): ProviderAnswer {
  const { toolChoice, messages } = request;
  if (toolChoice?.type === 'tool' && toolChoice.name === 'resolve') {
    return callAnswer(messages, 'resolve', { action: 'apply', reason: OFFLINE_REASON });
  }
  const sinceAnswer = messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1);
  const prompt = sinceAnswer.findLast(message => message.role === 'user');
  if (prompt) return answerPrompt(messages, prompt.text);
  const results = sinceAnswer.filter(message => message.role === 'tool');
  if (results.length > 0) return textAnswer(results.map(aboutResult).join('\n\n'));
  const outcomes = sinceAnswer.filter(message => message.role === 'steering' && message.kind === 'outcome');
  return textAnswer(outcomes.length > 0 ? 'Understood. What is next?' : 'Nothing to do.');
}

function answerPrompt(messages: readonly SessionMessage[], prompt: string): ProviderAnswer {
  const command = parseSlashCommand(prompt);
  switch (command?.kind) {
    case 'call':
      return callAnswer(messages, command.call.tool, command.call.arguments);
    case 'malformed':
      return textAnswer(`That command needs the form \`${command.usage}\`.`);
    case 'help':
      return textAnswer(`The commands:\n\n${slashCommandHelp()}`);
    case undefined:
      return textAnswer(
        'I am the offline provider, not a language model. I can run these commands:\n\n' +
          `${slashCommandHelp()}\n\nConnect a model to ask in your own words.`,
      );
    default: // whatever the chat itself carries out
      return textAnswer('That command works only when you type it in the Redline chat.');
  }
}

/** What `edit_file` says of a text that it cannot find: its file, and the nearest lines if there are any. */
const NOT_FOUND = /^old was not found in ([^\n]+?)\. (?:The nearest lines are:\n([^]*)\n[^\n]*$)?/;

function aboutResult(result: ToolResultMessage): string {
  if (result.isError) {
    const [, file, nearest] = NOT_FOUND.exec(result.content) ?? [];
    if (file !== undefined)
      return `Couldn't find that text in \`${file}\`.${nearest ? `\n\n${quoted(nearest)}` : ''}`;
    return `\`${result.toolName}\` failed: ${result.content}`;
  }
  if (result.pending) return 'The preview is ready: look at the diff, then apply or discard it.';
  const isSentence = result.toolName === 'resolve' || !result.content.includes('\n');
  return isSentence ? result.content : quoted(result.content);
}

/** The output in a fenced block, shortened if it is long. */
function quoted(output: string): string {
  const shown = output.slice(0, MAX_REPEATED_CHARS);
  const fence = fenceFor(shown);
  const rest = output.length - shown.length;
  return `${fence}\n${shown}\n${fence}${rest === 0 ? '' : `\n\nThe rest (${plural(rest, 'character')}) is shown with the call above.`}`;
}

function textAnswer(text: string): ProviderAnswer {
  return { text, toolCalls: [], stopReason: 'stop' };
}

function callAnswer(
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
