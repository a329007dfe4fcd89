import { messageIdOf } from '../../../agent/session/conversation/nodeId.ts';
import type { SessionMessage } from '../../../agent/session/model/messages.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { callKey, isListedPart, type Lookup, type TranscriptInput } from './lookup.ts';
import { isOfTurn } from './turnCard.ts';

/** Whether the message is the person's: it begins a turn. */
export function isOfPerson({ role }: SessionMessage): boolean {
  return role === 'user' || role === 'local';
}

/** The file changes of each turn that has several, by the position of its last message. */
export function turnsOf(
  { messages, nodeAt }: TranscriptInput,
  lookup: Lookup,
  from: number,
): ReadonlyMap<number, Preview[]> {
  const turns = new Map<number, Preview[]>();
  let changes: Preview[] = [];
  messages.slice(from).forEach((message, n) => {
    const at = from + n;
    if (message.role === 'assistant')
      for (const { id } of message.toolCalls) {
        const place = callKey({ messageId: messageIdOf(nodeAt(at)), toolCallId: id });
        changes.push(
          ...(lookup.staged.get(place) ?? []).filter(each => isOfTurn(each) && !isListedPart(each)),
        );
      }
    const next = messages[at + 1];
    if (next && !isOfPerson(next)) return;
    if (changes.length > 1) turns.set(at, changes);
    changes = [];
  });
  return turns;
}
