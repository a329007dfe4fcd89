import { promptText } from './attachments.ts';
import type { ChatRequest, ToolSpec } from './chatProvider.ts';
import type { SessionMessage } from './messages.ts';

/** The context window assumed for a model that does not report its own, in tokens. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;

/** How many bytes of UTF-8 count as one token. Prose has about four; code and JSON have fewer. */
const BYTES_PER_TOKEN = 3.5;
/** The overhead of a message in a request, in tokens: role, ids, and the text that the chat template puts around it. */
const PER_MESSAGE = 8;

/** An estimate of the tokens of a text. No tokenizer is used: each model has its own. */
export function estimateTokens(text: string): number {
  return tokensOfTexts([text]);
}

/** An estimate of the tokens of several texts as if joined by single characters. They are not joined: they may be long. */
function tokensOfTexts(texts: readonly string[]): number {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), texts.length - 1);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** The most characters that are estimated at no more than this many tokens, if all of them are ASCII. */
export function charsFor(tokens: number): number {
  return Math.max(0, Math.floor(tokens * BYTES_PER_TOKEN));
}

const estimates = new WeakMap<SessionMessage, number>();

/** An estimate of the tokens of a message in a request. */
export function tokensOf(message: SessionMessage): number {
  let tokens = estimates.get(message);
  if (tokens === undefined)
    estimates.set(message, (tokens = PER_MESSAGE + tokensOfTexts(sentTexts(message))));
  return tokens;
}

/** An estimate of the tokens of the tools that a request offers. */
export function tokensOfTools(tools: readonly ToolSpec[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfTool(tool), 0);
}

const toolEstimates = new WeakMap<ToolSpec, number>();

function tokensOfTool(tool: ToolSpec): number {
  let tokens = toolEstimates.get(tool);
  if (tokens === undefined)
    toolEstimates.set(tool, (tokens = PER_MESSAGE + estimateTokens(JSON.stringify(tool))));
  return tokens;
}

/** An estimate of the tokens of a whole request. */
export function tokensOfRequest({ system, messages, tools }: ChatRequest): number {
  const said = messages.reduce((sum, message) => sum + tokensOf(message), 0);
  return estimateTokens(system) + tokensOfTools(tools) + said;
}

/** All texts of a message that a provider sends. */
function sentTexts(message: SessionMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return [promptText(message)];
    case 'assistant':
      return [message.text, ...message.toolCalls.flatMap(call => [call.id, call.name, call.arguments])];
    case 'tool':
      return [message.content];
    case 'steering':
      return [message.text];
    case 'local':
      return [''];
  }
}
