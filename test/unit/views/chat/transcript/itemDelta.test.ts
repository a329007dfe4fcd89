import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ViewItem } from '../../../../../src/views/chat/protocol.ts';
import { itemDelta } from '../../../../../src/views/chat/transcript/itemDelta.ts';

const answer = (key: string, text: string, streaming = true, reasoning = ''): ViewItem => ({
  kind: 'assistant',
  key,
  text,
  reasoning,
  streaming,
  canRetry: false,
});
const prompt = (key: string, text: string): ViewItem => ({
  kind: 'user',
  key,
  text,
  attachments: [],
});

test('no change, no delta', () => {
  assert.equal(itemDelta([prompt('a', 'x')], [prompt('a', 'x')]), undefined);
});

test('a streaming answer sends only its new text', () => {
  const delta = itemDelta([prompt('a', 'x'), answer('b', 'Hel')], [prompt('a', 'x'), answer('b', 'Hello')]);
  assert.deepEqual(delta, { items: [], texts: [{ key: 'b', append: 'lo', reasoning: '' }] });
});

test('reasoning that grows sends only what is new of it', () => {
  const delta = itemDelta([answer('b', '', true, 'Hm')], [answer('b', '', true, 'Hm, yes')]);
  assert.deepEqual(delta, { items: [], texts: [{ key: 'b', append: '', reasoning: ', yes' }] });
});

test('a completed answer is sent whole', () => {
  const delta = itemDelta([answer('b', 'Hel')], [answer('b', 'Hello', false)]);
  assert.deepEqual(delta?.items, [answer('b', 'Hello', false)]);
});

/** What the webview makes of a delta. */
function applied(before: readonly ViewItem[], delta: ReturnType<typeof itemDelta>): readonly ViewItem[] {
  if (!delta) return before;
  const items = new Map(before.map(item => [item.key, item]));
  for (const item of delta.items) items.set(item.key, item);
  for (const { key, append, reasoning } of delta.texts) {
    const item = items.get(key);
    assert.ok(item?.kind === 'assistant');
    items.set(key, { ...item, text: item.text + append, reasoning: item.reasoning + reasoning });
  }
  return (delta.order ?? [...items.keys()]).map(key => {
    const item = items.get(key);
    assert.ok(item, `no item ${key}`);
    return item;
  });
}

test('a delta turns any list into any other', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const text = fc.constantFrom('', 'H', 'He', 'Hello', 'Other');
  const item = fc.oneof(
    fc.tuple(key, text).map(([k, t]) => prompt(k, t)),
    fc.tuple(key, text, fc.boolean(), text).map(([k, t, streaming, r]) => answer(k, t, streaming, r)),
  );
  const list = fc.uniqueArray(item, { selector: ({ key: k }) => k });
  fc.assert(
    fc.property(list, list, (before, after) => {
      assert.deepEqual(applied(before, itemDelta(before, after)), after);
    }),
  );
});
