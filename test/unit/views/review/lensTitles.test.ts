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
const { hunkLenses, warningLenses } = await import('../../../../src/views/review/lensTitles.ts');

/** The lenses above the first hunk of the first file of a preview: each title, and the preview that it acts on. */
function rowOf({ store }: InvokerHarness, id = 'p1'): (readonly [string, unknown])[] {
  const preview = store.get(id) ?? assert.fail();
  const subject = { preview, change: preview.changes?.[0], hunks: 1 };
  return hunkLenses(subject, store).map(({ title, arguments: given }) => [title, given?.[0]]);
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

  assert.equal(verbOf({ changes: [create('a.txt', 'x')] }), 'Create');
  assert.equal(verbOf({ changes: [remove('a.txt', 'x')] }), 'Delete');
  assert.equal(verbOf({ changes: [rename('from.txt', 'to.txt', 'a')] }), 'Rename');
  assert.equal(verbOf({ changes: null, purpose: 'command', humanOnly: true }), 'Run');
  assert.equal(verbOf({ changes: null, purpose: 'toolCall', humanOnly: true }), 'Call Tool');
  assert.equal(verbOf({ changes: null }), 'Run');
  assert.equal(verbOf({ changes: null, purpose: 'setUp' }), 'Apply');
  assert.equal(verbOf({ changes: [remove('a.txt', 'x'), create('b.txt', 'x')] }), 'Delete');
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
  const notes = changes.map(change => warningLenses({ preview, change, hunks: 1, risks }, store));
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
  const subject = { preview: only, change: changes[1], hunks: 1, risks: risks.slice(0, 1) };
  assert.deepEqual(warningLenses(subject, store), [], 'its verb says so');
});

/** The titles above a hunk, and those of the warnings. */
const titlesOf = (harness: InvokerHarness, { file = 0, hunks = 1, hunk = 0 } = {}): string[][] => {
  const preview = harness.store.get('p1') ?? assert.fail();
  const subject = { preview, change: preview.changes?.[file], hunks };
  const { store } = harness;
  return [hunkLenses(subject, store, hunk), warningLenses(subject, store)].map(row =>
    row.map(({ title }) => title),
  );
};

test('a stale preview offers Rebase in place of Apply, in each of its files, above the first hunk only', async () => {
  const harness = new InvokerHarness();
  harness.stage({ changes: [modify('a.txt', 'a\nb\nc\n', 'A\nb\nC\n'), remove('b.txt', 'x')] });
  await harness.store.markStale('p1', ['a.txt']);
  const stale = ['$(warning) Stale: a.txt'];
  assert.deepEqual(titlesOf(harness, { hunks: 2 }), [['Rebase', 'Discard', 'More…'], stale]);
  assert.deepEqual(titlesOf(harness, { hunks: 2, hunk: 1 }), [[], stale]);
  assert.deepEqual(titlesOf(harness, { file: 1 }), [['Rebase', 'Keep File', 'More…'], stale]);
});

test('the row is the same at every hunk, acts on that hunk, and fits a column of 250 pixels', () => {
  const harness = new InvokerHarness();
  const changes = [
    modify('src/a.ts', 'a\nb\nc\nd\n', 'A\nb\nc\nD\n'),
    remove('b.ts', 'x'),
    create('c.ts', 'x'),
  ];
  harness.stage({ changes });
  const preview = harness.store.get('p1') ?? assert.fail();
  const rowAt = (file: number, hunks: number, hunk = 0) =>
    hunkLenses({ preview, change: changes[file], hunks }, harness.store, hunk);
  for (const hunk of [0, 1]) {
    const row = rowAt(0, 2, hunk);
    assert.deepEqual(
      row.map(({ title, command, arguments: given }): unknown[] => [title, command, given?.[2]]),
      [
        ['Apply', 'redline.preview.applyHunk', hunk],
        ['Discard', 'redline.preview.discardHunk', hunk],
        ['More…', 'redline.preview.more', hunk],
      ],
    );
    assert.ok(row.map(({ title }) => title).join(' | ').length <= NARROW);
  }
  const commands = (file: number) => rowAt(file, 1).map(({ title, command }) => `${title} ${command}`);
  assert.deepEqual(commands(0).slice(0, 2), [
    'Apply redline.preview.applyFile',
    'Discard redline.preview.discardFile',
  ]);
  assert.deepEqual(commands(1).slice(0, 2), [
    'Delete redline.preview.applyFile',
    'Keep File redline.preview.discardFile',
  ]);
  assert.match(commands(2)[0] ?? '', /^Create /);
});

/** How many characters of a row are seen in a column of 250 pixels: a lens has smaller letters than the code. */
const NARROW = 46;

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

/** The warnings above a preview, and the tooltip of Apply. */
const saidOf = (harness: InvokerHarness) => {
  const preview = harness.store.get('p1') ?? assert.fail();
  const subject = { preview, change: preview.changes?.[0], hunks: 1 };
  const warnings = warningLenses(subject, harness.store);
  return { warnings, why: hunkLenses(subject, harness.store)[0]?.tooltip };
};

test('that the model is against it is a warning with the reason, cut where it is too long, and whole in the tooltip', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage();
  assert.deepEqual(saidOf(harness), { warnings: [], why: undefined });
  await harness.store.recommend(id, { action: 'discard', reason: `It  breaks $(flame) ${'x'.repeat(300)}` });
  const [note, ...others] = saidOf(harness).warnings;
  assert.deepEqual(others, []);
  assert.match(note?.title ?? '', /^\$\(thumbsdown\) not recommended: It breaks \$ \(flame\) x+…$/);
  assert.ok((note?.title.length ?? 0) < 160);
  assert.ok(note?.tooltip?.includes('x'.repeat(300)));
});

test('why the model would apply it is said by the button, not in a row', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage();
  await harness.store.recommend(id, { action: 'apply', reason: 'Tests pass.' });
  assert.deepEqual(saidOf(harness), { warnings: [], why: 'The model recommends Apply: Tests pass.' });
});

test('what the model said of several previews together is no reason of one; that it is against them is said of each', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage();
  await harness.store.recommend(id, { action: 'apply', reason: 'As asked.', isOfSet: true });
  assert.deepEqual(saidOf(harness), { warnings: [], why: undefined });
  await harness.store.recommend(id, { action: 'discard', reason: 'None is needed.', isOfSet: true });
  assert.deepEqual(
    saidOf(harness).warnings.map(({ title, tooltip }) => [title, tooltip]),
    [
      [
        '$(thumbsdown) not recommended',
        'The model recommends Discard for several changes together: None is needed.',
      ],
    ],
  );
});

test('a check that did not pass is a warning; one that passed, or still runs, is none', () => {
  const harness = new InvokerHarness();
  const preview = harness.stage();
  const check = { name: 'test', isCurrent: true, seconds: 1, problems: 2, isFlaky: false, together: [] };
  const titles = (state: 'passed' | 'failed' | 'running') =>
    warningLenses(
      { preview, change: preview.changes?.[0], hunks: 1, checks: [{ ...check, state }] },
      harness.store,
    ).map(({ title }) => title);
  assert.deepEqual([...titles('passed'), ...titles('running')], []);
  assert.match(titles('failed').join(), /test/);
});

test('a deleted file says in its lens which file still imports it', () => {
  const { store } = new InvokerHarness();
  const change = remove('src/money.ts', 'x');
  const { preview } = store.stage(draft({ changes: [change] }));
  const titles = (...by: string[]) =>
    warningLenses(
      { preview, change, hunks: 1, risks: [{ kind: 'imported', path: change.path, by }] },
      store,
    ).map(({ title }) => title);
  assert.deepEqual(titles('src/cart.ts'), ['$(warning) still imported by src/cart.ts']);
  assert.deepEqual(titles('src/$(x).ts', 'b.ts', 'c.ts'), [
    '$(warning) still imported by src/$ (x).ts and 2 more',
  ]);
});
