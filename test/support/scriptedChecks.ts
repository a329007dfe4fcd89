import { isRecord, validateConversation } from '../../src/agent/model/openaiMessages.ts';
import type { WireMessage, WireTool, WireToolChoice } from '../../src/agent/model/openaiMessages.ts';
import type { ScriptedAnswer } from './scriptedReply.ts';

/** The body of a chat-completions request. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: WireToolChoice;
}

/** How a server treats a choice: as OpenAI does, refusing its form, or taking and ignoring it. */
export type ChoiceManner = 'honour' | 'reject400' | 'ignore';

/** How a server treats the two choices that force a call; `honour` where nothing is said. */
export interface ChoiceManners {
  /** LM Studio refuses a named choice, llama.cpp ignores it. */
  readonly namedChoice?: ChoiceManner;
  readonly required?: ChoiceManner;
}

/** What a strict server finds wrong with a request, one sentence each. */
export function problemsOf(body: unknown): string[] {
  if (!isRecord(body)) return ['the body is not a JSON object'];
  const problems: string[] = [];
  if (typeof body['model'] !== 'string' || body['model'] === '') problems.push('no model');
  if (body['stream'] !== true) problems.push('this server only streams');
  problems.push(...validateConversation(Array.isArray(body['messages']) ? body['messages'] : []));
  const names: string[] = [];
  if (body['tools'] !== undefined && (!Array.isArray(body['tools']) || body['tools'].length === 0)) {
    problems.push('tools is not a list with members');
  }
  for (const tool of Array.isArray(body['tools']) ? (body['tools'] as unknown[]) : []) {
    const target = isRecord(tool) && isRecord(tool['function']) ? tool['function'] : {};
    const { name, parameters } = target;
    if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
      problems.push(`a tool has no usable name: ${String(name)}`);
    else if (names.includes(name)) problems.push(`two tools are called ${name}`);
    else names.push(name);
    if (!isRecord(parameters) || parameters['type'] !== 'object')
      problems.push(`${String(name)}: parameters of a type other than object`);
  }
  const choice = body['tool_choice'];
  if (choice !== undefined && names.length === 0) problems.push('tool_choice without tools');
  else if (isRecord(choice)) {
    const name = isRecord(choice['function']) ? choice['function']['name'] : undefined;
    const named = typeof name === 'string' ? name : '';
    if (!names.includes(named)) problems.push(`tool_choice names ${named}, which is not in tools`);
  } else if (choice !== undefined && choice !== 'auto' && choice !== 'none' && choice !== 'required') {
    problems.push(`tool_choice is ${JSON.stringify(choice)}`);
  }
  return problems;
}

/** The error of a server that does not know this form of choice. */
export function refusedChoice({ tool_choice: choice }: ChatBody, manners: ChoiceManners): string | undefined {
  if (typeof choice === 'object' && manners.namedChoice === 'reject400') {
    return "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
  }
  if (choice === 'required' && manners.required === 'reject400') {
    return 'tool_choice "required" is not supported by this model';
  }
  return undefined;
}

/** How an answer breaks a choice that the server honours. */
export function mistakeIn(
  reply: ScriptedAnswer,
  { tool_choice: choice }: ChatBody,
  manners: ChoiceManners,
): string | undefined {
  const called = (reply.toolCalls ?? []).map(call => call.name);
  if (choice === 'none' && called.length > 0)
    return `tool_choice is none, and the reply calls ${called.join(', ')}`;
  if (choice === 'required' && manners.required !== 'ignore' && called.length === 0) {
    return 'tool_choice is required, and the reply calls nothing';
  }
  if (typeof choice === 'object' && manners.namedChoice !== 'ignore') {
    const { name } = choice.function;
    if (called.length === 0 || called.some(other => other !== name)) {
      return `tool_choice forces ${name}, and the reply calls ${called.join(', ') || 'nothing'}`;
    }
  }
  return undefined;
}
