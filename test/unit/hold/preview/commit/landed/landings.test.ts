import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_EDITORS } from '../../../../../../src/agent/hold/preview/commit/landed/editors.ts';
import { Landings } from '../../../../../../src/agent/hold/preview/commit/landed/landings.ts';
import type { TextSide } from '../../../../../../src/agent/hold/preview/fileChange.ts';
import { StalePreviewError } from '../../../../../../src/agent/hold/preview/errors.ts';
import { stepsOf } from '../../../../../../src/agent/hold/preview/fileSteps.ts';
import type { Preview } from '../../../../../../src/agent/hold/preview/preview.ts';
import { defaultEncoding } from '../../../../../../src/agent/hold/text/encodings.ts';
import { create, modify, remove, rename } from '../../../../../support/changes.ts';
import { atRest, EditorWorld } from '../../../../../histories/editorWorld.ts';
import { Gate } from '../../../../../support/gate.ts';
import { restoredStore } from '../../../../../support/testSession.ts';

const OLD = 'one\ntwo\nthree\nfour\nfive\n';
const NEW = 'one\ntwo\nthree\nFOUR\nfive\n';
const typedAtTop = (text: string): string => `key ${text}`;

/** A world in which `a.txt` is open, and a preview of it was applied that the editor has not noticed yet. */
async function applied(after = NEW): Promise<{ readonly world: EditorWorld; readonly id: string }> {
  const world = new EditorWorld({ 'a.txt': OLD, 'b.txt': 'b\n' });
  world.editors.open('a.txt');
  const id = world.stage(modify('a.txt', OLD, after));
  await world.apply(id);
  return { world, id };
}

test('an editor that reads the file again is no longer watched, and an undo in it is the user’s', async () => {
  const { world, id } = await applied();
  world.editors.follow('a.txt');
  await atRest();
  assert.equal(world.editors.isWatched('a.txt'), false);
  world.editors.undo('a.txt');
  world.editors.save('a.txt', false);
  await atRest();
  assert.equal(world.now('a.txt'), OLD);
  assert.deepEqual(world.saidOf(id), ['applied']);
});

test('a key before the editor has read the file again: the change is put into the editor, and its save writes both', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  assert.equal(world.editors.shown('a.txt'), typedAtTop(NEW));
  world.editors.save('a.txt', false);
  await atRest();
  assert.equal(world.workspace.text('a.txt'), typedAtTop(NEW));
  assert.deepEqual(world.saidOf(id), ['applied']);
  assert.equal(world.editors.isWatched('a.txt'), false);
});

test('keys that go on while the change is put into the editor are kept', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  for (let n = 0; n < 3; n++) {
    await Promise.resolve();
    world.editors.type('a.txt', text => `${n}${text}`);
  }
  await atRest();
  assert.equal(world.editors.shown('a.txt'), `210key ${NEW}`);
  assert.deepEqual(world.saidOf(id), ['applied']);
});

test('an editor that has saved its old text over the change gets the change', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  world.editors.save('a.txt', true);
  await atRest();
  assert.equal(world.editors.shown('a.txt'), typedAtTop(NEW));
  assert.deepEqual(world.saidOf(id), ['applied']);
  world.editors.save('a.txt', true);
  await atRest();
  assert.equal(world.workspace.text('a.txt'), typedAtTop(NEW));
});

test('one that saved it and was closed at once: the ledger takes it back, and the preview is pending again', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  world.editors.save('a.txt', true);
  world.editors.close('a.txt');
  await atRest();
  assert.deepEqual(world.saidOf(id), ['applied', 'failed: savedOver in a.txt']);
  assert.equal(world.store.get(id)?.state.kind, 'pending');
  await world.apply(id);
  assert.equal(world.workspace.text('a.txt'), typedAtTop(NEW));
});

test('keys in the same lines: they stay, and the ledger says at once that the change did not', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', text => text.replace('four', 'four and a half'));
  await atRest();
  assert.equal(world.now('a.txt'), OLD.replace('four', 'four and a half'));
  assert.deepEqual(world.saidOf(id), ['applied', 'failed: sameLines in a.txt']);
  const { state } = world.store.get(id) ?? assert.fail('known');
  assert.ok(state.kind === 'pending' && state.stale.includes('a.txt'), 'a rebase would overlap');
});

test('an undo of the change that was put into the editor is the user’s', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  world.editors.undo('a.txt');
  await atRest();
  world.editors.save('a.txt', true);
  await atRest();
  assert.equal(world.workspace.text('a.txt'), typedAtTop(OLD));
  assert.deepEqual(world.saidOf(id), ['applied']);
});

for (const [what, end] of [
  ['reverted', (world: EditorWorld) => world.editors.revert('a.txt')],
  ['closed', (world: EditorWorld) => world.editors.close('a.txt')],
] as const)
  test(`a change in an unsaved editor that is ${what} without a save did not stay`, async () => {
    const world = new EditorWorld({ 'a.txt': OLD });
    world.editors.open('a.txt');
    world.editors.type('a.txt', typedAtTop);
    const id = world.stage(modify('a.txt', typedAtTop(OLD), typedAtTop(NEW)));
    await world.apply(id);
    await atRest();
    assert.deepEqual(world.saidOf(id), ['applied']);
    end(world);
    await atRest();
    assert.equal(world.now('a.txt'), OLD);
    assert.deepEqual(world.saidOf(id), ['applied', 'failed: notSaved in a.txt']);
    await world.apply(id);
    assert.equal(world.workspace.text('a.txt'), NEW);
    assert.deepEqual(world.saidOf(id).slice(2), ['applied']);
  });

for (const drop of ['revert', 'close'] as const)
  test(`a change in an unsaved editor did not stay if the user chose ${drop} at the moment in which it got it`, async () => {
    const world = new EditorWorld({ 'a.txt': OLD });
    world.editors.open('a.txt');
    world.editors.type('a.txt', typedAtTop);
    const id = world.stage(modify('a.txt', typedAtTop(OLD), typedAtTop(NEW)));
    const write = world.workspace.write.bind(world.workspace);
    world.workspace.write = async (...args) => {
      const to = await write(...args);
      world.editors[drop]('a.txt');
      return to;
    };
    await world.apply(id);
    await atRest();
    assert.equal(world.now('a.txt'), OLD);
    assert.deepEqual(world.saidOf(id), ['applied', 'failed: notSaved in a.txt']);
  });

test('of two changes in an unsaved editor, the user undoes the second one and reverts: the first one did not stay', async () => {
  const world = new EditorWorld({ 'a.txt': OLD });
  world.editors.open('a.txt');
  world.editors.type('a.txt', typedAtTop);
  const first = world.stage(modify('a.txt', typedAtTop(OLD), typedAtTop(NEW)));
  await world.apply(first);
  world.editors.type('a.txt', text => `${text}key\n`);
  await atRest();
  const text = `${typedAtTop(NEW)}key\n`;
  const second = world.stage(modify('a.txt', text, text.replace('two', 'TWO')));
  await world.apply(second);
  await atRest();
  world.editors.type('a.txt', shown => shown.replace('TWO', 'two'));
  await atRest();
  world.editors.revert('a.txt');
  await atRest();
  assert.equal(world.now('a.txt'), OLD);
  assert.deepEqual(world.saidOf(first), ['applied', 'failed: notSaved in a.txt']);
  assert.deepEqual(world.saidOf(second), ['applied'], 'that was the user');
});

for (const [undone, isSaved] of [
  ['first', false],
  ['first', true],
  ['second', false],
  ['second', true],
] as const)
  test(`an unsaved editor with two changes and the undo of the ${undone} one is closed: the other one ${isSaved ? 'stays if it was saved' : 'did not stay'}`, async () => {
    const world = new EditorWorld({ 'a.txt': OLD });
    world.editors.open('a.txt');
    world.editors.type('a.txt', typedAtTop);
    const first = world.stage(modify('a.txt', typedAtTop(OLD), typedAtTop(NEW)));
    await world.apply(first);
    const next = typedAtTop(NEW).replace('two', 'TWO');
    const second = world.stage(modify('a.txt', typedAtTop(NEW), next));
    await world.apply(second);
    const [away, other] = undone === 'first' ? [first, second] : [second, first];
    await world.apply(await world.stageUndo(away));
    await atRest();
    if (isSaved) {
      world.editors.save('a.txt', true);
      world.editors.type('a.txt', text => `${text}key\n`);
      await atRest();
    }
    world.editors.close('a.txt');
    await atRest();
    const kept = undone === 'first' ? next.replace('FOUR', 'four') : typedAtTop(NEW);
    assert.equal(world.now('a.txt'), isSaved ? kept : OLD);
    assert.deepEqual(world.saidOf(other), ['applied', ...(isSaved ? [] : ['failed: notSaved in a.txt'])]);
  });

test('the undo of a change on disk that went into an unsaved editor did not stay if that is closed', async () => {
  const { world, id } = await applied();
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  const undo = await world.stageUndo(id);
  await world.apply(undo);
  await atRest();
  world.editors.close('a.txt');
  await atRest();
  assert.equal(world.now('a.txt'), NEW);
  assert.deepEqual(world.saidOf(undo), ['applied', 'failed: notSaved in a.txt']);
});

test('two changes on disk that an editor got, and drops as it reads the file again, stay', async () => {
  const { world, id } = await applied();
  const second = world.stage(modify('a.txt', NEW, NEW.replace('five', 'FIVE')));
  await world.apply(second);
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  world.editors.revert('a.txt');
  await atRest();
  assert.equal(world.now('a.txt'), NEW.replace('five', 'FIVE'));
  assert.deepEqual([world.saidOf(id), world.saidOf(second)], [['applied'], ['applied']]);
});

test('a deleted file that its editor saves again was not deleted', async () => {
  const world = new EditorWorld({ 'a.txt': OLD });
  world.editors.open('a.txt');
  const id = world.stage(remove('a.txt', OLD));
  await world.apply(id);
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  assert.deepEqual(world.saidOf(id), ['applied'], 'until it is saved');
  world.editors.save('a.txt', true);
  await atRest();
  assert.equal(world.workspace.text('a.txt'), typedAtTop(OLD));
  assert.deepEqual(world.saidOf(id), ['applied', 'failed: savedOver in a.txt']);
});

test('a renamed file whose old name an editor saves again was not renamed', async () => {
  const world = new EditorWorld({ 'a.txt': OLD });
  world.editors.open('a.txt');
  const id = world.stage(rename('a.txt', 'z.txt', OLD));
  await world.apply(id);
  world.editors.type('a.txt', typedAtTop);
  world.editors.save('a.txt', true);
  await atRest();
  assert.deepEqual(world.saidOf(id), ['applied', 'failed: savedOver in a.txt']);
});

test('of several files and previews, only what did not stay is pending again', async () => {
  const world = new EditorWorld({ 'a.txt': OLD, 'b.txt': 'b\n' });
  world.editors.open('a.txt');
  const both = world.stage(modify('a.txt', OLD, NEW), modify('b.txt', 'b\n', 'B\n'));
  const other = world.stage(create('c.txt', 'c\n'));
  await world.apply(both);
  await world.apply(other);
  world.editors.type('a.txt', text => text.replace('four', '4'));
  await atRest();
  assert.deepEqual(
    world.store.list('oldestFirst').map(({ id }) => id),
    [both],
  );
  assert.equal(world.workspace.text('b.txt'), 'B\n');
});

test('a second apply that the editor has not noticed either is followed with the first', async () => {
  const { world, id } = await applied();
  const next = NEW.replace('two', 'TWO');
  const second = world.stage(modify('a.txt', NEW, next));
  await world.apply(second);
  world.editors.type('a.txt', text => `${text}key\n`);
  await atRest();
  assert.equal(world.editors.shown('a.txt'), `${next}key\n`);
  assert.deepEqual([world.saidOf(id), world.saidOf(second)], [['applied'], ['applied']]);
});

test('a change in an editor that is reverted, or closed unsaved, while another one of its file is being written did not stay', async () => {
  for (const drop of ['revert', 'close'] as const) {
    const world = new EditorWorld({ 'a.txt': OLD });
    world.editors.open('a.txt');
    world.editors.type('a.txt', typedAtTop);
    const inEditor = world.stage(modify('a.txt', typedAtTop(OLD), typedAtTop(NEW)));
    await world.apply(inEditor);
    await atRest();
    const onDisk = world.stage(modify('a.txt', OLD, `${OLD}six\n`));
    const applying = world.apply(onDisk);
    world.editors[drop]('a.txt');
    await applying;
    await atRest();
    assert.equal(world.now('a.txt'), `${OLD}six\n`);
    assert.deepEqual(world.saidOf(inEditor), ['applied', 'failed: notSaved in a.txt']);
    assert.equal(world.store.get(inEditor)?.state.kind, 'pending');
    assert.deepEqual(world.saidOf(onDisk), ['applied']);
  }
});

test('an undo that the editor has not noticed is put into it, too', async () => {
  const { world, id } = await applied();
  world.editors.follow('a.txt');
  await atRest();
  const undo = await world.stageUndo(id);
  await world.apply(undo);
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  assert.equal(world.editors.shown('a.txt'), typedAtTop(OLD));
  assert.deepEqual(world.saidOf(undo), ['applied']);
});

for (const [where, typed, said] of [
  ['elsewhere', typedAtTop, ['applied']],
  [
    'in its line',
    (text: string) => text.replace('FOUR', 'FOUR and a half'),
    ['applied', 'failed: sameLines in a.txt'],
  ],
] as const)
  test(`an editor that reads the earlier changes while their undo is being written gets it, or tells: keys ${where}`, async () => {
    const { world, id } = await applied();
    const next = NEW.replace('two', 'TWO');
    const second = world.stage(modify('a.txt', NEW, next));
    await world.apply(second);
    const undo = await world.stageUndo(id);
    const gate = new Gate();
    world.workspace.beforeWrite = () => gate.pass();
    const undoing = world.apply(undo);
    await gate.reached;
    world.editors.follow('a.txt');
    gate.open();
    await undoing;
    world.editors.type('a.txt', typed);
    await atRest();
    const stays = said.length === 1;
    assert.equal(world.now('a.txt'), typed(stays ? next.replace('FOUR', 'four') : next));
    assert.deepEqual(
      [id, second, undo].map(each => world.saidOf(each)),
      [['applied'], ['applied'], said],
    );
  });

test('a change over which an editor saves its old text while another one is applied did not stay', async () => {
  const { world, id } = await applied();
  const other = world.stage(modify('a.txt', OLD, `${OLD}six\n`));
  world.editors.type('a.txt', typedAtTop);
  world.editors.undo('a.txt');
  const applying = world.apply(other);
  world.editors.save('a.txt', true);
  await applying;
  await atRest();
  assert.equal(world.now('a.txt'), `${OLD}six\n`);
  assert.deepEqual(world.saidOf(id), ['applied', 'failed: savedOver in a.txt']);
  assert.deepEqual(world.saidOf(other), ['applied']);
});

test('what did not stay is the same after a reload: pending, in its place among the others, and applied anew once', async () => {
  const { world, id } = await applied();
  const later = world.stage(modify('b.txt', 'b\n', 'B\n'));
  world.editors.type('a.txt', text => text.replace('four', '4'));
  await atRest();
  const store = restoredStore(world.log);
  assert.deepEqual(
    store.list('oldestFirst').map(preview => preview.id),
    [id, later],
  );
  assert.deepEqual(store.ledger(), world.store.ledger());
  assert.deepEqual(
    restoredStore(world.log).feed.facts.map(({ key }) => key),
    world.store.feed.facts.map(({ key }) => key),
  );
});

test('applying many files looks at a preview once, and at no text until an editor has its file open', () => {
  const { store, workspace } = new EditorWorld({});
  const side = (hash: string): TextSide => ({
    hash,
    encoding: defaultEncoding,
    get text() {
      return assert.fail('it was read');
    },
  });
  const changes = Array.from({ length: 100 }, (_, i) => {
    return { kind: 'modify', path: `${i}.ts`, before: side(`a${i}`), after: side(`b${i}`) } as const;
  });
  let looks = 0;
  const preview = {
    id: 'p1',
    get changes() {
      looks++;
      return changes;
    },
  };
  const landing = new Landings(store, workspace, NO_EDITORS, () => undefined).begin(
    [preview as unknown as Preview],
    changes.flatMap(stepsOf),
  );
  landing.wrote([]);
  assert.equal(looks, 1);
});

test('an earlier change stays out of the editor while one commit on its file still writes, and another one waits', async () => {
  const { world, id } = await applied();
  const late = world.stage(modify('a.txt', NEW, `${NEW}six\n`));
  const undo = world.stage(modify('a.txt', NEW, OLD), modify('b.txt', 'b\n', 'B\n'));
  const gate = new Gate();
  world.workspace.beforeWrite = path => (path === 'b.txt' ? gate.pass() : undefined);
  const undone = world.apply(undo);
  await gate.reached;
  const refused = assert.rejects(world.apply(late), StalePreviewError);
  world.editors.type('a.txt', typedAtTop);
  await atRest();
  assert.equal(world.editors.shown('a.txt'), typedAtTop(OLD));
  gate.open();
  await Promise.all([undone, refused]);
  await atRest();
  assert.deepEqual([world.now('a.txt'), world.saidOf(id)], [typedAtTop(OLD), ['applied']]);
});

for (const [where, typed, why] of [
  ['in the same line', (shown: string) => shown.replace('four', 'four and a half'), 'sameLines'],
  ['elsewhere', typedAtTop, 'savedOver'],
] as const)
  test(`a change that misses an editor with keys ${where}, into which another one goes, did not stay`, async () => {
    const { world, id } = await applied();
    world.editors.type('a.txt', typed);
    const shown = world.now('a.txt') ?? '';
    const other = world.stage(modify('a.txt', shown, shown.replace('one', 'ONE')));
    await world.apply(other);
    await atRest();
    assert.equal(world.now('a.txt'), shown.replace('one', 'ONE'));
    assert.deepEqual(world.saidOf(id), ['applied', `failed: ${why} in a.txt`]);
    assert.deepEqual(world.saidOf(other), ['applied']);
  });

/** A preview of two files of which one is written and the other one not yet, and one that changes the first file once more. */
async function overlapping(fail?: Error): Promise<{
  readonly world: EditorWorld;
  readonly ids: readonly [string, string];
  readonly end: () => Promise<readonly PromiseSettledResult<void>[]>;
}> {
  const world = new EditorWorld({ 'a.txt': OLD, 'b.txt': 'b\n' });
  world.editors.open('a.txt');
  const gate = new Gate();
  world.workspace.beforeWrite = async path => {
    if (path !== 'b.txt') return;
    await gate.pass();
    if (fail) throw fail;
  };
  const first = world.stage(modify('a.txt', OLD, NEW), modify('b.txt', 'b\n', 'B\n'));
  const applies = [world.apply(first)];
  await atRest();
  assert.equal(world.workspace.text('a.txt'), NEW);
  const second = world.stage(modify('a.txt', NEW, NEW.replace('two', 'TWO')));
  applies.push(world.apply(second));
  await atRest();
  assert.equal(world.workspace.text('a.txt'), NEW, 'the second one waits');
  const end = (): Promise<readonly PromiseSettledResult<void>[]> => {
    gate.open();
    return Promise.allSettled(applies);
  };
  return { world, ids: [first, second], end };
}

test('a change to a file that another apply is still writing is applied after it, and both are followed', async () => {
  const { world, ids, end } = await overlapping();
  await end();
  world.editors.type('a.txt', text => text.replace('four', 'four and a half'));
  await atRest();
  for (const id of ids) assert.deepEqual(world.saidOf(id), ['applied', 'failed: sameLines in a.txt']);
});

test('a change to a file that another apply is still writing is stale once that one has failed', async () => {
  const { world, ids, end } = await overlapping(new Error('no space'));
  const ends = await end();
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(world.workspace.text('a.txt'), OLD);
  for (const id of ids) assert.deepEqual(world.saidOf(id), ['failed']);
});
