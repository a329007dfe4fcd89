import type { SessionMessage } from '../model/messages.ts';

/** Shown to the person and told to the model when a session was cut off. */
const INTERRUPTED =
  'This session was interrupted: the window was reloaded or closed in the middle of a turn.';

/**
 * What must be added to stored messages so that they make a valid conversation again: a result for each call that has
 * none, and, if a turn was cut off, a word about it.
 */
export function mended(messages: readonly SessionMessage[], interrupted: boolean): readonly SessionMessage[] {
  const last = messages.findLastIndex(message => message.role === 'assistant');
  const answer = messages[last];
  const since = messages.slice(last + 1);
  const answered = new Set(since.flatMap(message => (message.role === 'tool' ? [message.toolCallId] : [])));
  const results =
    answer?.role === 'assistant'
      ? answer.toolCalls
          .filter(call => !answered.has(call.id))
          .map(call => ({
            role: 'tool' as const,
            toolCallId: call.id,
            toolName: call.name,
            content: 'Interrupted: the result of this call is not known. Check before you repeat it.',
            isError: true,
          }))
      : [];
  if (!interrupted) return results;
  return [...results, { role: 'steering', kind: 'notice', text: INTERRUPTED, previewIds: [] }];
}
