import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { answered, asked, call, preview, result, transcript } from '../../../../support/chatFixtures.ts';

/** The call of the message at that position, and what it stages. */
const editOf = (at: number) => call(`c${at}`, 'edit_file', { path: `${at}.ts`, edits: [] });
const stagedAt = (at: number, more: Partial<Omit<Preview, 'kind'>> = {}): Preview =>
  preview({
    id: `p${at}`,
    origin: { sessionId: 's1', call: { messageId: `m${at}`, toolCallId: `c${at}` }, asksModel: true },
    ...more,
  });

/** Turns of a prompt, a call that stages a preview, its result and an answer. */
function session(turns: number): { messages: SessionMessage[]; previews: Preview[] } {
  const messages = Array.from({ length: turns }, (_, turn) => {
    const edit = editOf(4 * turn + 1);
    return [asked(`Prompt ${turn}`), answered('', edit), result(edit, 'Staged'), answered('Done.')];
  }).flat();
  return { messages, previews: Array.from({ length: turns }, (_, turn) => stagedAt(4 * turn + 1)) };
}

test('of a long session only the entries that are shown are built', () => {
  const asksFor = new Set<string>();
  const items = transcript({
    ...session(2_000),
    stats: ({ id }) => {
      asksFor.add(id);
      return undefined;
    },
  });
  assert.equal(items.length, 1_001);
  assert.deepEqual(items[0], {
    kind: 'heading',
    key: 'earlier',
    heading: { about: 'earlier', count: 5_000 },
  });
  assert.equal(items.at(-1)?.key, 'm7999');
  assert.ok(asksFor.size <= 334, `${asksFor.size} of 2000 cards were built`);
});

test('calls of one message beyond the most entries are not shown, and counted', () => {
  const calls = Array.from({ length: 1_500 }, (_, i) => call(`c${i}`, 'read_file', { path: `${i}.ts` }));
  const items = transcript({ state: 'running', messages: [asked('Read them'), answered('', ...calls)] });
  assert.equal(items.length, 1_001);
  assert.deepEqual(items[0], { kind: 'heading', key: 'earlier', heading: { about: 'earlier', count: 501 } });
  assert.equal(items.at(-1)?.key, 'm1.1499');
});

test('a turn whose beginning is not shown has its whole card', () => {
  const reads = Array.from({ length: 1_200 }, (_, i) => {
    const read = call(`r${i}`, 'read_file', { path: 'a.ts' });
    return [answered(`Step ${i}`, read), result(read, 'text')];
  }).flat();
  const by = { actor: 'model', reason: 'Fine.', at: '2026-01-01T00:00:02.000Z' } as const;
  const applied = { state: { kind: 'applied', by } } as const;
  const items = transcript({
    messages: [asked('Go'), answered('', editOf(1)), answered('', editOf(2)), ...reads],
    previews: [stagedAt(1, applied), stagedAt(2, applied)],
  });
  assert.equal(items[0]?.kind, 'heading');
  assert.ok(!items.some(item => item.kind === 'preview'));
  const turn = items.at(-1);
  assert.ok(turn?.kind === 'turn');
  assert.deepEqual(turn.ids, ['p1', 'p2']);
});
