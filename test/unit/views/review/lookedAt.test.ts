import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { LookedAt } from '../../../../src/views/review/lookedAt.ts';
import type { VisibleChange } from '../../../../src/views/review/shownRevisions.ts';
import { create, modify, remove, textIn } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

/** A store, editors that the test fills, and the memory of a workspace. */
class World {
  readonly store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  readonly invoker = new Invoker(this.store, new MemoryWorkspace({}), () => 'apply');
  readonly appeared = new Emitter<void>();
  readonly stored = new Map<string, unknown>();
  readonly memory = {
    get: (key: string) => this.stored.get(key),
    update: async (key: string, value: unknown) => void this.stored.set(key, structuredClone(value)),
  };
  #visible: readonly VisibleChange[] = [];
  #looks: LookedAt | undefined;

  /** The marks of the window, or after a reload those of the next one. */
  open(): LookedAt {
    this.#looks?.dispose();
    this.#visible = [];
    const shown = { visible: () => this.#visible, onDidShow: this.appeared.event };
    const logger = { error: (text: string) => assert.fail(text) };
    this.#looks = new LookedAt({ store: this.store, logger } as never, shown as never, this.memory as never);
    return this.#looks;
  }

  stage(...paths: string[]): string {
    return this.store.stage(draft({ changes: paths.map(path => create(path, 'x')) })).preview.id;
  }

  get(id: string): Preview {
    return this.store.get(id) ?? assert.fail(`${id} is in the store`);
  }

  show(
    id: string,
    ...[how, ...others]: [how?: Pick<VisibleChange, 'lines'> | string, ...paths: string[]]
  ): void {
    const lines = typeof how === 'object' ? how : {};
    const paths = typeof how === 'string' ? [how, ...others] : others;
    const preview = this.get(id);
    const changes = preview.changes?.filter(({ path }) => paths.includes(path)) ?? [];
    this.#visible = changes.map(change => ({ preview, change, ...lines }));
    this.appeared.fire();
  }
}

test('a file counts as looked at once its diff was visible, and stays so when it is no longer', () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a', 'b', 'c');
  assert.equal(looks.count(world.get(id)), 0);
  world.show(id, 'a');
  world.show(id, 'b');
  assert.equal(looks.count(world.get(id)), 2);
  world.show(id, 'c');
  world.show(id);
  assert.equal(looks.count(world.get(id)), 3);
});

test('what comes into view and goes out of it is no news of marks', () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a');
  world.show(id, 'a');
  let marks = 0;
  looks.onDidChange(() => marks++);
  world.show(id);
  world.show(id, 'a');
  assert.equal(marks, 0);
  looks.mark(world.get(world.stage('b')));
  assert.equal(marks, 1);
});

test('a file counts once each of its hunks was in view for a second, at whatever time; scrolling past does not', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const world = new World();
  const looks = world.open();
  const text = Array.from({ length: 100 }, (_, n) => `${n}\n`).join('');
  const after = text.replace('5\n', 'five\n').replace('90\n', 'ninety\n');
  const { id } = world.store.stage(draft({ changes: [modify('a', text, after)] })).preview;
  const wait = async (milliseconds: number): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
    now += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
  world.show(id, { lines: [{ start: 0, end: 20 }] }, 'a');
  await wait(1_000);
  await wait(1_000);
  assert.equal(looks.count(world.get(id)), 0, 'the second hunk was not in view');
  world.show(id, { lines: [{ start: 80, end: 99 }] }, 'a');
  await wait(500);
  world.show(id, { lines: [{ start: 40, end: 60 }] }, 'a');
  await wait(2_000);
  assert.equal(looks.count(world.get(id)), 0, 'the second hunk was in view too shortly');
  world.show(id, { lines: [{ start: 80, end: 99 }] }, 'a');
  await wait(1_000);
  assert.equal(looks.count(world.get(id)), 1);
});

for (const [kind, change] of [
  ['new', create('a', 'x\n'.repeat(1_000))],
  ['deleted', remove('a', 'x\n'.repeat(1_000))],
] as const)
  test(`a ${kind} file of many windows counts once all of it was in view`, async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const world = new World();
    const looks = world.open();
    const { id } = world.store.stage(draft({ changes: [change] })).preview;
    for (let start = 0; start < 1_000; start += 40) {
      world.show(id, { lines: [{ start, end: start + 39 }] }, 'a');
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
      assert.equal(looks.count(world.get(id)), 0, `what is below line ${start} was not in view`);
      now += 1_000;
      t.mock.timers.tick(1_000);
    }
    assert.equal(looks.count(world.get(id)), 1);
  });

test('what is below the window does not count, but can be marked by hand', async () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a', 'b', 'c');
  world.show(id, { lines: [] }, 'a', 'b', 'c');
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
  assert.equal(looks.count(world.get(id)), 0);
  looks.mark(world.get(id), 'b');
  assert.equal(looks.count(world.get(id)), 1);
  looks.mark(world.get(id));
  assert.equal(looks.count(world.get(id)), 3);
});

test('a revision that changes a file makes it one that was not looked at; the others keep their marks', async () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a', 'b');
  world.show(id, 'a', 'b');
  world.show(id);
  await world.store.revise(id, [create('a', 'other'), create('b', 'x')], [], 'rebase');
  const [a, b] = world.get(id).changes ?? [];
  assert.equal(looks.has(world.get(id), a), false);
  assert.equal(looks.has(world.get(id), b), true);
  world.show(id, 'a');
  assert.equal(looks.count(world.get(id)), 2);
});

test('what no editor shows as it is now is not marked', async () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a');
  world.show(id, 'a');
  await world.store.revise(id, [create('a', 'other')], [], 'rebase');
  assert.equal(looks.count(world.get(id)), 0);
});

test('marks survive a reload, and those of resolved previews are dropped', async () => {
  const world = new World();
  const before = world.open();
  const [kept, applied, later] = [world.stage('a', 'b'), world.stage('c'), world.stage('d')];
  world.show(kept, 'a');
  world.show(applied, 'c');
  world.show(later, 'd');
  await world.invoker.resolve({ id: applied, action: 'apply', reason: 'test', actor: 'human' });
  await before.flush();
  assert.deepEqual(Object.keys(world.stored.get('redline.lookedAt') ?? {}), [kept, later]);
  await world.invoker.resolve({ id: later, action: 'discard', reason: 'test', actor: 'human' });
  // The window closed before that was stored.
  const after = world.open();
  assert.equal(after.count(world.get(kept)), 1);
  await after.flush();
  assert.deepEqual(Object.keys(world.stored.get('redline.lookedAt') ?? {}), [kept]);
});

test('a limited number of marks is stored, the newest', async () => {
  const world = new World();
  const looks = world.open();
  const paths = Array.from({ length: 3_000 }, (_, n) => `${n}`);
  const [old, recent] = [world.stage(...paths), world.stage(...paths)];
  for (const id of [old, recent]) world.show(id, ...paths);
  await looks.flush();
  const stored = Object.entries(world.stored.get('redline.lookedAt') ?? {}) as [string, string[]][];
  assert.deepEqual(
    stored.map(([id, marks]) => [id, marks.length]),
    [
      [old, 2_000],
      [recent, 3_000],
    ],
  );
});

for (const bad of [7, 'x', [], { p1: 'x' }, { p1: [7] }, { p1: null }, null])
  test(`marks that are stored as ${JSON.stringify(bad)} are none`, () => {
    const world = new World();
    const id = world.stage('a');
    world.stored.set('redline.lookedAt', bad);
    const looks = world.open();
    assert.equal(looks.count(world.get(id)), 0);
    world.show(id, 'a');
    assert.equal(looks.count(world.get(id)), 1);
  });

test('a revision offers what was seen before it, until a later one is looked at; untouched files keep their mark', async () => {
  const world = new World();
  const looks = world.open();
  const id = world.stage('a', 'b');
  const changeOf = (path: string) => world.get(id).changes?.find(each => each.path === path) ?? assert.fail();
  const before = (path: string) => textIn(looks.seenBefore(world.get(id), changeOf(path))?.after);
  const revise = (text: string) => world.store.revise(id, [create('a', text), changeOf('b')], [], 'user');
  await revise('never seen');
  assert.equal(before('a'), undefined);
  world.show(id, 'a', 'b');
  world.show(id, 'b');
  const seen = (path: string) => looks.has(world.get(id), changeOf(path));
  looks.mark(world.get(id));
  await revise('second');
  assert.deepEqual([seen('a'), seen('b')], [false, true]);
  assert.deepEqual([before('a'), before('b')], ['never seen', undefined]);
  await revise('third');
  assert.equal(before('a'), 'never seen');
  looks.mark(world.get(id));
  assert.equal(before('a'), 'never seen', 'it stays while one looks');
  await revise('fourth');
  assert.equal(before('a'), 'third');
});
