import { isDeepStrictEqual } from 'node:util';
import type { DeltaMessage, ViewItem } from '../protocol.ts';

/** The delta from one list of items to another; `undefined` if they are equal. */
export function itemDelta(
  before: readonly ViewItem[],
  after: readonly ViewItem[],
): Omit<DeltaMessage, 'type' | 'status'> | undefined {
  const known = new Map(before.map(item => [item.key, item]));
  const items: ViewItem[] = [];
  const texts: DeltaMessage['texts'] = [];
  for (const item of after) {
    const old = known.get(item.key);
    if (old && isDeepStrictEqual(old, item)) continue;
    const appended = old && appendedTo(old, item);
    if (appended === undefined) items.push(item);
    else texts.push({ key: item.key, ...appended });
  }
  const moved = before.length !== after.length || after.some((item, i) => item.key !== before[i]?.key);
  if (items.length === 0 && texts.length === 0 && !moved) return undefined;
  return { items, texts, ...(moved ? { order: after.map(item => item.key) } : {}) };
}

/** Text appended to an answer that is still streaming; `undefined` if it changed in another way. */
function appendedTo(
  old: ViewItem,
  item: ViewItem,
): Pick<DeltaMessage['texts'][number], 'append' | 'reasoning'> | undefined {
  if (old.kind !== 'assistant' || item.kind !== 'assistant' || !old.streaming || !item.streaming)
    return undefined;
  if (!item.text.startsWith(old.text) || !item.reasoning.startsWith(old.reasoning)) return undefined;
  return { append: item.text.slice(old.text.length), reasoning: item.reasoning.slice(old.reasoning.length) };
}
