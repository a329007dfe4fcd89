import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { after, test } from 'node:test';
import { commitChanges } from '../../../../src/agent/hold/preview/commit/commitChanges.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { recoverCommits } from '../../../../src/agent/hold/preview/commit/recovery.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction, undoBranchAction } from '../../../../src/agent/hold/preview/undo.ts';
import { giveRightsOnDisk, rightsOnDisk } from '../../../../src/views/workspace/fileRights.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { DiskWorkspace, withFaults } from '../../../support/diskWorkspace.ts';
import { draft } from '../../../support/drafts.ts';
import { noSpace } from '../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const folder = await TempFolder.create();
after(() => folder.remove());

const isRoot = process.geteuid?.() === 0;
/** Only root gives files to others; an ordinary user can only give them a list. */
const [OWNER, GROUP] = isRoot ? [1234, 2345] : [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];

function hasLists(): boolean {
  fs.writeFileSync(folder.at('probe'), '');
  return spawnSync('setfacl', ['-m', 'u:1:r', folder.at('probe')]).status === 0;
}
const posix = {
  skip:
    process.platform === 'win32'
      ? 'Windows has other rights'
      : !isRoot && !hasLists()
        ? 'neither another owner nor a list can be given here'
        : false,
};
const lists = hasLists();

/** A file of someone else, with a list where there are lists, and bits that are not those of new files. */
async function foreign(name: string, text: string): Promise<string> {
  const file = await folder.file(name, text);
  fs.chownSync(file, OWNER, GROUP);
  if (lists) execFileSync('setfacl', ['-m', 'u:4567:rw,g:5678:r', file]);
  fs.chmodSync(file, 0o750);
  return rightsOf(name);
}

/** Owner, group, bits and list. */
function rightsOf(name: string): string {
  const { uid, gid, mode } = fs.statSync(folder.at(name));
  const list = lists
    ? execFileSync('getfacl', ['--absolute-names', '--numeric', '--omit-header', folder.at(name)], {
        encoding: 'utf8',
      })
    : '';
  return `${uid} ${gid} ${mode.toString(8)}\n${list}`;
}

class Bench {
  readonly log = new MemoryPreviewLog();
  readonly files: DiskWorkspace;
  store = new PreviewStore(this.log, error => assert.fail(String(error)));

  constructor(files = new DiskWorkspace(folder.root)) {
    this.files = files;
  }

  reload(): void {
    this.store = new PreviewStore(this.log, error => assert.fail(String(error)));
    this.store.restore(this.log.entries);
  }

  async apply(changes: readonly FileChange[]): Promise<string> {
    const { id } = this.store.stage(draft({ changes })).preview;
    await new Invoker(this.store, this.files, () => 'apply').resolve({
      id,
      action: 'apply',
      reason: 'ok',
      actor: 'human',
    });
    assert.equal(this.store.get(id)?.state.kind, 'applied');
    return id;
  }

  /** Undoes a preview, which the log alone remembers. */
  async undo(id: string): Promise<string> {
    this.reload();
    const action = undoAction(this.store.get(id) ?? assert.fail(id));
    return this.apply(action?.changes ?? assert.fail('nothing to undo'));
  }
}

const withoutNames = {
  addName: () => Promise.resolve(false),
};

for (const [how, files] of [
  ['', new DiskWorkspace(folder.root)],
  [' on a disk without hard links', withFaults(new DiskWorkspace(folder.root), withoutNames)],
] as const)
  for (const [what, changed] of [
    ['a rename', 'x\n'],
    ['a rename with other lines', 'x\ny\n'],
  ] as const)
    test(`${what} keeps owner, group, bits and list, and so does its undo${how}`, posix, async () => {
      const bench = new Bench(files);
      const rights = await foreign('old name.txt', 'x\n');
      const id = await bench.apply([rename('old name.txt', 'sub/ä new.txt', 'x\n', changed)]);
      assert.equal(fs.existsSync(folder.at('old name.txt')), false);
      assert.equal(fs.readFileSync(folder.at('sub/ä new.txt'), 'utf8'), changed);
      assert.equal(rightsOf('sub/ä new.txt'), rights);
      const undone = await bench.undo(id);
      assert.equal(fs.readFileSync(folder.at('old name.txt'), 'utf8'), 'x\n');
      assert.equal(rightsOf('old name.txt'), rights);
      await bench.undo(undone);
      assert.equal(rightsOf('sub/ä new.txt'), rights);
      fs.rmSync(folder.at('sub'), { recursive: true });
    });

test('the undo of a delete restores owner, group, bits and list, also after a reload', posix, async () => {
  const bench = new Bench();
  const rights = await foreign('a secret ü$#.txt', 'x\n');
  const other = await foreign('b.txt', 'x\n');
  const id = await bench.apply([remove('a secret ü$#.txt', 'x\n'), remove('b.txt', 'x\n')]);
  await bench.undo(id);
  assert.equal(rightsOf('a secret ü$#.txt'), rights);
  assert.equal(rightsOf('b.txt'), other);
});

test('the undo of a whole turn restores the rights of what it deleted', posix, async () => {
  const bench = new Bench();
  const rights = await foreign('turn.txt', 'x\n');
  await bench.apply([modify('turn.txt', 'x\n', 'y\n')]);
  await bench.apply([remove('turn.txt', 'y\n')]);
  bench.reload();
  const action = undoBranchAction(bench.store.all(), bench.store.all(), 'undo', 'turn');
  await bench.apply(action?.changes ?? assert.fail());
  assert.equal(fs.readFileSync(folder.at('turn.txt'), 'utf8'), 'x\n');
  assert.equal(rightsOf('turn.txt'), rights);
});

test('bits that a renamed file gets are not taken back by its list', posix, async () => {
  const rights = await foreign('bits.sh', 'x\n');
  const chmod: FileChange = { ...modify('run.sh', 'x\n', 'x\n'), kind: 'modify', mode: 0o770 } as FileChange;
  await new Bench().apply([rename('bits.sh', 'run.sh', 'x\n'), chmod]);
  assert.equal(rightsOf('run.sh').split('\n')[0], rights.split('\n')[0]?.replace('100750', '100770'));
});

test('what is rolled back has its rights again, at whichever write the disk is full', posix, async () => {
  for (let n = 1; ; n++) {
    const rights = await foreign('r.txt', 'x\n');
    const gone = await foreign('gone.txt', 'x\n');
    let writes = 0;
    const plain = new DiskWorkspace(folder.root);
    const broken = withFaults(plain, {
      write: (...args) => (++writes === n ? Promise.reject(noSpace()) : plain.write(...args)),
    });
    const changes = [
      create('n.txt', 'n'),
      rename('r.txt', 's.txt', 'x\n', 'x\ny\n'),
      remove('gone.txt', 'x\n'),
    ];
    const isDone = await commitChanges(broken, changes).then(
      () => true,
      () => false,
    );
    if (isDone) break;
    assert.equal(rightsOf('r.txt'), rights, `write ${n}`);
    assert.equal(rightsOf('gone.txt'), gone, `write ${n}`);
    assert.deepEqual([fs.existsSync(folder.at('s.txt')), fs.existsSync(folder.at('n.txt'))], [false, false]);
  }
  assert.equal(fs.readFileSync(folder.at('s.txt'), 'utf8'), 'x\ny\n');
});

test(
  'a process that dies at any write of a rename leaves all or nothing, and the rights',
  posix,
  async () => {
    for (let n = 1; ; n++) {
      const rights = await foreign('d.txt', 'x\n');
      fs.rmSync(folder.at('e.txt'), { force: true });
      let writes = 0;
      const plain = new DiskWorkspace(folder.root);
      const died = Promise.withResolvers<'died'>();
      const dead = (): Promise<never> => {
        died.resolve('died');
        return new Promise<never>(() => undefined);
      };
      const dying = withFaults(plain, {
        write: (...args) => (++writes >= n ? dead() : plain.write(...args)),
        giveRights: given => (writes + 1 >= n ? dead() : plain.giveRights(given)),
      });
      const bench = new Bench(dying);
      const ended = bench.apply([rename('d.txt', 'e.txt', 'x\n', 'x\ny\n')]);
      if ((await Promise.race([ended, died.promise])) !== 'died') break;
      bench.reload();
      const [report] = await recoverCommits(bench.store, plain);
      const name = report?.end === 'finished' ? 'e.txt' : 'd.txt';
      assert.equal(rightsOf(name), rights, `write ${n}`);
      assert.equal(fs.readFileSync(folder.at(name), 'utf8'), name === 'e.txt' ? 'x\ny\n' : 'x\n');
      assert.equal(fs.existsSync(folder.at(name === 'e.txt' ? 'd.txt' : 'e.txt')), false);
    }
  },
);

test('rights that cannot be given are not, and nothing fails for it', async () => {
  const rights = { owner: OWNER, group: GROUP };
  await giveRightsOnDisk({ 'a.txt': rights }, []); // the last folder was closed
  fs.symlinkSync('loop', folder.at('loop'));
  await giveRightsOnDisk({ 'loop/a.txt': rights }, [{ name: 'one', fsPath: folder.root }]);
});

test('a program for lists that does not end holds up no apply', posix, async context => {
  const programs = await TempFolder.create();
  const path = process.env['PATH'];
  context.after(async () => {
    process.env['PATH'] = path;
    await programs.remove();
  });
  fs.writeFileSync(programs.at('getfacl'), '#!/bin/sh\nexec tail -f /dev/null\n', { mode: 0o755 });
  process.env['PATH'] = `${programs.root}:${path}`;
  await folder.file('own', 'x');
  assert.deepEqual(await rightsOnDisk(['own'], [{ name: 'workspace', fsPath: folder.root }], 1), {});
});
