import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appliesAny, type Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { CONFLICT_LABELS } from '../../../../src/agent/hold/preview/rebase/conflictMarkers.ts';
import { setVotes } from '../../../../src/agent/hold/preview/setVotes.ts';
import { modify, preview } from '../../../support/chatFixtures.ts';

const stale = { kind: 'pending', stale: ['a.ts'] } as const;
const conflicting = (id: string): Preview => {
  const { current, proposed } = CONFLICT_LABELS;
  const text = `<<<<<<< ${current}\na\n=======\nb\n>>>>>>> ${proposed}\n`;
  return preview({ id, changes: [modify('c.ts', 'a\n', text)] });
};

test('Apply over a set counts what it applies: nothing stale, with conflicts, or with a vote of its own', () => {
  const run = preview({ id: 'p4', changes: null, purpose: 'command', humanOnly: true });
  const all = [preview(), preview({ id: 'p2', state: stale }), conflicting('p3'), run];
  assert.deepEqual(setVotes(all), { apply: 1, discard: 4, stale: 1, conflicts: 1, edited: 0 });
});

test('what builds on one that stays is not counted, however far up', () => {
  const chain = [
    preview({ id: 'p3', dependsOn: ['p2'] }),
    preview({ id: 'p2', dependsOn: ['p1'] }),
    preview({ state: stale }),
    preview({ id: 'p4', dependsOn: ['p9'] }),
  ];
  assert.deepEqual(setVotes(chain), { apply: 1, discard: 4, stale: 1, conflicts: 0, edited: 0 });
});

test('a proposal that is being edited is not counted, and neither is what builds on it', () => {
  const all = [preview(), preview({ id: 'p2', dependsOn: ['p1'] }), preview({ id: 'p3' })];
  const isEdited = (id: string): boolean => id === 'p1';
  assert.deepEqual(setVotes(all, { isEdited }), {
    apply: 1,
    discard: 3,
    stale: 0,
    conflicts: 0,
    edited: 1,
  });
  assert.equal(setVotes(all.slice(1, 2), { open: all, isEdited }).apply, 0);
});

test('what is being resolved is counted no more', () => {
  const applying = { kind: 'applying', action: 'apply', actor: 'human' } as const;
  assert.deepEqual(setVotes([preview({ state: applying as Preview['state'] })]), {
    apply: 0,
    discard: 0,
    stale: 0,
    conflicts: 0,
    edited: 0,
  });
});

test('a chain of thousands is counted without a deep stack', () => {
  const chain = Array.from({ length: 5_000 }, (_, i) =>
    preview({ id: `p${i + 1}`, dependsOn: i === 0 ? [] : [`p${i}`] }),
  );
  assert.equal(setVotes(chain).apply, 5_000);
});

test('Apply All is offered exactly where it applies something', () => {
  const run = preview({ id: 'p4', changes: null, purpose: 'command', humanOnly: true });
  const onStale = [preview({ state: stale }), preview({ id: 'p2', dependsOn: ['p1'] })];
  const onDecided = [preview({ id: 'p2', dependsOn: ['p1'] })];
  for (const open of [[], [run], onStale, onDecided, [conflicting('p3')], [run, preview()]])
    for (const edited of ['', 'p1', 'p2']) {
      const isEdited = (id: string): boolean => id === edited;
      assert.equal(appliesAny(open, isEdited), setVotes(open, { isEdited }).apply > 0);
    }
});
