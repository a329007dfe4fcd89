import * as z from 'zod/mini';
import { oneLine } from '../../base/foreignText.ts';
import { plural } from '../../base/phrases.ts';
import type { SessionMessage } from '../model/messages.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool } from './tool.ts';

const NAME = 'todo';
/** The most items of a list. */
const MAX_ITEMS = 50;
/** The most characters of an item that are shown. */
const MAX_CHARS = 200;

/** Whether an item is still to be done, being done or done. */
export const todoStates = ['open', 'doing', 'done'] as const;

/** One item of the list in which the model shows the user how far it is. */
export interface TodoItem {
  readonly text: string;
  readonly state: (typeof todoStates)[number];
}

const itemsSchema = z
  .array(z.object({ text: z.string().check(z.minLength(1)), state: z.enum(todoStates) }))
  .check(z.maxLength(MAX_ITEMS));

/** The list, as stored in the details of a result. */
const detailsSchema = z.object({ items: itemsSchema });

/**
 * `todo`: the model shows its plan. The list is part of the conversation: it is the one of the last call on the trunk, so that a
 * reload keeps it, and going back to an earlier message brings back the one from then.
 */
export const todoTool = defineTool({
  name: NAME,
  label: 'To-do List',
  description: 'Show the user all steps of a longer task in each call. An empty list removes it.',
  parameters: z.object({ items: itemsSchema }),
  readOnly: true,
  async execute({ items: given }) {
    const items = given.map(({ text, state }) => ({ text: oneLine(text, MAX_CHARS), state }));
    const done = items.filter(({ state }) => state === 'done').length;
    const said =
      items.length === 0 ? 'The list is removed.' : `Shown: ${done} of ${plural(items.length, 'step')} done.`;
    return textResult(said, { items });
  },
});

/** Whether the list as the conversation has it now has items to be done. */
export function hasOpenSteps(messages: readonly SessionMessage[]): boolean {
  return todoListOf(messages).some(({ state }) => state !== 'done');
}

/** The list as the conversation has it now; empty without one, and once the user goes on after all items are done. */
export function todoListOf(messages: readonly SessionMessage[]): readonly TodoItem[] {
  let wentOn = false;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role === 'user') wentOn = true;
    if (message?.role !== 'tool' || message.toolName !== NAME || message.isError) continue;
    const { items = [] } = detailsSchema.safeParse(message.details).data ?? {};
    return wentOn && items.every(({ state }) => state === 'done') ? [] : items;
  }
  return [];
}
