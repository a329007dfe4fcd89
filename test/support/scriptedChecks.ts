import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import { isRecord } from '../../src/agent/base/json.ts';
import type { WireMessage, WireToolChoice } from '../../src/agent/session/model/openai/messages.ts';
import type { ScriptedAnswer } from './scriptedReply.ts';
import { validateConversation } from './validateConversation.ts';

/** The body of a chat-completions request. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly ChatCompletionFunctionTool[];
  readonly tool_choice?: WireToolChoice;
}

/** How a server treats a tool choice: it honours it, refuses its form with a 400, or ignores it. */
export type ChoiceSupport = 'honour' | 'reject400' | 'ignore';

/** How a server treats the two choices that force a call. Default: `honour`. */
export interface SupportedChoices {
  /** LM Studio refuses a named choice, llama.cpp ignores it. */
  readonly namedChoice?: ChoiceSupport;
  readonly required?: ChoiceSupport;
}

/** The problems that a strict server finds in a request, one sentence each. */
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

/** The error of a server that refuses this form of tool choice; `undefined` if it does not. */
export function refusedChoice(
  { tool_choice: choice }: ChatBody,
  supported: SupportedChoices,
): string | undefined {
  if (typeof choice === 'object' && supported.namedChoice === 'reject400') {
    return "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
  }
  if (choice === 'required' && supported.required === 'reject400') {
    return 'tool_choice "required" is not supported by this model';
  }
  return undefined;
}

/** A sentence on how an answer breaks a choice that the server honours; `undefined` if it does not. */
export function mistakeIn(
  reply: ScriptedAnswer,
  { tool_choice: choice }: ChatBody,
  supported: SupportedChoices,
): string | undefined {
  const called = (reply.toolCalls ?? []).map(call => call.name);
  if (choice === 'none' && called.length > 0)
    return `tool_choice is none, and the reply calls ${called.join(', ')}`;
  if (choice === 'required' && supported.required !== 'ignore' && called.length === 0) {
    return 'tool_choice is required, and the reply calls nothing';
  }
  if (typeof choice === 'object' && supported.namedChoice !== 'ignore') {
    const { name } = choice.function;
    if (called.length === 0 || called.some(other => other !== name)) {
      return `tool_choice forces ${name}, and the reply calls ${called.join(', ') || 'nothing'}`;
    }
  }
  return undefined;
}
