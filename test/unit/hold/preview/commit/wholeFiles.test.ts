import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import { MemoryBlobs } from '../../../../../src/agent/hold/preview/blobs.ts';
import { commitChanges } from '../../../../../src/agent/hold/preview/commit/commitChanges.ts';
import { recoverCommits } from '../../../../../src/agent/hold/preview/commit/recovery.ts';
import {
  changeOf,
  isWhole,
  linkTo,
  sideOfText,
  type FileChange,
  type FileSide,
} from '../../../../../src/agent/hold/preview/fileChange.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { inverseOf } from '../../../../../src/agent/hold/preview/undo.ts';
import { draft } from '../../../../support/drafts.ts';
import { DiskWorkspace, withFaults } from '../../../../support/diskWorkspace.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';
import { MemoryPreviewLog, restoredStore } from '../../../../support/testSession.ts';

const blobs = new MemoryBlobs();
const [oldBytes, newBytes] = [Buffer.of(0, 1, 2, 255), Buffer.of(0, 9, 8, 7, 255)];
const kinds = {
  nothing: [null, null],
  text: [sideOfText('old\n'), sideOfText('new\n')],
  link: [linkTo('target.txt'), linkTo('nowhere/else')],
  binary: [await blobs.put(oldBytes), await blobs.put(newBytes)],
} as const;
const names = Object.keys(kinds) as (keyof typeof kinds)[];

async function world(context: TestContext) {
  const folder = await TempFolder.create();
  context.after(() => folder.remove());
  fs.writeFileSync(folder.at('target.txt'), 'the target\n');
  return { folder, workspace: new DiskWorkspace(folder.root) };
}

/** Makes a path hold a side, with bits that only a file has. */
function put(at: string, side: FileSide | null): void {
  fs.rmSync(at, { force: true });
  if (!side) return;
  if ('link' in side) fs.symlinkSync(side.link, at);
  else fs.writeFileSync(at, 'text' in side ? side.text : oldBytes, { mode: 0o750 });
}

/** Every file and link below a folder, with its bits. */
function listed(root: string): Record<string, string> {
  const all = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  const one = (at: string): string => {
    const stat = fs.lstatSync(at);
    if (stat.isSymbolicLink()) return `→ ${fs.readlinkSync(at)}`;
    return `${(stat.mode & 0o777).toString(8)} ${fs.readFileSync(at, 'latin1')}`;
  };
  return Object.fromEntries(
    all
      .filter(entry => !entry.isDirectory())
      .map(entry => path.join(entry.parentPath, entry.name))
      .map(at => [path.relative(root, at), one(at)]),
  );
}

function shownSide(side: FileSide | null): string | undefined {
  if (!side) return undefined;
  if ('link' in side) return `→ ${side.link}`;
  return 'text' in side ? side.text : newBytes.toString('latin1');
}

for (const from of names) {
  for (const to of names) {
    const [before, after] = [kinds[from][0], kinds[to][1]];
    const change = changeOf('it', before, after);
    if (!change || !isWhole(change)) continue;

    test(`${from} becomes ${to}: it is written as it is shown, and undone with its bits; nothing is written through a link`, async context => {
      const { folder, workspace } = await world(context);
      put(folder.at('it'), before);
      const found = listed(folder.root);
      let rollback = {};
      await commitChanges(workspace, [change], async info => void (rollback = info), blobs);
      const now = listed(folder.root);
      assert.equal(now['target.txt'], found['target.txt']);
      const it = now['it'];
      const shown = shownSide(after);
      assert.ok(shown === undefined ? it === undefined : it?.endsWith(shown), `${it} instead of ${shown}`);
      assert.deepEqual(
        Object.keys(now).filter(name => name.endsWith('.tmp')),
        [],
      );
      await commitChanges(workspace, inverseOf([change], rollback), undefined, blobs);
      assert.deepEqual(listed(folder.root), found);
    });

    test(`${from} becomes ${to}: anything else that stands there is left alone`, async context => {
      const { folder, workspace } = await world(context);
      for (const other of [null, sideOfText('other'), linkTo('other'), linkTo('target.txt')]) {
        if (other?.hash === before?.hash) continue;
        put(folder.at('it'), other);
        const found = listed(folder.root);
        await assert.rejects(commitChanges(workspace, [change], undefined, blobs), StalePreviewError);
        assert.deepEqual(listed(folder.root), found);
      }
    });

    test(`${from} becomes ${to}: a failure of another file, and a crash before or after the write, are rolled back or finished`, async context => {
      const { folder, workspace } = await world(context);
      put(folder.at('it'), before);
      fs.writeFileSync(folder.at('z.txt'), 'z');
      const found = listed(folder.root);
      const changes: FileChange[] = [
        change,
        { kind: 'modify', path: 'z.txt', before: sideOfText('z'), after: sideOfText('Z') },
      ];
      const failing = withFaults(workspace, {
        write: () => Promise.reject(new Error('ENOSPC')),
      });
      await assert.rejects(commitChanges(failing, changes, undefined, blobs), /Nothing was changed/);
      assert.deepEqual(listed(folder.root), found);

      for (const written of ['nothing', 'it', 'all'] as const) {
        put(folder.at('it'), before);
        fs.writeFileSync(folder.at('z.txt'), 'z');
        const log = new MemoryPreviewLog();
        const store = restoredStore(log, () => undefined, { blobs });
        const { id } = store.stage(draft({ changes })).preview;
        const dead = Promise.withResolvers<void>();
        const die = (): Promise<never> => {
          dead.resolve();
          return new Promise(() => undefined);
        };
        const dying = withFaults(workspace, {
          ...(written === 'all' ? {} : { write: die }),
          ...(written === 'nothing' ? { replace: die } : {}),
        });
        if (written === 'all') log.failAppend(2, Infinity);
        const applied = new Invoker(store, dying, () => 'apply').resolve({
          id,
          action: 'apply',
          reason: 'ok',
          actor: 'human',
        });
        if (written === 'all') await applied;
        else await dead.promise;
        const reopened = restoredStore(new MemoryPreviewLog([...log.lines]), undefined, { blobs });
        const [report] = await recoverCommits(reopened, workspace);
        assert.equal(report?.end, written === 'all' ? 'finished' : 'rolledBack', written);
        assert.equal(reopened.get(id)?.state.kind, written === 'all' ? 'applied' : 'pending');
        if (written !== 'all') assert.deepEqual(listed(folder.root), found, written);
        else assert.equal(fs.readFileSync(folder.at('z.txt'), 'utf8'), 'Z');
      }
    });
  }
}

test('a folder gives way to a link, and a link to a folder, and both are undone', async context => {
  const { folder, workspace } = await world(context);
  fs.mkdirSync(folder.at('real'));
  fs.writeFileSync(folder.at('real/x'), 'behind the link');
  fs.mkdirSync(folder.at('dir'));
  fs.writeFileSync(folder.at('dir/x'), 'x');
  const found = listed(folder.root);
  const toLink: FileChange[] = [
    { kind: 'delete', path: 'dir/x', before: sideOfText('x'), after: null },
    { kind: 'create', path: 'dir', before: null, after: linkTo('real') },
  ];
  let rollback = {};
  await commitChanges(workspace, toLink, async info => void (rollback = info));
  assert.equal(fs.readlinkSync(folder.at('dir')), 'real');
  const linked = listed(folder.root);
  const back = inverseOf(toLink, rollback);
  let again = {};
  await commitChanges(workspace, back, async info => void (again = info));
  assert.deepEqual(listed(folder.root), found);
  assert.ok(fs.lstatSync(folder.at('dir')).isDirectory());
  await commitChanges(workspace, inverseOf(back, again));
  assert.deepEqual(listed(folder.root), linked);

  const failing = withFaults(workspace, {
    write: () => Promise.reject(new Error('ENOSPC')),
  });
  await assert.rejects(commitChanges(failing, back), /Nothing was changed/);
  assert.deepEqual(listed(folder.root), linked);
});

test('nothing is written below what becomes a link', async context => {
  const { folder, workspace } = await world(context);
  const outside = await TempFolder.create();
  context.after(() => outside.remove());
  const changes: FileChange[] = [
    { kind: 'create', path: 'dir', before: null, after: linkTo(outside.root) },
    { kind: 'create', path: 'dir/x', before: null, after: sideOfText('x') },
  ];
  await assert.rejects(commitChanges(workspace, changes), /dir becomes a symbolic link/);
  assert.deepEqual(Object.keys(listed(folder.root)), ['target.txt']);
  assert.deepEqual(fs.readdirSync(outside.root), []);
});

test('a binary file whose content is gone is not written, and neither is anything else', async context => {
  const { folder, workspace } = await world(context);
  const gone = { hash: 'f'.repeat(64), size: 3 };
  const changes: FileChange[] = [
    { kind: 'create', path: 'a.txt', before: null, after: sideOfText('a') },
    { kind: 'create', path: 'b.bin', before: null, after: gone },
  ];
  await assert.rejects(
    commitChanges(workspace, changes, undefined, blobs),
    /Nothing was written: b\.bin cannot be written: the content of the binary file .* is gone/,
  );
  assert.deepEqual(Object.keys(listed(folder.root)), ['target.txt']);
});

test('bits that were not set before a crash are not taken for written', async context => {
  const { folder, workspace } = await world(context);
  const side = sideOfText('the target\n');
  fs.chmodSync(folder.at('target.txt'), 0o644);
  const change: FileChange = { kind: 'modify', path: 'target.txt', before: side, after: side, mode: 0o755 };
  const log = new MemoryPreviewLog();
  const store = restoredStore(log);
  const { id } = store.stage(draft({ changes: [change] })).preview;
  const dead = Promise.withResolvers<void>();
  const dying = withFaults(workspace, {
    write: () => {
      dead.resolve();
      return new Promise(() => undefined);
    },
  });
  void new Invoker(store, dying, () => 'apply').resolve({
    id,
    action: 'apply',
    reason: 'ok',
    actor: 'human',
  });
  await dead.promise;
  const reopened = restoredStore(new MemoryPreviewLog([...log.lines]));
  const [report] = await recoverCommits(reopened, workspace);
  assert.equal(report?.end, 'rolledBack');
  assert.equal(reopened.get(id)?.state.kind, 'pending');
});
