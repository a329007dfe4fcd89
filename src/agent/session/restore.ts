import { messageOf } from '../base/errors.ts';
import type { SessionMessage, SteeringMessage } from '../model/messages.ts';
import { isOpen } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { outcomeMessage, wasHeard, type Review } from './review.ts';
import type { StoredSession } from './sessionLog.ts';
import type { ToolChoices } from './toolChoices.ts';

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

/** What must be added when a turn broke off by a fault of ours: its missing results, and what is shown of it. */
export function brokenOff(messages: readonly SessionMessage[], error: unknown): readonly SessionMessage[] {
  const failed = { role: 'assistant', text: '', toolCalls: [], stopReason: 'error' } as const;
  return [...mended(messages, false), { ...failed, error: `Something went wrong: ${messageOf(error)}` }];
}

/**
 * Takes up what a stored conversation has to do with previews: those that were staged in it, or put to its model by a
 * reminder. What the process ended too early to say, an outcome or a reminder, is said with the next request.
 */
export function remember(
  stored: StoredSession,
  store: Pick<PreviewStore, 'all' | 'get' | 'ledger'>,
  review: Review,
  choices: Pick<ToolChoices, 'remind' | 'reminded'>,
): void {
  const reminded = new Set(
    stored.messages.flatMap(message =>
      message.role === 'steering' && message.kind === 'resolve-reminder' ? message.previewIds : [],
    ),
  );
  for (const preview of store.all()) {
    const { id, origin, part } = preview;
    // A process that ends between two logs leaves the preview alone to tell where it was staged.
    const isOurs = stored.previews.has(id) || origin?.sessionId === stored.id;
    if (!isOurs && !reminded.has(id) && !review.knows(part?.previewId ?? '')) continue;
    review.remember(id);
    if (!isOpen(preview)) continue;
    if (reminded.has(id)) choices.reminded(id);
    else if (stored.previews.get(id) ?? part === undefined) choices.remind(preview);
  }
  for (const message of untoldOutcomes(stored, store))
    if (message.previewIds.every(id => review.knows(id))) review.tell(message);
}

/** The outcomes that the model of a stored conversation has not seen and was not told of yet. */
function untoldOutcomes(
  { messages }: StoredSession,
  store: Pick<PreviewStore, 'get' | 'ledger'>,
): readonly SteeringMessage[] {
  const told = messages.flatMap(message =>
    message.role === 'steering' && message.kind === 'outcome' ? [message.text] : [],
  );
  return store
    .ledger()
    .filter(entry => !wasHeard(entry))
    .map(entry => outcomeMessage(entry, store))
    .filter(({ text }) => {
      // One telling is good for one of several outcomes of the same words.
      const at = told.findIndex(said => said.includes(text));
      if (at >= 0) told[at] = told[at]?.replace(text, '') ?? '';
      return at < 0;
    });
}
