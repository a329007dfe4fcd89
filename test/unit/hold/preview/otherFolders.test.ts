/** Previews are applied only where they were shown: the folders of the window may change while they are pending. */
import * as path from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../../src/agent/base/localiser.ts';
import { ToolError } from '../../../../src/agent/base/errors.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { reopenAction, undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import type { FolderRoot } from '../../../../src/agent/hold/preview/workspace.ts';
import { formerPlaces } from '../../../../src/views/workspace/workspacePaths.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { Gate } from '../../../support/gate.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog, restoredStore } from '../../../support/testSession.ts';

const app: FolderRoot = { name: 'app', fsPath: path.resolve('/code/app') };
const lib: FolderRoot = { name: 'lib', fsPath: path.resolve('/code/lib') };
const MOVED = `lib/src/new.ts was ${path.resolve('/code/lib/src/new.ts')} when this was proposed. That folder is not open any more, or has another name.`;

class World {
  readonly workspace = new MemoryWorkspace();
  readonly log = new MemoryPreviewLog();
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly rebaser: Rebaser;

  constructor(...roots: FolderRoot[]) {
    this.workspace.roots = roots;
    this.store = new PreviewStore(this.log, error => assert.fail(String(error)));
    this.invoker = new Invoker(this.store, this.workspace, () => 'apply');
    this.rebaser = new Rebaser({ store: this.store, workspace: this.workspace, logger: silentLogger });
  }

  stage(changes: readonly FileChange[]): Preview {
    const { store, invoker } = this;
    const action = { label: 'Edit', sourceToolName: 'test', changes };
    const host = { store, invoker, overlay: new Overlay(store), l10n: english };
    return queueResolveHandler(host, action, null).preview;
  }

  /** Other folders are open from now on, and Redline hears of it. */
  async open(...roots: FolderRoot[]): Promise<void> {
    this.workspace.roots = roots;
    await this.rebaser.refresh(this.store.list('oldestFirst').map(({ id }) => id));
  }

  readonly apply = (id: string) =>
    this.invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });

  now(id: string): Preview {
    return this.store.get(id) ?? assert.fail(`no preview ${id}`);
  }

  stale(id: string): readonly string[] {
    const { state } = this.now(id);
    return state.kind === 'pending' ? state.stale : assert.fail(state.kind);
  }
}

const cases: readonly [
  title: string,
  path: string,
  before: FolderRoot[],
  now: FolderRoot[],
  place?: string,
][] = [
  ['the same folders', 'lib/a.ts', [app, lib], [app, lib]],
  ['another folder was added', 'lib/a.ts', [app, lib], [app, lib, { name: 'x', fsPath: '/x' }]],
  ['a second folder was added', 'a.ts', [app], [app, lib]],
  ['the order changed', 'lib/a.ts', [app, lib], [lib, app]],
  ['the only folder was replaced', 'a.ts', [app], [lib], path.resolve('/code/app/a.ts')],
  ['its folder was closed', 'lib/a.ts', [app, lib], [app], path.resolve('/code/lib/a.ts')],
  ['the other folder was closed', 'app/a.ts', [app, lib], [app], path.resolve('/code/app/a.ts')],
  ['all folders were closed', 'a.ts', [app], [], path.resolve('/code/app/a.ts')],
  [
    'its folder has another name',
    'lib/a.ts',
    [app, lib],
    [app, { ...lib, name: 'Lib' }],
    path.resolve('/code/lib/a.ts'),
  ],
  [
    'another folder has its name',
    'lib/a.ts',
    [app, lib],
    [app, { ...app, name: 'lib' }],
    path.resolve('/code/lib/a.ts'),
  ],
];
for (const [title, path, before, now, place] of cases)
  test(`where a path led, when ${title}`, () => {
    assert.equal(formerPlaces([path], before, now).get(path), place);
  });

for (const [isSame, place] of [
  [true, undefined],
  [false, path.resolve('/code/app/a.ts')],
] as const)
  test(`where a path led, when its folder is spelled in another case, which is ${isSame ? 'the same' : 'another'} folder`, () => {
    assert.equal(
      formerPlaces(['a.ts'], [app], [{ ...app, fsPath: '/Work/app' }], () => isSame).get('a.ts'),
      place,
    );
  });

test('a new file is not created in another folder when its own was closed, but is once it is open again', async () => {
  const world = new World(app, lib);
  const { id } = world.stage([create('lib/src/new.ts', 'new\n')]);
  world.workspace.roots = [app];
  await assert.rejects(
    world.apply(id),
    new ToolError(`Nothing was written: ${MOVED}`, {
      advice: 'Ask the user to open it as before, or discard this preview.',
    }),
  );
  assert.deepEqual(world.workspace.snapshot(), {});

  await world.open(app);
  assert.deepEqual(world.stale(id), ['lib/src/new.ts']);
  await assert.rejects(world.rebaser.rebaseNow(id), new ToolError(MOVED));
  assert.equal(world.now(id).revision, 1);

  await world.open(app, lib);
  assert.deepEqual(world.stale(id), []);
  await world.apply(id);
  assert.deepEqual(world.workspace.snapshot(), { 'lib/src/new.ts': 'new\n' });
});

test('a change is not moved to the file of the same name in another folder', async () => {
  const world = new World(app);
  world.workspace.put('a.txt', 'one\n\n\ntwo\n');
  const { id } = world.stage([modify('a.txt', 'one\n\n\ntwo\n', 'ONE\n\n\ntwo\n')]);
  world.workspace.put('a.txt', 'one\n\n\nTWO\n');
  await world.open(lib);
  assert.deepEqual(world.stale(id), ['a.txt']);
  assert.equal(world.now(id).revision, 1);
});

test('an undo, a proposal that is opened again and a part are for the folders of their original', async () => {
  const world = new World(app);
  const changes = [create('a.txt', 'a'), create('b.txt', 'b')];
  const { id } = world.stage(changes);
  world.workspace.roots = [lib];
  await resolvePart(
    world,
    { id, revision: 1, action: 'discard', reason: 'no', actor: 'human' },
    { path: 'a.txt' },
  );
  const part = world.now('p2');
  assert.deepEqual(part.roots, [app]);
  assert.deepEqual(reopenAction(part)?.roots, [app]);

  world.workspace.roots = [app];
  await world.apply(id);
  assert.deepEqual(undoAction(world.now(id))?.roots, [app]);
});

test('after a reload a preview still knows its folders, and one of an older version is applied as before', async () => {
  const world = new World(app);
  const { id } = world.stage([create('a.txt', 'a')]);
  const old = new PreviewStore(world.log, error => assert.fail(String(error)), {
    numbers: { next: () => 2 },
  });
  old.stage(draft({ changes: [create('b.txt', 'b')] }));
  const store = restoredStore(world.log);
  assert.deepEqual(store.get(id)?.roots, [app]);
  assert.equal(store.get('p2')?.roots, undefined);
  world.workspace.roots = [lib];
  const invoker = new Invoker(store, world.workspace, () => 'apply');
  const vote = { action: 'apply', reason: 'ok', actor: 'human' } as const;
  await assert.rejects(
    invoker.resolve({ ...vote, id }),
    /a\.txt was \S*[\\/]code[\\/]app[\\/]a\.txt when this was proposed/,
  );
  await invoker.resolve({ ...vote, id: 'p2' });
  assert.deepEqual(world.workspace.snapshot(), { 'b.txt': 'b' });
});

for (const during of ['the sync of an earlier one', 'the flush of its journal'] as const)
  test(`an apply writes nothing if its folder is closed during ${during}`, async () => {
    const world = new World(app, lib);
    const { workspace, log, store, apply } = world;
    workspace.put('lib/src/a.ts', 'a');
    const gate = new Gate();
    if (during === 'the sync of an earlier one') {
      const first = world.stage([modify('lib/src/a.ts', 'a', 'b')]).id;
      workspace.sync = () => gate.pass().then(() => new Map());
      await apply(first);
    } else {
      workspace.put('lib/src/a.ts', 'b');
      log.flush = () => gate.pass();
    }
    const { id } = world.stage([modify('lib/src/a.ts', 'b', 'c'), create('lib/src/new.ts', 'new')]);
    const applied = apply(id);
    await gate.reached;
    workspace.roots = [app, { name: 'lib', fsPath: path.resolve('/other/lib') }];
    gate.open();
    await assert.rejects(applied, /was .* when this was proposed/);
    assert.equal(workspace.text('lib/src/a.ts'), 'b');
    assert.equal(store.get(id)?.state.kind, 'pending');
    assert.deepEqual(store.interruptedCommits, []);
  });
