import { plural } from '../../text/plural.ts';
import { fenceFor } from '../attachments.ts';
import type { ChatRequest, ProviderAnswer } from '../chatProvider.ts';
import type { SessionMessage, ToolResultMessage } from '../messages.ts';
import { parseSlashCommand, slashCommandHelp, type SlashCommandInfo } from './slashCommands.ts';

/** What the offline provider says to people. */
export interface OfflineTexts {
  readonly label: string;
  /** The reason that it gives when it is forced to resolve. */
  readonly reason: string;
  readonly ready: string;
  readonly understood: string;
  readonly nothingToDo: string;
  readonly commands: string;
  readonly noModel: string;
  readonly connect: string;
  readonly onlyInChat: string;
  readonly needsForm: (usage: string) => string;
  readonly notFound: (file: string) => string;
  readonly failed: (tool: string, problem: string) => string;
  /** Of an output that is too long to be repeated, in characters. */
  readonly rest: (length: number) => string;
  /** What a slash command does, by its name. */
  readonly about: (command: SlashCommandInfo) => string;
}

export const englishTexts: OfflineTexts = {
  label: 'Offline',
  reason: 'Exactly the change you asked for.',
  ready: 'The preview is ready: look at the diff, then apply or discard it.',
  understood: 'Understood. What is next?',
  nothingToDo: 'Nothing to do.',
  commands: 'The commands:',
  noModel: 'I am the offline provider, not a language model. I can run these commands:',
  connect: 'Connect a model to ask in your own words.',
  onlyInChat: 'That command works only when you type it in the Redline chat.',
  needsForm: usage => `That command needs the form ${usage}.`,
  notFound: file => `Couldn't find that text in ${file}.`,
  failed: (tool, problem) => `${tool} failed: ${problem}`,
  rest: length => `The rest (${plural(length, 'character')}) is shown with the call above.`,
  about: command => command.about,
};

/** How much of a tool's output the answer repeats, in characters. All of it is shown with the call. */
const MAX_REPEATED_CHARS = 2_000;

/** What the offline provider answers to a request. */
export function answerTo(request: ChatRequest, texts: OfflineTexts = englishTexts): ProviderAnswer {
  const { toolChoice, messages } = request;
  if (toolChoice?.type === 'tool' && toolChoice.name === 'resolve') {
    return callAnswer(messages, 'resolve', { action: 'apply', reason: texts.reason });
  }
  const sinceAnswer = messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1);
  const prompt = sinceAnswer.findLast(message => message.role === 'user');
  if (prompt) return answerPrompt(messages, prompt.text, texts);
  const results = sinceAnswer.filter(message => message.role === 'tool');
  if (results.length > 0) return textAnswer(results.map(result => aboutResult(result, texts)).join('\n\n'));
  const outcomes = sinceAnswer.filter(message => message.role === 'steering' && message.kind === 'outcome');
  return textAnswer(outcomes.length > 0 ? texts.understood : texts.nothingToDo);
}

function answerPrompt(
  messages: readonly SessionMessage[],
  prompt: string,
  texts: OfflineTexts,
): ProviderAnswer {
  const help = (): string => slashCommandHelp(texts.about);
  const command = parseSlashCommand(prompt);
  switch (command?.kind) {
    case 'call':
      return callAnswer(messages, command.call.tool, command.call.arguments);
    case 'malformed':
      return textAnswer(texts.needsForm(`\`${command.usage}\``));
    case 'help':
      return textAnswer(`${texts.commands}\n\n${help()}`);
    case undefined:
      return textAnswer(`${texts.noModel}\n\n${help()}\n\n${texts.connect}`);
    default: // whatever the chat itself carries out
      return textAnswer(texts.onlyInChat);
  }
}

/** What `edit_file` says of a text that it cannot find: its file, and the nearest lines if there are any. */
const NOT_FOUND = /^old was not found in ([^\n]+?)\. (?:The nearest lines are:\n([^]*)\n[^\n]*$)?/;

function aboutResult(result: ToolResultMessage, texts: OfflineTexts): string {
  if (result.isError) {
    const [, file, nearest] = NOT_FOUND.exec(result.content) ?? [];
    if (file !== undefined)
      return `${texts.notFound(`\`${file}\``)}${nearest ? `\n\n${quoted(nearest, texts)}` : ''}`;
    return texts.failed(`\`${result.toolName}\``, result.content);
  }
  if (result.pending) return texts.ready;
  const isSentence = result.toolName === 'resolve' || !result.content.includes('\n');
  return isSentence ? result.content : quoted(result.content, texts);
}

/** The output in a fenced block, shortened if it is long. */
function quoted(output: string, texts: OfflineTexts): string {
  const shown = output.slice(0, MAX_REPEATED_CHARS);
  const fence = fenceFor(shown);
  const rest = output.length - shown.length;
  return `${fence}\n${shown}\n${fence}${rest === 0 ? '' : `\n\n${texts.rest(rest)}`}`;
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
