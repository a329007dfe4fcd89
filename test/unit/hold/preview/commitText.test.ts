import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sideOfText } from '../../../../src/agent/hold/preview/fileChange.ts';
import { commitText } from '../../../../src/agent/hold/preview/commitText.ts';
import { modify, textIn } from '../../../support/changes.ts';
import { createTestSession } from '../../../support/testSession.ts';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\n';
const AFTER = BEFORE.replace('three', 'THREE');

function staged(after = AFTER) {
  const { session, store } = createTestSession({ files: { 'a.txt': BEFORE } });
  const { id } = session.stage({
    label: 'a',
    sourceToolName: 'test',
    changes: [modify('a.txt', BEFORE, after)],
  }).preview;
  const textOf = () => textIn(store.get(id)?.changes?.[0]?.after);
  const commit = (text: string, base?: string, path = 'a.txt') =>
    commitText(store, { previewId: id, path, text, base });
  return { store, id, textOf, commit };
}

test('what was typed is the next revision; the same text is none', async () => {
  const { textOf, commit } = staged();
  const typed = AFTER.replace('one', 'ONE');
  const committed = { kind: 'committed', revision: 2, isMerged: false, base: typed };
  assert.deepEqual(await commit(typed, AFTER), committed);
  assert.equal(textOf(), typed);
  assert.deepEqual(await commit(typed, typed), committed);
});

test('what was typed on an older text is merged with what the proposal says now', async () => {
  const { store, id, textOf, commit } = staged();
  const moved = AFTER.replace('five', 'FIVE');
  await store.revise(id, [modify('a.txt', BEFORE.replace('five', 'FIVE'), moved)], [], 'rebase');
  const typed = AFTER.replace('one', 'ONE');
  const committed = await commit(typed, AFTER);
  // The editor holds what was typed, and not yet what others wrote: that is not taken back by what is typed next.
  assert.deepEqual(committed, { kind: 'committed', revision: 3, isMerged: true, base: typed });
  assert.equal(textOf(), moved.replace('one', 'ONE'));
  await commit(moved.replace('one', 'Uno'), moved);
  assert.match(textOf() ?? '', /<<<<<<<.*ONE.*=======.*Uno.*>>>>>>>/s);
});

test('what cannot be taken is said, and the proposal stays', async () => {
  const { store, id, textOf, commit } = staged();
  assert.deepEqual(await commit('a\n', undefined, 'other.txt'), { kind: 'notPending' });
  const encoding = { name: 'iso88591', bom: false } as const;
  const side = (text: string) => sideOfText(text, encoding);
  await store.revise(
    id,
    [{ kind: 'modify', path: 'a.txt', before: side(BEFORE), after: side(AFTER) }],
    [],
    'rebase',
  );
  assert.deepEqual(await commit('日本\n'), { kind: 'lacks', encoding: 'iso88591' });
  assert.equal(textOf(), AFTER);
});
