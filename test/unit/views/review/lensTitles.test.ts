import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textResult, type PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import type { Risk } from '../../../../src/agent/hold/preview/reading/risks.ts';
import type { StagedPreview } from '../../../../src/agent/hold/preview/previewSchema.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { lensRow, placeNote, reasonRow, riskNotes } =
  await import('../../../../src/views/review/lensTitles.ts');

/** The lenses above the first hunk of the first file of a preview: each title, and the preview that it acts on. */
function rowOf({ store }: InvokerHarness, id = 'p1'): (readonly [string, unknown])[] {
  const preview = store.get(id) ?? assert.fail();
  const subject = { preview, change: preview.changes?.[0], hunks: 1, hidden: [] };
  return lensRow(subject, store).map(({ title, arguments: given }) => [title, given?.[0]]);
}

/** Stages what undoes an applied preview. */
function stageUndo(harness: InvokerHarness, id: string): string {
  const action: PendingAction =
    undoAction(harness.store.get(id) ?? assert.fail()) ?? assert.fail('nothing to undo');
  return harness.stage(action).id;
}

test('the row of an applied preview follows what undoes it and what applies it again', async () => {
  const harness = new InvokerHarness();
  harness.stage();
  await harness.resolve();
  assert.deepEqual(rowOf(harness), [
    ['$(check) Applied', undefined],
    ['Undo Apply', 'p1'],
  ]);
  const undo = stageUndo(harness, 'p1');
  assert.deepEqual(rowOf(harness), [['$(check) Applied', undefined]], 'the undo waits already');
  await harness.resolve({ id: undo });
  assert.deepEqual(rowOf(harness), [
    ['$(history) Undone by you', undefined],
    ['Apply Again', undo],
  ]);
  const redo = stageUndo(harness, undo);
  await harness.resolve({ id: redo });
  assert.deepEqual(rowOf(harness), [
    ['$(check) Applied', undefined],
    ['Undo Apply', 'p1'],
  ]);
});

test('each kind of preview has its own verb, and so has each file of several', () => {
  const harness = new InvokerHarness();
  const { store } = harness;
  const verbOf = (given: Partial<StagedPreview>): string => {
    const { id } = store.stage(draft({ label: 'x', ...given })).preview;
    return rowOf(harness, id)[0]?.[0] ?? '';
  };

  assert.equal(verbOf({ changes: [create('a.txt', 'x')] }), '$(check) Create File');
  assert.equal(verbOf({ changes: [remove('a.txt', 'x')] }), '$(check) Delete File');
  assert.equal(verbOf({ changes: [rename('from.txt', 'to.txt', 'a')] }), '$(check) Rename File');
  assert.equal(verbOf({ changes: null, purpose: 'command', humanOnly: true }), '$(check) Run');
  assert.equal(verbOf({ changes: null, purpose: 'toolCall', humanOnly: true }), '$(check) Call Tool');
  assert.equal(verbOf({ changes: null }), '$(check) Apply');
  assert.equal(verbOf({ changes: [remove('a.txt', 'x'), create('b.txt', 'x')] }), 'Delete File');
});

test('a file has its own risks before the reason, the first one also those of the whole, and each is a sentence', () => {
  const { store } = new InvokerHarness();
  const changes = [create('a.ts', 'x'), remove('b.ts', 'x')];
  const { preview } = store.stage(draft({ changes }));
  const risks: readonly Risk[] = [
    { kind: 'deletes', path: 'b.ts' },
    { kind: 'exports', path: 'a.ts', gone: ['total'], changed: ['a', 'b', 'c', 'd'] },
    { kind: 'configuration', path: 'a.ts' },
    { kind: 'large', lines: 300 },
  ];
  const notes = changes.map(change => riskNotes(preview, change, risks));
  assert.deepEqual(
    notes.flat().map(({ title, tooltip }) => [title, tooltip]),
    [
      [
        '$(warning) changed exports · configuration · 300 lines',
        'a.ts no longer exports total. a.ts changes the declaration of a, b, c, d, which it exports.\n' +
          'a.ts says how the project is built, checked or run.\nIt changes 300 lines.',
      ],
      ['$(warning) deletes a file', 'It deletes b.ts.'],
    ],
  );
  const only = store.stage(draft({ changes: [remove('b.ts', 'x')] })).preview;
  assert.deepEqual(riskNotes(only, changes[1] ?? assert.fail(), risks.slice(0, 1)), [], 'its verb says so');
});

test('a stale preview begins with Rebase and offers no Apply, in each of its files', async () => {
  const harness = new InvokerHarness();
  harness.stage({ changes: [create('a.txt', 'x'), create('b.txt', 'x')] });
  await harness.store.markStale('p1', ['a.txt']);
  assert.deepEqual(
    rowOf(harness).map(([title]) => title),
    [
      '$(warning) Stale',
      'Rebase',
      'Discard file',
      '$(discard) Discard all 2 files',
      'Discard file with reason…',
      '$(warning) Stale: a.txt changed after this was proposed.',
    ],
  );
});

/** How many characters of a row are seen in a column of 250 pixels: a lens has smaller letters than the code. */
const NARROW = 46;

test('of a row in a column of 250 pixels the buttons of the smallest part are seen, and whether it is stale', async () => {
  const changes = [modify('src/a.ts', 'a\nb\nc\nd\n', 'A\nb\nc\nD\n'), create('b.ts', 'x')];
  const place = { hunk: 13, hunks: 144, file: 12, files: 88 };
  for (const [isStale, hunks, wanted] of [
    [false, 2, ['Apply hunk', 'Discard hunk']],
    [false, 1, ['Apply file', 'Discard file']],
    [true, 2, ['Stale', 'Rebase', 'Discard file']],
  ] as const) {
    const harness = new InvokerHarness();
    harness.stage({ changes });
    if (isStale) await harness.store.markStale('p1', ['src/a.ts']);
    const preview = harness.store.get('p1') ?? assert.fail();
    const row = lensRow({ preview, change: changes[0], hunks, hidden: [], place }, harness.store);
    const seen = row
      .map(({ title }) => title.replace(/\$\(\w+\) ?/g, '+ '))
      .join(' | ')
      .slice(0, NARROW);
    for (const title of wanted) assert.ok(seen.includes(title), seen);
  }
});

test('the row of a command that has ended says how, and no other callback can say that', async () => {
  const rowAfter = async (details: unknown, purpose?: 'command'): Promise<readonly unknown[]> => {
    const harness = new InvokerHarness();
    const apply = () => Promise.resolve(textResult('Done.', details));
    harness.stage({ apply, humanOnly: true, ...(purpose ? { purpose } : {}) });
    await harness.resolve();
    return rowOf(harness).map(([title]) => title);
  };

  assert.deepEqual(await rowAfter({ run: { exitCode: 1, seconds: 2.14 } }, 'command'), [
    '$(error) Exit 1 · 2.1 s',
  ]);
  assert.deepEqual(await rowAfter({ run: { exitCode: 0, seconds: 61.7 } }, 'command'), [
    '$(check) Exit 0 · 62 s',
  ]);
  assert.deepEqual(await rowAfter({ run: { seconds: 7, endedBy: 'timeLimit' } }, 'command'), [
    '$(error) Time limit · 7 s',
  ]);
  assert.deepEqual(await rowAfter({ run: { seconds: 7, endedBy: 'user' } }, 'command'), [
    '$(error) Stopped · 7 s',
  ]);
  assert.deepEqual(await rowAfter({ run: { seconds: 7 } }, 'command'), ['$(error) Ended · 7 s']);
  assert.deepEqual(await rowAfter({ run: { exitCode: 0, seconds: 1 } }), ['$(check) Applied']);
});

test('the first row begins with the number of the hunk, unless it is the only one', () => {
  const harness = new InvokerHarness();
  const preview = harness.stage();
  const place = { hunk: 3, hunks: 14, file: 2, files: 8 };
  const row = lensRow({ preview, change: preview.changes?.[0], hunks: 1, hidden: [], place }, harness.store);
  assert.deepEqual(
    row.map(({ title }) => title),
    ['3/14', '$(check) Apply', '$(discard) Discard'],
  );
  assert.deepEqual(placeNote({ ...place, hunk: 1, hunks: 1 }), []);
  assert.deepEqual(placeNote(undefined), []);
});

test('the second row has the reason of the recommendation, cut where it is too long, and whole in the tooltip', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage();
  assert.deepEqual(reasonRow(harness.store.get(id) ?? assert.fail()), []);
  await harness.store.recommend(id, 'discard', `It  breaks ${'x'.repeat(300)}`);
  const [note, ...others] = reasonRow(harness.store.get(id) ?? assert.fail());
  assert.deepEqual(others, []);
  assert.match(note?.title ?? '', /^\$\(thumbsdown\) not recommended: It breaks x+…$/);
  assert.ok((note?.title.length ?? 0) < 160);
  assert.ok(note?.tooltip?.includes('x'.repeat(300)));
});

test('what the model said of several previews together is no reason of one; that it is against them is said of each', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage();
  await harness.store.recommend(id, 'apply', 'As asked.', true);
  assert.deepEqual(reasonRow(harness.store.get(id) ?? assert.fail()), []);
  await harness.store.recommend(id, 'discard', 'None is needed.', true);
  assert.deepEqual(
    reasonRow(harness.store.get(id) ?? assert.fail()).map(({ title, tooltip }) => [title, tooltip]),
    [
      [
        '$(thumbsdown) not recommended',
        'The model recommends Discard for several changes together: None is needed.',
      ],
    ],
  );
});

test('a deleted file says in its lens which file still imports it', () => {
  const { store } = new InvokerHarness();
  const change = remove('src/money.ts', 'x');
  const { preview } = store.stage(draft({ changes: [change] }));
  const titles = (...by: string[]) =>
    riskNotes(preview, change, [{ kind: 'imported', path: change.path, by }]).map(({ title }) => title);
  assert.deepEqual(titles('src/cart.ts'), ['$(warning) still imported by src/cart.ts']);
  assert.deepEqual(titles('src/$(x).ts', 'b.ts', 'c.ts'), [
    '$(warning) still imported by src/$ (x).ts and 2 more',
  ]);
});
