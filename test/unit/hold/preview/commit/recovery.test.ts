import { test } from 'node:test';
import assert from 'node:assert/strict';
import { recoverCommits } from '../../../../../src/agent/hold/preview/commit/recovery.ts';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import {
  alreadyResolvedText,
  outcomeText,
} from '../../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { inverseOf } from '../../../../../src/agent/hold/preview/undo.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog, restoredStore } from '../../../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b', 'gone.txt': 'gone' };
const changes = [
  modify('a.txt', 'a', 'A'),
  modify('b.txt', 'b', 'B'),
  create('new.txt', 'new'),
  remove('gone.txt', 'gone'),
];
const applied = { 'a.txt': 'A', 'b.txt': 'B', 'new.txt': 'new' };

/** A store, an invoker and files, in one process after another. */
class World {
  workspace: MemoryWorkspace;
  log = new MemoryPreviewLog();
  store: PreviewStore;
  invoker: Invoker;

  constructor(found: Readonly<Record<string, string>> = files) {
    this.workspace = new MemoryWorkspace(found);
    this.store = this.#store();
    this.invoker = this.#invoker();
  }

  stage(staged: readonly FileChange[] = changes): string {
    return this.store.stage(draft({ changes: staged })).preview.id;
  }

  apply(id: string, reason = 'ok'): Promise<unknown> {
    return this.invoker.resolve({ id, action: 'apply', reason, actor: 'human' });
  }

  /** Applies it while another apply of the same file has not ended: one invoker would wait. */
  async applyBeside(id: string): Promise<void> {
    await this.#invoker().resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
  }

  /** The process ends, `meanwhile` happens, and another one starts and recovers. */
  async restart(meanwhile: () => void = () => undefined) {
    const written = [...this.log.lines];
    this.workspace = new MemoryWorkspace(this.workspace.snapshot());
    this.log = new MemoryPreviewLog(written);
    meanwhile();
    this.store = this.#store();
    this.invoker = this.#invoker();
    return recoverCommits(this.store, this.workspace);
  }

  /** Replaces a line by one that cannot be read; the last one of that type. */
  damage(type: string, text = '\ufffd'): void {
    const at = this.log.lines.findLastIndex(line => line.includes(`{"type":"${type}"`));
    assert.ok(at >= 0, `there is no ${type}`);
    this.log.lines[at] = text;
  }

  /** The texts that the log names cannot be read by this process. */
  loseTexts(): void {
    const { log } = this;
    const loaded = log.load();
    const get = () => assert.fail('gone');
    for (const entry of loaded.entries)
      if (entry.type === 'staged')
        for (const { before, after } of entry.preview.changes ?? [])
          for (const side of [before, after]) if (side) Object.defineProperty(side, 'text', { get });
    log.load = () => loaded;
  }

  state(id: string): string {
    return this.store.get(id)?.state.kind ?? 'unknown';
  }

  outcomes(): string[] {
    return this.store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`);
  }

  #store(): PreviewStore {
    return restoredStore(this.log, () => undefined);
  }

  #invoker(): Invoker {
    return new Invoker(this.store, this.workspace, () => 'apply');
  }
}

/** A world in which the process died while it applied `p1`, at the n-th write. */
async function killedAtWrite(n: number, reason?: string): Promise<World> {
  const world = new World();
  const id = world.stage();
  world.workspace.dieAtWrite(n);
  void world.apply(id, reason);
  await new Promise(resolve => setImmediate(resolve));
  return world;
}

/** A world in which `p1` was applied, and the process died before that was recorded. */
async function killedBeforeTheEnd(
  reason?: string,
  staged: readonly FileChange[] = changes,
  found: Readonly<Record<string, string>> = files,
): Promise<World> {
  const world = new World(found);
  const id = world.stage(staged);
  world.log.failAppend(2, Infinity); // the journal is the first one
  await world.apply(id, reason);
  if (staged === changes) assert.deepEqual(world.workspace.snapshot(), applied);
  return world;
}

test('an apply that is wholly on the disk is finished, even if its texts cannot be read', async () => {
  const world = await killedBeforeTheEnd();
  const [report] = await world.restart(() => world.loseTexts());
  assert.equal(report?.end, 'finished');
  assert.equal(world.state('p1'), 'applied');
});

test('a half-written apply waits for its texts to be readable again', async () => {
  const world = await killedAtWrite(2);
  const [report] = await world.restart(() => world.loseTexts());
  assert.ok(report?.failed.length);
  assert.deepEqual((await world.restart())[0]?.end, 'rolledBack');
  assert.deepEqual(world.workspace.snapshot(), files);
});

test('an apply whose end could not be recorded is finished at the next start: applied, with its line in the ledger', async () => {
  const world = await killedBeforeTheEnd('because');
  assert.deepEqual(await world.restart(), [
    { previewIds: ['p1'], end: 'finished', restored: [], leftAlone: [], failed: [] },
  ]);
  assert.deepEqual(world.workspace.snapshot(), applied);
  assert.equal(world.state('p1'), 'applied');
  const [entry] = world.store.ledger();
  assert.deepEqual(
    { ...entry, at: '', files: entry?.files.length },
    {
      previewId: 'p1',
      label: 'Edit a.txt',
      kind: 'files',
      sourceToolName: 'test',
      action: 'apply',
      actor: 'human',
      reason: 'because',
      outcome: 'applied',
      message: 'Applied: p1 (Edit a.txt). Reason: because',
      interrupted: true,
      at: '',
      files: 4,
    },
  );
  assert.deepEqual(await world.restart(), [], 'once');
  assert.deepEqual(world.outcomes(), ['p1 applied']);
});

for (const n of [1, 2, 3, 4])
  test(`a process that dies at write ${n} of 4: everything is as before, and the preview is pending`, async () => {
    const world = await killedAtWrite(n);
    const [report] = await world.restart();
    assert.equal(report?.end, 'rolledBack');
    assert.deepEqual(report.leftAlone, []);
    assert.deepEqual(world.workspace.snapshot(), files);
    assert.equal(world.state('p1'), 'pending');
    assert.deepEqual(world.outcomes(), []);
    await world.apply('p1');
    assert.deepEqual(world.workspace.snapshot(), applied);
  });

test('a complete apply is not undone because a file was changed since: it is applied, and that file is reported', async () => {
  const world = await killedBeforeTheEnd();
  const reports = await world.restart(() => world.workspace.put('b.txt', 'B, and mine'));
  assert.deepEqual(reports, [
    { previewIds: ['p1'], end: 'finished', restored: [], leftAlone: ['b.txt'], failed: [] },
  ]);
  assert.deepEqual(world.workspace.snapshot(), { ...applied, 'b.txt': 'B, and mine' });
  assert.equal(world.state('p1'), 'applied');
  assert.deepEqual(world.outcomes(), ['p1 applied']);
  assert.deepEqual(await world.restart(), [], 'once');
});

test('an incomplete apply: a file that holds neither is left alone and reported, every other is restored', async () => {
  const world = await killedAtWrite(4);
  const reports = await world.restart(() => world.workspace.put('b.txt', 'mine'));
  assert.deepEqual(reports, [
    {
      previewIds: ['p1'],
      end: 'rolledBack',
      restored: ['a.txt', 'new.txt'],
      leftAlone: ['b.txt'],
      failed: [],
    },
  ]);
  assert.deepEqual(world.workspace.snapshot(), { ...files, 'b.txt': 'mine' });
  assert.equal(world.state('p1'), 'pending');
});

test('a torn file, too, tells that an apply was incomplete', async () => {
  const [old, next] = ['a'.repeat(10_000), 'A'.repeat(10_000)];
  const world = await killedBeforeTheEnd('ok', [modify('a.txt', old, next), modify('b.txt', 'b', 'B')], {
    'a.txt': old,
    'b.txt': 'b',
  });
  const torn = next.slice(0, 4096) + old.slice(4096);
  const [report] = await world.restart(() => world.workspace.put('a.txt', torn));
  assert.equal(report?.end, 'rolledBack');
  assert.deepEqual(world.workspace.snapshot(), { 'a.txt': old, 'b.txt': 'b' });
});

test('an apply of which no file holds what it was to write is not said to be applied', async () => {
  const world = new World();
  world.stage([modify('b.txt', 'b', 'B')]);
  world.workspace.dieAtWrite(1);
  void world.apply('p1');
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.workspace.put('b.txt', 'mine'));
  assert.deepEqual([report?.end, report?.leftAlone], ['rolledBack', ['b.txt']]);
  assert.deepEqual([world.state('p1'), world.outcomes()], ['pending', []]);
});

test('a rollback that fails is reported as such, and tried again at the next start', async () => {
  const world = await killedAtWrite(3);
  const first = await world.restart(() => world.workspace.failWrite(1));
  const [report] = first;
  assert.equal(report?.end, 'rolledBack');
  assert.deepEqual([report.leftAlone, report.failed.length], [[], 1], 'nobody has changed it since');
  assert.notDeepEqual(world.workspace.snapshot(), files);
  const again = await world.restart();
  assert.deepEqual(again[0]?.restored, report.failed);
  assert.deepEqual(world.workspace.snapshot(), files);
  assert.deepEqual(await world.restart(), [], 'then it is over');
});

test('nothing is undone while it cannot be told what a file holds', async () => {
  const world = await killedBeforeTheEnd();
  const [report] = await world.restart(() => {
    const { workspace } = world;
    const read = workspace.read.bind(workspace);
    workspace.read = path => (path === 'b.txt' ? Promise.reject(new Error('EBUSY')) : read(path));
  });
  assert.deepEqual([report?.end, report?.restored, report?.failed], ['leftAlone', [], ['b.txt']]);
  assert.equal((await world.restart())[0]?.end, 'finished');
  assert.deepEqual(world.workspace.snapshot(), applied);
});

test('where other folders are open, an interrupted apply waits for its own', async () => {
  const world = new World();
  const { roots } = world.workspace;
  const { id } = world.store.stage(draft({ changes, roots })).preview;
  world.workspace.dieAtWrite(2);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const torn = world.workspace.snapshot();
  const paths = ['a.txt', 'b.txt', 'gone.txt', 'new.txt'];
  const reports = await world.restart(() => (world.workspace.roots = [{ name: 'other', fsPath: '/other' }]));
  assert.deepEqual(reports, [
    { previewIds: ['p1'], end: 'leftAlone', restored: [], leftAlone: [], failed: paths },
  ]);
  assert.deepEqual(world.workspace.snapshot(), torn);

  const [report] = await world.restart();
  assert.equal(report?.end, 'rolledBack');
  assert.deepEqual(world.workspace.snapshot(), files);
});

test('previews that are applied together are finished together', async () => {
  const world = new World();
  world.stage([modify('a.txt', 'a', 'A')]);
  const beneath = world.store.get('p1') ?? assert.fail();
  const { id } = world.store.stage(
    draft({ changes: [modify('a.txt', 'A', 'AA')], dependsOn: ['p1'] }),
  ).preview;
  world.log.failAppend(2, Infinity);
  const request = { id, action: 'apply', reason: 'ok', actor: 'human' } as const;
  await world.invoker.resolve({ ...request, chain: { p1: beneath.revision } });
  const reports = await world.restart();
  assert.deepEqual(reports, [
    { previewIds: ['p1', 'p2'], end: 'finished', restored: [], leftAlone: [], failed: [] },
  ]);
  assert.deepEqual(world.outcomes(), ['p1 applied', 'p2 applied']);
});

for (const type of ['resolved', 'commit'])
  test(`an applied preview stays so when the line "${type}" cannot be read`, async () => {
    const world = new World();
    await world.apply(world.stage());
    await world.restart(() => world.damage(type));
    assert.deepEqual(world.workspace.snapshot(), applied);
    assert.equal(world.state('p1'), 'applied');
    assert.deepEqual(world.outcomes(), ['p1 applied']);
  });

test('an applied preview stays so when neither the line of its journal nor that of its end can be read', async () => {
  const world = new World();
  await world.apply(world.stage());
  await world.restart(() => {
    world.damage('resolved');
    world.damage('commit', '{"type":"commit","ids":["p1"');
  });
  assert.equal(world.state('p1'), 'applied');
  assert.deepEqual(world.outcomes(), ['p1 applied']);
  assert.equal(world.store.ledger()[0]?.actor, 'extension', 'nobody knows who it was');
  const [entry = assert.fail()] = world.store.ledger();
  const late = alreadyResolvedText(world.store.get('p1') ?? assert.fail(), 'model', entry);
  for (const text of [outcomeText(entry), late]) {
    assert.match(text, /Redline was interrupted, and found at the next start that this had been applied\./);
    assert.doesNotMatch(text, /extension/, 'it was none');
  }
});

test('an applied preview is not undone when the line of its end cannot be read and a file was changed since', async () => {
  const world = new World();
  await world.apply(world.stage());
  const reports = await world.restart(() => {
    world.damage('resolved');
    world.workspace.put('b.txt', 'mine');
  });
  assert.deepEqual(reports, [
    {
      previewIds: ['p1'],
      end: 'leftAlone',
      restored: [],
      leftAlone: ['a.txt', 'b.txt', 'gone.txt', 'new.txt'],
      failed: [],
    },
  ]);
  assert.deepEqual(world.workspace.snapshot(), { ...applied, 'b.txt': 'mine' });
});

test('a file that kept only its new permission bits is named when the line of the end cannot be read', async () => {
  const world = new World();
  await world.apply(
    world.stage([{ ...modify('a.txt', 'a', 'A'), mode: 0o750 } as FileChange, modify('b.txt', 'b', 'B')]),
  );
  const [report] = await world.restart(() => {
    world.damage('resolved');
    world.workspace.put('a.txt', 'a', 0o750);
  });
  assert.deepEqual(report?.leftAlone, ['a.txt', 'b.txt']);
});

test('an applied preview is not undone when another line and that of its end became one', async () => {
  for (const others of ['stale', 'staged'] as const) {
    const world = new World();
    const id = world.stage();
    const other = world.stage([modify('c.txt', 'c', 'C')]);
    const write = world.workspace.write.bind(world.workspace);
    world.workspace.write = (...written) => {
      world.workspace.write = write;
      if (others === 'stale') void world.store.markStale(other, ['c.txt']);
      else world.stage([modify('c.txt', 'c', 'CC')]);
      return write(...written);
    };
    await world.apply(id);
    await world.restart(() => {
      const [synced = '', end = '', before = ''] = world.log.lines.splice(-3).reverse();
      assert.ok(end.startsWith('{"type":"resolved"') && before.startsWith(`{"type":"${others}"`));
      world.log.lines.push(before + end, synced);
      world.workspace.put('b.txt', 'b'); // as it was before, with git for example
    });
    assert.deepEqual(world.workspace.snapshot(), { ...applied, 'b.txt': 'b' }, others);
  }
});

test('an applied preview is not undone when the line of its end cannot be read and others were applied on top', async () => {
  const world = new World();
  await world.apply(world.stage());
  world.damage('resolved');
  await world.apply(world.stage([modify('a.txt', 'A', 'AA'), remove('new.txt', 'new')]));
  await world.restart();
  assert.deepEqual(world.workspace.snapshot(), { 'a.txt': 'AA', 'b.txt': 'B' });
  assert.deepEqual(world.outcomes(), ['p2 applied', 'p1 applied']);
  assert.equal(world.state('p1'), 'applied');
});

test('a rename that was interrupted is undone if what it renames was deleted by another apply meanwhile', async () => {
  const world = new World();
  const moved = world.stage([rename('a.txt', 'moved.txt', 'a')]);
  const deleted = world.stage([remove('a.txt', 'a')]);
  world.workspace.dieAtWrite(2);
  void world.apply(moved);
  await new Promise(resolve => setImmediate(resolve));
  world.workspace.beforeWrite = undefined;
  await world.applyBeside(deleted);
  const [report] = await world.restart();
  assert.deepEqual([report?.end, report?.restored], ['rolledBack', ['moved.txt']]);
  assert.deepEqual(world.workspace.snapshot(), { 'b.txt': 'b', 'gone.txt': 'gone' });
  assert.deepEqual([world.state(moved), world.state(deleted)], ['pending', 'applied']);
});

test('a rename that died between its new name and its new text is undone', async () => {
  const world = new World();
  const id = world.stage([rename('a.txt', 'moved.txt', 'a', 'A')]);
  world.workspace.dieAtWrite(3);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(world.workspace.snapshot(), { 'moved.txt': 'a', 'b.txt': 'b', 'gone.txt': 'gone' });
  const [report] = await world.restart();
  assert.deepEqual([report?.end, report?.restored], ['rolledBack', ['a.txt', 'moved.txt']]);
  assert.deepEqual(world.workspace.snapshot(), files);
  assert.equal(world.state(id), 'pending');
});

test('an applied preview that was undone stays applied when the line of its end cannot be read', async () => {
  const world = new World();
  await world.apply(world.stage());
  world.damage('resolved');
  await world.apply(world.stage(inverseOf(changes)));
  await world.restart();
  assert.deepEqual(world.workspace.snapshot(), files);
  assert.deepEqual([world.state('p1'), world.state('p2')], ['applied', 'applied']);
});

test('two applied previews, the ends of which cannot be read, are both applied', async () => {
  const world = new World();
  await world.apply(world.stage());
  world.damage('resolved');
  await world.apply(world.stage([modify('a.txt', 'A', 'AA')]));
  await world.restart(() => world.damage('resolved'));
  assert.deepEqual(world.workspace.snapshot(), { ...applied, 'a.txt': 'AA' });
  assert.deepEqual([world.state('p1'), world.state('p2')], ['applied', 'applied']);
});

test('of two previews alike, the one that began to be applied is applied when the line of its end cannot be read', async () => {
  const world = new World();
  const first = world.stage();
  world.stage();
  await world.apply(first);
  await world.restart(() => world.damage('resolved'));
  assert.deepEqual([world.state('p1'), world.state('p2')], ['applied', 'pending']);
  assert.deepEqual(world.outcomes(), ['p1 applied']);
});

test('a line that cannot be read, but is no end of a commit, does not keep an interrupted one from being rolled back', async () => {
  for (const text of ['{"type":"staged","preview":{"id":"p9"', '{"type":"stale","id":']) {
    const world = await killedAtWrite(3);
    await world.restart(() => world.log.lines.push(text));
    assert.deepEqual(world.workspace.snapshot(), files);
  }
});

test('a commit is left alone and reported if what it wrote cannot be read any more', async () => {
  const world = await killedAtWrite(3);
  const before = world.workspace.snapshot();
  assert.deepEqual(await world.restart(() => world.damage('staged')), [
    { previewIds: ['p1'], end: 'leftAlone', restored: [], leftAlone: [], failed: [] },
  ]);
  assert.deepEqual(world.workspace.snapshot(), before);
  assert.equal(world.stage(), 'p2', 'its id is not used again');
});

test('a commit of a revision that cannot be read any more is left alone', async () => {
  const world = new World();
  world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]);
  await world.store.revise('p1', [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'BB')], [], 'user');
  world.workspace.dieAtWrite(2);
  void world.apply('p1');
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.damage('revised'));
  assert.equal(report?.end, 'leftAlone');
  assert.deepEqual(world.workspace.snapshot(), { ...files, 'a.txt': 'A' });
});

test('a preview of which nothing tells that it was being applied is not taken for one that was, once that was looked at', async () => {
  const world = new World();
  world.stage();
  await world.restart(() => world.log.lines.push('\ufffd'));
  assert.deepEqual(world.store.interruptedCommits, []);
  assert.equal(world.state('p1'), 'pending');
});

test('a file whose change was to go into an editor, and is not there, makes the commit a partial one', async () => {
  for (const died of [1, 2, 3]) {
    const world = new World();
    world.workspace.type('b.txt', 'typed');
    const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'typed', 'Typed')]);
    if (died < 3) world.workspace.dieAtWrite(died);
    // The third time, the process dies before the end is recorded.
    else world.log.failAppend(2, Infinity);
    void world.apply(id);
    await new Promise(resolve => setImmediate(resolve));
    // What was typed is gone with the process: on disk is what was saved last.
    const [report] = await world.restart();
    assert.equal(report?.end, 'rolledBack');
    assert.deepEqual(report.leftAlone, ['b.txt']);
    assert.deepEqual(world.workspace.snapshot(), { 'a.txt': 'a', 'b.txt': 'b', 'gone.txt': 'gone' });
    assert.equal(world.state('p1'), 'pending');
    assert.deepEqual(world.outcomes(), []);
  }
});

test('what was saved before an editor with unsaved changes was lost is not taken for a part of the change', async () => {
  const world = new World();
  world.workspace.type('b.txt', 'b typed');
  // As the write of such a change to the disk leaves it, if it is interrupted: the beginning of what was there.
  const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'b typed', 'B')]);
  world.workspace.dieAtWrite(1);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart();
  const end = { end: 'rolledBack', restored: [], leftAlone: ['b.txt'], failed: [] };
  assert.deepEqual(report, { previewIds: [id], ...end });
  assert.deepEqual(world.workspace.snapshot(), files);
});

test('a file whose change went into an editor that is there again counts as written', async () => {
  const world = new World();
  world.workspace.type('b.txt', 'typed');
  const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'typed', 'Typed')]);
  world.log.failAppend(2, Infinity);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.workspace.type('b.txt', 'Typed'));
  assert.equal(report?.end, 'finished');
  assert.equal(world.state('p1'), 'applied');
});

test('an editor that was typed into after it got the change counts as written', async () => {
  const world = new World();
  world.workspace.type('b.txt', 'typed\n2\n3');
  const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'typed\n2\n3', 'Typed\n2\n3')]);
  world.log.failAppend(2, Infinity);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.workspace.type('b.txt', 'Typed\n2\n3 more'));
  assert.deepEqual([report?.end, report?.leftAlone], ['finished', ['b.txt']]);
  assert.equal(world.state('p1'), 'applied');
});

test('an editor from which a part of the change was cut off keeps what it holds', async () => {
  const world = new World();
  const id = world.stage([modify('b.txt', 'b', 'b and more')]);
  world.log.failAppend(2, Infinity);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.workspace.type('b.txt', 'b and'));
  assert.deepEqual(report?.leftAlone, ['b.txt']);
  assert.equal(world.workspace.now('b.txt'), 'b and');
});

test('an editor that was typed into before the change could be written there makes the commit a partial one', async () => {
  const world = new World();
  const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]);
  world.workspace.dieAtWrite(2);
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  const [report] = await world.restart(() => world.workspace.type('b.txt', 'b\ntyped'));
  assert.deepEqual([report?.end, report?.restored, report?.leftAlone], ['rolledBack', ['a.txt'], ['b.txt']]);
  assert.equal(world.workspace.now('b.txt'), 'b\ntyped');
  assert.equal(world.state('p1'), 'pending');
});

for (const [what, now, end] of [
  ['the lines of the change are as before', '1\n2\n3\nmine', 'rolledBack'],
  ['the change is among the lines', '1!\n2\n3\nmine', 'finished'],
  ['the lines of the change hold something else', '1, or not\n2\n3\n4', 'finished'],
] as const)
  test(`a file that others changed tells whether it had been written: ${what}`, async () => {
    const [old, next] = ['1\n2\n3\n4', '1!\n2\n3\n4'];
    const world = new World({ 'a.txt': 'a', 'b.txt': old });
    const id = world.stage([modify('a.txt', 'a', 'A'), modify('b.txt', old, next)]);
    if (end === 'rolledBack') world.workspace.dieAtWrite(2);
    else world.log.failAppend(2, Infinity);
    void world.apply(id);
    await new Promise(resolve => setImmediate(resolve));
    const [report] = await world.restart(() => world.workspace.put('b.txt', now));
    assert.deepEqual([report?.end, report?.leftAlone], [end, ['b.txt']]);
    const a = end === 'finished' ? 'A' : 'a';
    assert.deepEqual(world.workspace.snapshot(), { 'a.txt': a, 'b.txt': now });
    assert.equal(world.state(id), end === 'finished' ? 'applied' : 'pending');
  });

for (const what of ['', ', to which another preview was applied'])
  test(`what kept a change from coming is gone with its editor${what}, and another program changed the file: nothing counts as applied`, async () => {
    const [old, next] = ['1\n2\n3\n4', '1!\n2\n3\n4'];
    const world = new World({ 'a.txt': old, 'b.txt': 'b' });
    const id = world.stage([modify('a.txt', old, next), modify('b.txt', 'b', 'B')]);
    world.workspace.beforeWrite = path => {
      if (path === 'a.txt' && world.workspace.typed(path) === undefined)
        world.workspace.type('a.txt', '1\n2\n3 typed\n4'); // after the journal
      // The rollback never ends.
      return path === 'b.txt' && world.workspace.text('b.txt') === 'B'
        ? new Promise<never>(() => undefined)
        : undefined;
    };
    void world.apply(id);
    await new Promise(resolve => setImmediate(resolve));
    if (what !== '')
      await world.applyBeside(world.stage([modify('a.txt', '1\n2\n3 typed\n4', '1\n2\n3 typed\n4!')]));
    const [report] = await world.restart(() => world.workspace.put('a.txt', '1\n2\n3\n4 mine'));
    assert.deepEqual(
      [report?.end, report?.restored, report?.leftAlone],
      ['rolledBack', ['b.txt'], ['a.txt']],
    );
    assert.deepEqual(world.workspace.snapshot(), { 'a.txt': '1\n2\n3\n4 mine', 'b.txt': 'b' });
    assert.equal(world.state(id), 'pending');
  });

test('what kept a change from coming is beside it, and gone with its editor: nothing counts as applied', async () => {
  const [old, next, cut] = ['1\n2\n3\n4', '1!\n2\n3!\n4', '1\n2\n3\n'];
  const world = new World({ 'a.txt': old, 'b.txt': 'b' });
  const id = world.stage([modify('a.txt', old, next), modify('b.txt', 'b', 'B')]);
  world.workspace.beforeWrite = path => {
    if (path === 'a.txt' && world.workspace.typed(path) === undefined) world.workspace.type('a.txt', cut);
    return path === 'b.txt' && world.workspace.text('b.txt') === 'B'
      ? new Promise<never>(() => undefined)
      : undefined;
  };
  void world.apply(id);
  await new Promise(resolve => setImmediate(resolve));
  await world.applyBeside(world.stage([modify('a.txt', cut, `${cut}4 more`)]));
  const [report] = await world.restart();
  assert.deepEqual([report?.end, report?.restored], ['rolledBack', ['b.txt']]);
  assert.deepEqual(world.workspace.snapshot(), { 'a.txt': old, 'b.txt': 'b' });
  assert.equal(world.state(id), 'pending');
});
