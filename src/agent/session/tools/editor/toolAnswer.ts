import { beginningOf } from '../../../base/cutText.ts';
import { safeName } from '../../../base/safeName.ts';
import { isAbortError, messageOf } from '../../../base/errors.ts';
import { fenced, plural } from '../../../base/phrases.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import type { AnswerPart } from './port.ts';

/** The most characters of an answer that the model gets. */
const MAX_ANSWER_CHARS = 30_000;
/** The most characters of an error that the model gets. */
const MAX_ERROR_CHARS = 2_000;
/** The most parts of an answer that are looked at. */
const MAX_PARTS = 200;

/** The answer of a tool for the model: its texts, shortened, and the names of its other parts. */
export function answerResult(parts: readonly AnswerPart[]): AgentToolResult {
  const texts: string[] = [];
  let room = MAX_ANSWER_CHARS;
  let omitted = 0;
  for (const part of parts.slice(0, MAX_PARTS)) {
    const text = part.kind === 'text' ? part.text : `[${safeName(part.name, 200)}, which is not shown]`;
    const shown = beginningOf(text, room);
    if (shown !== '') texts.push(independent(shown));
    room -= shown.length;
    omitted += text.length - shown.length;
  }
  if (texts.length === 0) return textResult('The answer of the tool is empty.');
  const lines = [fenced(texts.join('\n'))];
  if (omitted > 0) lines.push(`[Cut off: ${plural(omitted, 'more character')}.]`);
  if (parts.length > MAX_PARTS) lines.push(`[Cut off: ${plural(parts.length - MAX_PARTS, 'more part')}.]`);
  return textResult(lines.join('\n'));
}

/** Tells the model that a call broke off. The call may have had effects, so it counts as made. */
export function failedResult(error: unknown): AgentToolResult {
  const why = isAbortError(error)
    ? 'The call was cancelled: VS Code asked the user about it and the user declined, or the tool gave up. Ask the user before you try again.'
    : `The tool failed:\n${fenced(independent(beginningOf(messageOf(error), MAX_ERROR_CHARS)))}`;
  return { ...textResult(why), isError: true };
}

/** Tells the model that a call was ended before the tool answered. */
export function endedResult(by: 'timeLimit' | 'user', seconds: number): AgentToolResult {
  const how =
    by === 'user'
      ? 'The user stopped the call.'
      : `The tool did not answer within ${plural(seconds, 'second')}, so the call was cancelled.`;
  return { ...textResult(`${how} Whether it did anything is not known.`), isError: true };
}

/** A copy of a text. A slice would keep the whole answer, maybe 100 MB, in memory as long as the conversation. */
function independent(text: string): string {
  return Buffer.from(text).toString();
}
