import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { originOfLine } from '../../../../src/agent/hold/preview/lineOrigins.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { create, modify, rename } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

/** Applies changes one after the other. The file holds what the next one starts from. */
class History {
  readonly harness = new InvokerHarness('none');
  #count = 0;

  async apply(change: ReturnType<typeof modify>): Promise<string> {
    const { id } = this.harness.stage({ changes: [change] });
    await this.harness.resolve({ id, reason: `reason ${++this.#count}` });
    return id;
  }

  /** `p1`, `p1?` for what was changed since, or another kind, for each line of a text. */
  async lines(path: string, text: string, isHere = () => true): Promise<string[]> {
    const lines = text.split('\n').slice(0, -1);
    return Promise.all(
      lines.map(async (_, line) => {
        const origin = await originOfLine(this.harness.store, { path, text, line }, isHere);
        if (origin.kind === 'applied') return origin.preview.id;
        return origin.kind === 'changedSince' ? `${origin.preview.id}?` : origin.kind;
      }),
    );
  }
}

const FIRST = 'one\ntwo\nthree\n';

async function twoChanges(): Promise<History> {
  const history = new History();
  history.harness.workspace.put('b.txt', FIRST);
  await history.apply(modify('b.txt', FIRST, 'one\nTWO\nthree\n'));
  await history.apply(modify('b.txt', 'one\nTWO\nthree\n', 'zero\none\nTWO\nTHREE\n'));
  return history;
}

describe('who approved a line', () => {
  test('a line is followed through later changes of Redline and of others', async () => {
    const history = await twoChanges();
    assert.deepEqual(await history.lines('b.txt', 'zero\none\nTWO\nTHREE\n'), [
      'p2',
      'notByRedline',
      'p1',
      'p2',
    ]);
    // Someone typed above, below, and in a line that was approved; a line ending of another system is no change.
    const typed = 'head\nzero\none\nTWO and more\nTHREE\ntail\n';
    const expected = ['notByRedline', 'p2', 'notByRedline', 'p1?', 'p2', 'notByRedline'];
    assert.deepEqual(await history.lines('b.txt', typed), expected);
    assert.deepEqual(await history.lines('b.txt', typed.replaceAll('\n', '\r\n')), expected);
  });

  test('what someone changed between two decisions is not of the first one', async () => {
    const history = new History();
    history.harness.workspace.put('b.txt', FIRST);
    await history.apply(modify('b.txt', FIRST, 'one\nTWO\nthree\n'));
    history.harness.workspace.put('b.txt', 'one\nmine\nthree\nfour\n');
    await history.apply(modify('b.txt', 'one\nmine\nthree\nfour\n', 'one\nmine\nTHREE\nfour\n'));
    assert.deepEqual(await history.lines('b.txt', 'one\nmine\nTHREE\nfour\n'), [
      'notByRedline',
      'p1?',
      'p2',
      'notByRedline',
    ]);
  });

  test('an undo brings back the decisions before', async () => {
    const history = await twoChanges();
    const p2 = history.harness.store.get('p2') ?? assert.fail();
    const { id } = history.harness.stage(undoAction(p2) ?? assert.fail());
    await history.harness.resolve({ id });
    assert.deepEqual(await history.lines('b.txt', 'one\nTWO\nthree\n'), [
      'notByRedline',
      'p1',
      'notByRedline',
    ]);
  });

  test('a new file and a renamed one keep their decisions; another file at the old name has none', async () => {
    const history = new History();
    await history.apply(create('new.txt', 'a\nb\n'));
    await history.apply(rename('new.txt', 'moved.txt', 'a\nb\n', 'a\nB\n'));
    assert.deepEqual(await history.lines('moved.txt', 'a\nB\n'), ['p1', 'p2']);
    assert.deepEqual(await history.lines('new.txt', 'x\n'), ['notByRedline']);
  });

  test('discarded, failed and pending previews count for nothing', async () => {
    const history = await twoChanges();
    const { stage, resolve } = history.harness;
    const text = 'zero\none\nTWO\nTHREE\n';
    await resolve({ id: stage({ changes: [modify('b.txt', text, 'x\n')] }).id, action: 'discard' });
    stage({ changes: [modify('b.txt', text, 'y\n')] });
    assert.deepEqual(await history.lines('b.txt', 'x\n'), ['p2?']);
    assert.deepEqual(await history.lines('b.txt', 'y\n'), ['p2?']);
  });

  test('where the texts are forgotten, it says which decisions it may be of', async () => {
    const history = await twoChanges();
    await history.harness.store.forgetResolved(new Date(Date.now() + 1_000));
    const at = { path: 'b.txt', text: 'zero\none\nTWO\nTHREE\n', line: 0 };
    const origin = await originOfLine(history.harness.store, at, () => true);
    assert.ok(origin.kind === 'forgotten');
    assert.deepEqual(
      origin.entries.map(({ reason }) => reason),
      ['reason 2', 'reason 1'],
    );
  });

  test('a path that means another file now has no decisions', async () => {
    const history = await twoChanges();
    const origins = await history.lines('b.txt', 'zero\n', () => false);
    assert.deepEqual(origins, ['notByRedline']);
  });

  test('a text that cannot be compared gives no false answer', async () => {
    const history = new History();
    const lines = Array.from({ length: 4_000 }, (_, i) => `${(i * 7_919) % 4_001}`);
    const text = `${lines.join('\n')}\n`;
    await history.apply(create('long.txt', text));
    const shuffled = `${lines.toSorted().join('\n')}\n`;
    const origin = await originOfLine(
      history.harness.store,
      { path: 'long.txt', text: shuffled, line: 2_000 },
      () => true,
    );
    assert.equal(origin.kind, 'tooDifferent');
  });
});
