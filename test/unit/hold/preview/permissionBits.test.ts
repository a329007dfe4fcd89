import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { linkTo, sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction, undoBranchAction } from '../../../../src/agent/hold/preview/undo.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { draft } from '../../../support/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const posix = { skip: process.platform === 'win32' ? 'Windows has no permission bits' : false };
const made: TempFolder[] = [];
after(() => Promise.all(made.map(folder => folder.remove())));

/** Applies changes to the files of a real folder; `reload` continues with what the log holds. */
class Bench {
  readonly folder: TempFolder;
  readonly #workspace: DiskWorkspace;
  readonly #log = new MemoryPreviewLog();
  store = new PreviewStore(this.#log, error => assert.fail(String(error)));

  private constructor(folder: TempFolder) {
    this.folder = folder;
    this.#workspace = new DiskWorkspace(folder.root);
    made.push(folder);
  }

  static async create(): Promise<Bench> {
    return new Bench(await TempFolder.create());
  }

  reload(): void {
    this.store = new PreviewStore(this.#log, error => assert.fail(String(error)));
    this.store.restore(this.#log.entries);
  }

  async file(path: string, mode: number, text = 'x'): Promise<void> {
    await this.folder.file(path, text);
    fs.chmodSync(this.folder.at(path), mode);
  }

  mode(path: string): string {
    return (fs.statSync(this.folder.at(path)).mode & 0o7777).toString(8);
  }

  async apply(changes: readonly FileChange[]): Promise<Preview> {
    const { preview } = this.store.stage(draft({ changes }));
    return this.vote(preview.id);
  }

  /** Applies changes that build on each other, each a preview of its own, as one transaction. */
  async applyTogether(all: readonly FileChange[]): Promise<string[]> {
    const ids: string[] = [];
    for (const change of all)
      ids.push(this.store.stage(draft({ changes: [change], dependsOn: ids.slice(-1) })).preview.id);
    await this.vote(ids.at(-1) ?? assert.fail(), Object.fromEntries(ids.slice(0, -1).map(id => [id, 1])));
    return ids;
  }

  /** Text and bits of every file and folder, by path. */
  everything(): Record<string, string> {
    const names = fs.readdirSync(this.folder.root, { recursive: true, encoding: 'utf8' }).sort();
    const textOf = (name: string): string =>
      fs.statSync(this.folder.at(name)).isFile() ? fs.readFileSync(this.folder.at(name), 'utf8') : '/';
    return Object.fromEntries(names.map(name => [name, `${this.mode(name)} ${textOf(name)}`]));
  }

  /** The same without folders: one by one, more of them are made. */
  files(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.everything()).filter(([, held]) => !held.endsWith(' /')));
  }

  async vote(id: string, chain?: Record<string, number>): Promise<Preview> {
    await new Invoker(this.store, this.#workspace, () => 'apply').resolve({
      id,
      action: 'apply',
      reason: 'ok',
      actor: 'human',
      ...(chain && { chain }),
    });
    return this.store.get(id) ?? assert.fail(id);
  }

  /** Stages the undo, and applies it after a reload. Nothing is undone of a branch that leaves all as it was. */
  async undo(...ids: string[]): Promise<Preview | undefined> {
    const previews = ids.map(id => this.store.get(id) ?? assert.fail(id));
    const [only] = previews;
    const action =
      ids.length === 1 && only
        ? undoAction(only)
        : undoBranchAction(previews, this.store.all(), 'revert', 'branch');
    assert.ok(action ?? ids.length > 1, 'nothing to undo');
    if (!action) return undefined;
    const { preview } = this.store.stage(draft({ changes: action.changes ?? [] }));
    this.reload();
    return this.vote(preview.id);
  }
}

test('undoing a delete restores the permission bits, also after a reload', posix, async () => {
  const bench = await Bench.create();
  await bench.file('secret.txt', 0o600);
  await bench.apply([remove('secret.txt', 'x')]);
  bench.reload();
  await bench.undo('p1');
  assert.equal(bench.mode('secret.txt'), '600');
});

test(
  'the bits are those at the moment of the delete, and undo of the undo of it keeps them',
  posix,
  async () => {
    const bench = await Bench.create();
    await bench.file('run.sh', 0o644);
    const { preview } = bench.store.stage(draft({ changes: [remove('run.sh', 'x')] }));
    fs.chmodSync(bench.folder.at('run.sh'), 0o750);
    await bench.vote(preview.id);
    await bench.undo('p1');
    assert.equal(bench.mode('run.sh'), '750');
    fs.chmodSync(bench.folder.at('run.sh'), 0o711);
    await bench.undo('p2');
    await bench.undo('p3');
    assert.equal(bench.mode('run.sh'), '711');
  },
);

test('undoing a creation and then that undo keeps the bits that the user gave the file', posix, async () => {
  const bench = await Bench.create();
  await bench.apply([create('tool', 'x')]);
  fs.chmodSync(bench.folder.at('tool'), 0o755);
  await bench.undo('p1');
  await bench.undo('p2');
  assert.equal(bench.mode('tool'), '755');
});

test('undoing a rename keeps the bits that the file has now', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.apply([rename('a', 'b', 'x')]);
  assert.equal(bench.mode('b'), '600');
  fs.chmodSync(bench.folder.at('b'), 0o640);
  await bench.undo('p1');
  assert.equal(bench.mode('a'), '640');
});

test('a renamed file keeps its bits if a link took its old name and became a file', posix, async () => {
  const bench = await Bench.create();
  await bench.file('run.sh', 0o750);
  const link = linkTo('elsewhere');
  await bench.applyTogether([
    rename('run.sh', 'moved.sh', 'x'),
    { kind: 'create', path: 'run.sh', before: null, after: link },
    { kind: 'modify', path: 'run.sh', before: link, after: sideOfText('y') },
  ]);
  assert.equal(bench.mode('moved.sh'), '750');
});

test('undoing a whole branch restores the bits of what it renamed, edited and deleted', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.apply([rename('a', 'b', 'x')]);
  await bench.apply([modify('b', 'x', 'y')]);
  await bench.file('c', 0o751);
  await bench.apply([remove('c', 'x')]);
  bench.reload();
  await bench.undo('p1', 'p2', 'p3');
  assert.equal(bench.mode('a'), '600');
});

test('undoing a branch restores the bits of a file whose place another one took', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.file('b', 0o755, 'y');
  await bench.apply([rename('a', 'c', 'x')]);
  await bench.apply([rename('b', 'a', 'y')]);
  await bench.undo('p1', 'p2');
  assert.deepEqual([bench.mode('a'), bench.mode('b')], ['600', '755']);
});

test(
  'undoing a preview restores the bits of what it removed first, whatever stood there later',
  posix,
  async () => {
    const bench = await Bench.create();
    await bench.file('a', 0o600);
    await bench.file('b', 0o755, 'y');
    await bench.apply([remove('b', 'y'), rename('a', 'b', 'x'), rename('b', 'a', 'x')]);
    await bench.undo('p1');
    assert.deepEqual([bench.mode('a'), bench.mode('b')], ['600', '755']);
  },
);

test('undoing a preview restores the bits of each file that was at one path', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.file('b', 0o755, 'y');
  await bench.apply([rename('b', 'c', 'y'), rename('a', 'b', 'x'), remove('b', 'x')]);
  await bench.undo('p1');
  assert.deepEqual([bench.mode('a'), bench.mode('b')], ['600', '755']);
});

test('undoing a branch restores the bits of a file that was removed and made again', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.apply([remove('a', 'x')]);
  await bench.apply([create('a', 'x')]);
  await bench.undo('p1', 'p2');
  assert.equal(bench.mode('a'), '600');
});

test('undoing a branch keeps the bits that a file has now which is where it was', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o600);
  await bench.apply([rename('a', 'b', 'x')]);
  await bench.apply([rename('b', 'a', 'x')]);
  await bench.apply([modify('a', 'x', 'y')]);
  fs.chmodSync(bench.folder.at('a'), 0o640);
  await bench.undo('p1', 'p2', 'p3');
  assert.equal(bench.mode('a'), '640');
});

test(
  'a delete and a creation applied as one keep the file, whose bits come back when both are undone',
  posix,
  async () => {
    const bench = await Bench.create();
    await bench.file('a', 0o600);
    const first = bench.store.stage(draft({ changes: [remove('a', 'x')] })).preview;
    const { preview } = bench.store.stage(draft({ changes: [create('a', 'y')], dependsOn: [first.id] }));
    await new Invoker(bench.store, new DiskWorkspace(bench.folder.root), () => 'apply').resolve({
      id: preview.id,
      action: 'apply',
      reason: 'ok',
      actor: 'human',
      chain: { [first.id]: 1 },
    });
    await bench.undo('p2');
    await bench.undo('p1');
    assert.equal(bench.mode('a'), '600');
  },
);

/** What is done to the files `a` and `b`, one thing after the other; what is not possible then is left out. */
const deeds = fc.array(
  fc.record({
    what: fc.constantFrom('rename', 'rename', 'rename', 'remove', 'modify', 'create'),
    from: fc.constantFrom('a', 'b', 'c', 'new/in/c'),
    to: fc.constantFrom('a', 'b', 'c', 'new/in/c'),
  }),
  { minLength: 2, maxLength: 7 },
);

function changesOf(list: typeof deeds extends fc.Arbitrary<infer T> ? T : never, texts: readonly string[]) {
  const held = new Map([
    ['a', texts[0] ?? ''],
    ['b', texts[1] ?? ''],
  ]);
  return list.flatMap(({ what, from, to }, index): FileChange[] => {
    const text = held.get(from);
    if (what === 'create') {
      held.set(`made${index}`, 'made');
      return [create(`made${index}`, 'made')];
    }
    if (text === undefined) return [];
    if (what === 'modify') {
      held.set(from, `${text}!`);
      return [modify(from, text, `${text}!`)];
    }
    if (what === 'rename' && held.has(to)) return [];
    held.delete(from);
    if (what === 'remove') return [remove(from, text)];
    held.set(to, text);
    return [rename(from, to, text)];
  });
}

test(
  'what is applied together leaves the bits that it leaves one by one, and undoing it brings all back',
  posix,
  async () => {
    await fc.assert(
      fc.asyncProperty(deeds, fc.boolean(), async (list, areSame) => {
        const texts = areSame ? ['x', 'x'] : ['x', 'y'];
        const changes = changesOf(list, texts);
        if (changes.length === 0) return;
        const benches = await Promise.all([Bench.create(), Bench.create(), Bench.create()]);
        for (const bench of benches) {
          await bench.file('a', 0o600, texts[0]);
          await bench.file('b', 0o755, texts[1]);
        }
        const [single, together, asOne] = benches;
        const before = single.everything();
        const ids: string[] = [];
        for (const change of changes) ids.push((await single.apply([change])).id);
        const chain = await together.applyTogether(changes);
        await asOne.apply(changes);
        assert.deepEqual(together.files(), single.files());
        assert.deepEqual(asOne.files(), single.files());
        for (const id of chain.toReversed()) await together.undo(id);
        assert.deepEqual(together.everything(), before);
        await asOne.undo('p1');
        assert.deepEqual(asOne.everything(), before);
        await single.undo(...ids);
        assert.deepEqual(single.files(), before);
      }),
      {
        numRuns: 60,
        seed: 7,
        ...(process.env['SEED'] ? { seed: Number(process.env['SEED']), numRuns: 2_000 } : {}),
      },
    );
  },
);

test('a rollback makes the folders that it removed with their bits', posix, async () => {
  const bench = await Bench.create();
  await bench.folder.file('d/x', 'x');
  fs.chmodSync(bench.folder.at('d'), 0o700);
  fs.mkdirSync(bench.folder.at('closed'));
  await bench.folder.file('closed/y', 'y');
  fs.chmodSync(bench.folder.at('closed/y'), 0o644);
  const before = bench.everything();
  // Fails after the folder has made way for the file.
  const changes = [remove('d/x', 'x'), create('d', 'now a file'), create('closed/y/z', 'no folder')];
  await assert.rejects(bench.apply(changes));
  assert.deepEqual(bench.everything(), before);
});

test('what a failed apply made read-only is as it was again', posix, async () => {
  const bench = await Bench.create();
  await bench.file('a', 0o644);
  await bench.file('b', 0o755);
  await bench.file('in/the/way', 0o600);
  const before = bench.everything();
  const changes: FileChange[] = [
    { ...create('new', 'new'), mode: 0o444 } as FileChange,
    { ...modify('a', 'x', 'y'), mode: 0o444 } as FileChange,
    { ...modify('b', 'x', 'x'), mode: 0o500 } as FileChange,
    create('in/the/way/file', 'no folder'),
  ];
  await assert.rejects(bench.apply(changes), /Nothing was changed/);
  assert.deepEqual(bench.everything(), before);
});
