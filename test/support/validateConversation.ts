import { isJsonObject, isRecord } from '../../src/agent/base/json.ts';

/**
 * Says what a strict server would find wrong with the messages of a request, one sentence each; empty when nothing.
 * Every tool call has exactly one result, right after its message and in the order of the calls; no result without
 * its call; no empty message; system messages at the head only; ids unique within one message; arguments are JSON objects.
 */
export function validateConversation(messages: readonly unknown[]): string[] {
  const problems: string[] = [];
  let awaited: string[] = [];
  let headEnded = false;
  messages.forEach((message, index) => {
    const say = (problem: string): void => void problems.push(`messages[${index}]: ${problem}`);
    if (!isRecord(message)) return say('is not an object');
    const { role, content } = message;
    if (role !== 'tool' && awaited.length > 0) {
      say(`the results of ${awaited.join(', ')} are missing before this ${String(role)} message`);
      awaited = [];
    }
    if (role !== 'system') headEnded = true;
    else if (headEnded) say('a system message after the head');
    if (role === 'tool') {
      const id = String(message['tool_call_id']);
      if (awaited[0] === id) awaited.shift();
      else if (awaited.includes(id)) {
        say(`the result of ${id} comes before that of ${awaited[0]}`);
        awaited = awaited.filter(other => other !== id);
      } else say(`a result for ${id}, which is not awaited here`);
      if (typeof content !== 'string' || content === '') say('an empty result');
    } else if (role === 'assistant') {
      awaited = checkAssistant(message, say);
    } else if (role === 'user' || role === 'system') {
      const hasParts = role === 'user' && Array.isArray(content) && content.length > 0;
      if (!hasParts && (typeof content !== 'string' || content === '')) say(`an empty ${role} message`);
    } else say(`an unknown role ${String(role)}`);
  });
  if (awaited.length > 0) problems.push(`the results of ${awaited.join(', ')} are missing at the end`);
  if (messages.length === 0) problems.push('there are no messages');
  return problems;
}

/** Checks one assistant message and gives the ids of its calls. */
function checkAssistant(message: Record<string, unknown>, say: (problem: string) => void): string[] {
  const { content, tool_calls: calls } = message;
  if (calls === undefined) {
    if (typeof content !== 'string' || content === '') say('an empty assistant message');
    return [];
  }
  if (content !== null && typeof content !== 'string') say('content is neither text nor null');
  if (!Array.isArray(calls) || calls.length === 0) {
    say('tool_calls is not a list with members');
    return [];
  }
  const ids: string[] = [];
  for (const call of calls as unknown[]) {
    const target = isRecord(call) && isRecord(call['function']) ? call['function'] : {};
    const id = isRecord(call) && typeof call['id'] === 'string' ? call['id'] : '';
    if (id === '') say('a tool call without an id');
    else if (ids.includes(id)) say(`two tool calls with the id ${id}`);
    if (isRecord(call) && call['type'] !== 'function') say(`the tool call ${id} is not of type function`);
    if (typeof target['name'] !== 'string' || !/^[\w-]{1,64}$/.test(target['name'])) {
      say(`the tool call ${id} has no usable name`);
    }
    if (typeof target['arguments'] !== 'string' || !isJsonObject(target['arguments'])) {
      say(`the arguments of ${id} are not the text of a JSON object`);
    }
    if (id !== '' && !ids.includes(id)) ids.push(id);
  }
  return ids;
}
