import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorders } from '../../../../../src/agent/session/conversation/storage/recorder.ts';
import type { SessionLogEntry } from '../../../../../src/agent/session/conversation/storage/sessionEntry.ts';

function recorders() {
  const opened: string[] = [];
  const titles: string[] = [];
  const log = (id: string) => {
    opened.push(id);
    return {
      append: async (entry: SessionLogEntry) => {
        titles.push(entry.type === 'title' ? `${id} ${entry.title}` : entry.type);
      },
    };
  };
  const fail = (error: unknown): void => assert.fail(String(error));
  return { opened, titles, recorders: new Recorders(log, { onFailure: fail, onLoss: fail }) };
}

test('a conversation that is deleted is never written again, also by what began while it was open', async () => {
  const { recorders: all, titles } = recorders();
  const record = all.for('s1');
  record({ type: 'title', title: 'one' });
  await all.drain('s1');
  all.for('s2');
  await all.discard('s1');
  record({ type: 'title', title: 'late' });
  await all.close();
  assert.deepEqual(titles, ['s1 one']);
});

test('a conversation that is opened again is written through the same log: two would mix their lines', async () => {
  const { recorders: all, titles, opened } = recorders();
  const before = all.for('s1');
  before({ type: 'title', title: 'one' });
  await all.drain('s1');
  all.for('s2');
  all.for('s1')({ type: 'title', title: 'two' });
  before({ type: 'title', title: 'three' });
  await all.drain('s1');
  assert.deepEqual(
    [opened, titles],
    [
      ['s1', 's2'],
      ['s1 one', 's1 two', 's1 three'],
    ],
  );
});
