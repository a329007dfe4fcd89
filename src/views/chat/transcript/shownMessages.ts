import type { SessionMessage } from '../../../agent/session/model/messages.ts';

/** The most entries that are shown, so that a long session renders fast, and is kept up to date fast. */
export const MAX_ENTRIES = 1_000;

/**
 * Selects the messages that are shown: the last ones. Entries are built for these only, since the whole chat is built again with
 * each change.
 * @returns the position of the first of them, which is not a tool result, and how many entries come before it
 */
export function shownMessages(messages: readonly SessionMessage[]): { from: number; hidden: number } {
  const counts = messages.map(entriesOf);
  let left = MAX_ENTRIES;
  let from = messages.length;
  while (from > 0 && left > 0) left -= counts[--from] ?? 0;
  if (left > 0) return { from: 0, hidden: 0 };
  return { from, hidden: counts.slice(0, from).reduce((sum, count) => sum + count, 0) };
}

/** About how many entries a message makes: finished calls in a row become one, and an answer without a text may still have a note. */
function entriesOf(message: SessionMessage): number {
  switch (message.role) {
    case 'user':
      return 1;
    case 'local':
      return message.text === '' ? 0 : 2;
    case 'assistant':
      return message.toolCalls.length + (message.text === '' ? 0 : 1);
    case 'steering':
      return message.kind === 'notice' || message.kind === 'summary' ? 1 : 0;
    case 'tool':
      return 0;
  }
}
