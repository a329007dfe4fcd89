import type { SessionMessage, SteeringMessage } from '../model/messages.ts';
import type { Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { outcomeMessage } from './review.ts';
import type { StoredSession } from './sessionLog.ts';

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

/** The previews that a stored conversation has to do with: staged in it, or put to its model by a reminder. */
export function concerned(
  { id, messages }: StoredSession,
  previews: readonly Preview[],
): readonly { readonly preview: Preview; readonly wasReminded: boolean }[] {
  const reminded = new Set(
    messages.flatMap(message =>
      message.role === 'steering' && message.kind === 'resolve-reminder' ? message.previewIds : [],
    ),
  );
  return previews
    .map(preview => ({ preview, wasReminded: reminded.has(preview.id) }))
    .filter(({ preview, wasReminded }) => wasReminded || preview.origin?.sessionId === id);
}

/** The outcomes that the model of a stored conversation has not seen and was not told of yet. */
export function untoldOutcomes(
  { messages }: StoredSession,
  store: Pick<PreviewStore, 'get' | 'ledger'>,
): readonly SteeringMessage[] {
  const told = messages.flatMap(message =>
    message.role === 'steering' && message.kind === 'outcome' ? [message.text] : [],
  );
  return store
    .ledger()
    .filter(entry => entry.actor !== 'model')
    .map(entry => outcomeMessage(entry, store))
    .filter(message => !told.some(text => text.includes(message.text)));
}
