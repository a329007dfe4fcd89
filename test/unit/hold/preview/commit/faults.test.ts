import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import { commitChanges } from '../../../../../src/agent/hold/preview/commit/commitChanges.ts';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { DiskWorkspace, withFaults } from '../../../../support/diskWorkspace.ts';
import { draft } from '../../../../support/drafts.ts';
import { keptMode, snapshotOf } from '../../../../support/snapshot.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

/** A real folder with files of every kind of change, until the end of the test. */
function given(context: TestContext): { root: string; workspace: DiskWorkspace } {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-faults-'));
  context.after(() => fs.promises.rm(root, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text, mode] of files) {
    fs.writeFileSync(path.join(root, name), text);
    fs.chmodSync(path.join(root, name), mode);
  }
  return { root, workspace: new DiskWorkspace(root) };
}

const files: readonly [name: string, text: string, mode: number][] = [
  ['a.txt', 'a', 0o644],
  ['b.txt', 'b', 0o600],
  ['old.sh', 'moved', 0o755],
  ['gone.sh', 'gone', 0o750],
];
const changes: readonly FileChange[] = [
  modify('a.txt', 'a', 'A'),
  create('new/deep/made.txt', 'made'),
  rename('old.sh', 'else/where.sh', 'moved', 'Moved'),
  remove('gone.sh', 'gone'),
  modify('b.txt', 'b', 'B'),
];
const WRITES = 6;
const bits = (mode: number): string => keptMode(mode).toString(8);

test('every kind of change is written, with its permission bits, also by a rename', async context => {
  const { root, workspace } = given(context);
  await commitChanges(workspace, changes);
  assert.deepEqual(snapshotOf(root), {
    'a.txt': `${bits(0o644)} A`,
    'b.txt': `${bits(0o600)} B`,
    'else/where.sh': `${bits(0o755)} Moved`,
    'new/deep/made.txt': `${bits(0o666 & ~process.umask())} made`,
  });
});

const errors: readonly [code: string, text: string][] = [
  ['EACCES', 'EACCES: permission denied'],
  ['ENOSPC', 'ENOSPC: no space left on device'],
];

for (const [code, text] of errors) {
  for (let k = 1; k <= WRITES; k++) {
    test(`${code} at write ${k} of ${WRITES}: bytes, bits and folders are as before, and the error names the file`, async context => {
      const { root, workspace } = given(context);
      const before = snapshotOf(root);
      let count = 0;
      let failing = '';
      const faulty = withFaults(workspace, {
        write: (each, bytes, expected, mode) => {
          if (++count !== k) return workspace.write(each, bytes, expected, mode);
          failing = each;
          throw Object.assign(new Error(text), { code });
        },
      });
      await assert.rejects(commitChanges(faulty, changes), error => {
        assert.ok(error instanceof ToolError);
        assert.equal(error.message, `${failing} could not be written: ${text}. Nothing was changed.`);
        return true;
      });
      assert.deepEqual(snapshotOf(root), before);
    });
  }
}

test('what cannot be tidied up keeps no file from being restored', async context => {
  const { root, workspace } = given(context);
  const before = snapshotOf(root);
  let count = 0;
  const faulty = withFaults(workspace, {
    tidy: () => Promise.reject(new Error('EMFILE: too many open files')),
    write: (each, bytes, expected, mode) => {
      if (++count === WRITES) throw new ToolError('It is read-only');
      return workspace.write(each, bytes, expected, mode);
    },
  });
  await assert.rejects(commitChanges(faulty, [modify('a.txt', 'a', 'A'), ...changes.slice(1)]), ToolError);
  const { 'a.txt': a, 'b.txt': b, 'old.sh': old, 'gone.sh': gone } = snapshotOf(root);
  assert.deepEqual({ 'a.txt': a, 'b.txt': b, 'old.sh': old, 'gone.sh': gone }, before);
});

for (let k = 1; k <= WRITES; k++) {
  test(`after a failure of write ${k} the preview is pending, its error names the file, and it can be applied again`, async context => {
    const { root, workspace } = given(context);
    let count = 0;
    let failing = '';
    const faulty = withFaults(workspace, {
      write: (each, bytes, expected, mode) => {
        if (++count !== k) return workspace.write(each, bytes, expected, mode);
        failing = each;
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      },
    });
    const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
    const invoker = new Invoker(store, faulty, () => 'apply');
    const { id } = store.stage(draft({ changes })).preview;
    const apply = () => invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
    await assert.rejects(apply(), ToolError);
    const { state } = store.get(id) ?? assert.fail();
    assert.ok(state.kind === 'pending' && state.stale.length === 0);
    assert.ok(state.lastError?.startsWith(`${failing} could not be written: ENOSPC`));
    await apply();
    assert.equal(fs.readFileSync(path.join(root, 'new/deep/made.txt'), 'utf8'), 'made');
    assert.equal(store.get(id)?.state.kind, 'applied');
  });
}

for (const name of ['a.txt', 'b.txt', 'old.sh', 'gone.sh']) {
  test(`read-only ${name}: nothing is written, and the error says so`, async context => {
    const { root, workspace } = given(context);
    fs.chmodSync(path.join(root, name), 0o444);
    const before = snapshotOf(root);
    await assert.rejects(
      commitChanges(workspace, changes),
      new RegExp(`^ToolError: ${name} could not be written: ${name} is read-only\\. Nothing was changed\\.$`),
    );
    assert.deepEqual(snapshotOf(root), before);
  });

  test(`${name} turned into a folder: nothing is written`, async context => {
    const { root, workspace } = given(context);
    fs.rmSync(path.join(root, name));
    fs.mkdirSync(path.join(root, name));
    const before = snapshotOf(root);
    await assert.rejects(commitChanges(workspace, changes), error => {
      assert.ok(error instanceof StalePreviewError);
      assert.deepEqual(error.paths, [name]);
      return true;
    });
    assert.deepEqual(snapshotOf(root), before);
  });
}

test('a file where a folder is needed: nothing is written', async context => {
  const { root, workspace } = given(context);
  fs.writeFileSync(path.join(root, 'new'), 'in the way');
  const before = snapshotOf(root);
  await assert.rejects(
    commitChanges(workspace, changes),
    /new\/deep\/made\.txt could not be written: .*Nothing was changed/,
  );
  assert.deepEqual(snapshotOf(root), before);
});

test('a file gives way to a folder of its name, and comes back when a later write fails', async context => {
  const { root, workspace } = given(context);
  const replacing = [
    remove('gone.sh', 'gone'),
    create('gone.sh/inner.txt', 'inner'),
    modify('b.txt', 'b', 'B'),
  ];
  fs.chmodSync(path.join(root, 'b.txt'), 0o400);
  const before = snapshotOf(root);
  await assert.rejects(commitChanges(workspace, replacing), /b\.txt is read-only\. Nothing was changed/);
  assert.deepEqual(snapshotOf(root), before);
  fs.chmodSync(path.join(root, 'b.txt'), 0o600);
  await commitChanges(workspace, replacing);
  assert.match(snapshotOf(root)['gone.sh/inner.txt'] ?? '', /inner$/);
});

test('changes that do not continue each other are not written', async context => {
  const { root, workspace } = given(context);
  const broken = [modify('a.txt', 'a', 'A'), modify('a.txt', 'a', 'other')];
  await assert.rejects(commitChanges(workspace, broken), StalePreviewError);
  assert.equal(fs.readFileSync(path.join(root, 'a.txt'), 'utf8'), 'a');
});

test('a link inside the workspace stays one and its target gets the bytes; removing it is refused', async context => {
  const { root, workspace } = given(context);
  fs.symlinkSync('a.txt', path.join(root, 'link.txt'));
  await commitChanges(workspace, [modify('link.txt', 'a', 'A')]);
  assert.ok(fs.lstatSync(path.join(root, 'link.txt')).isSymbolicLink());
  assert.equal(fs.readFileSync(path.join(root, 'a.txt'), 'utf8'), 'A');
  await assert.rejects(commitChanges(workspace, [remove('link.txt', 'A')]), /symbolic link/);
  assert.equal(fs.readFileSync(path.join(root, 'a.txt'), 'utf8'), 'A');
});

test('a link that leads nowhere is not written through', async context => {
  const { root, workspace } = given(context);
  const outside = path.join(os.tmpdir(), `redline-nowhere-${process.pid}`);
  fs.symlinkSync(outside, path.join(root, 'dangling'));
  await assert.rejects(commitChanges(workspace, [create('dangling', 'x')]), StalePreviewError);
  assert.equal(fs.existsSync(outside), false);
});

const refused: readonly [what: string, input: string, text: RegExp][] = [
  ['..', '../secret.txt', /outside the workspace/],
  ['.. in the middle', 'x/../../secret.txt', /outside the workspace/],
  ['an absolute path', '/etc/passwd', /outside the workspace/],
  ['a link that leads out', 'out/passwd', /outside the workspace through a symbolic link/],
  ['.git', '.git/config', /belongs to git itself/],
  ['.GIT, where case does not count', '.GIT/config', /belongs to git itself/],
  ['a link into .git', 'hidden/config', /leads into git/],
];

for (const [what, input, text] of refused) {
  test(`refused: ${what}`, async context => {
    const { root, workspace } = given(context);
    fs.mkdirSync(path.join(root, '.git'));
    fs.writeFileSync(path.join(root, '.git', 'config'), 'git');
    fs.symlinkSync('/etc', path.join(root, 'out'));
    fs.symlinkSync('.git', path.join(root, 'hidden'));
    await assert.rejects(workspace.resolvePath(input), text);
    if (!input.startsWith('/')) await assert.rejects(commitChanges(workspace, [create(`${input}.new`, 'x')]));
    assert.equal(fs.readFileSync(path.join(root, '.git', 'config'), 'utf8'), 'git');
    assert.deepEqual(fs.readdirSync(path.join(root, '.git')), ['config']);
  });
}

const posix = { skip: process.platform === 'win32' && 'POSIX only' };

test('refused: a pipe', posix, async context => {
  const { root, workspace } = given(context);
  await promisify(execFile)('mkfifo', [path.join(root, 'pipe')]);
  await assert.rejects(workspace.read('pipe'), /not a regular file/);
});

test('refused: a file of 6 MB, a folder', async context => {
  const { root, workspace } = given(context);
  fs.writeFileSync(path.join(root, 'big'), new Uint8Array(6 * 1024 * 1024));
  fs.mkdirSync(path.join(root, 'folder'));
  await assert.rejects(workspace.read('big'), /big is 6\.0 MB; files over 5 MB/);
  await assert.rejects(workspace.read('folder'), /folder is a folder/);
  const huge = create('huge', 'x'.repeat(6 * 1024 * 1024));
  await assert.rejects(commitChanges(workspace, [huge]), /huge/);
  assert.equal(fs.existsSync(path.join(root, 'huge')), false);
});
