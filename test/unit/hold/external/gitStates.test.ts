import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { stagedEntries, unstage } from '../../../../src/agent/hold/external/applied/gitIndex.ts';
import { misreadName, shownName } from '../../../../src/agent/hold/external/fileNames.ts';
import { placeForeign } from '../../../../src/agent/hold/external/foreignChange.ts';
import { Git } from '../../../../src/agent/hold/external/git.ts';
import { readForeign, type Places } from '../../../../src/agent/hold/external/readForeign.ts';
import { meantBy, readUncommitted } from '../../../../src/agent/hold/external/readUncommitted.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { repositoryPlaces } from '../../../../src/views/review/external/places.ts';
import { textIn } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { GitRepository } from '../../../support/gitRepository.ts';
import { rounds } from '../../../support/rounds.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

function world(root: string): {
  readonly git: Git;
  readonly workspace: DiskWorkspace;
  readonly places: Places;
} {
  const workspace = new DiskWorkspace(root);
  const own = {
    resolvePath: (name: string) => workspace.resolvePath(name),
    pathOf: (name: string) => path.relative(root, name),
    uriOf: (name: string) => ({ fsPath: path.join(root, name) }),
    folders: () => [{ fsPath: root }],
  };
  return { git: new Git(root), workspace, places: repositoryPlaces(root, own as never) };
}

/** What comes of a branch: kind, path and text of the changes, and what is told. */
async function reviewed(root: string, branch: string) {
  const { git, workspace, places } = world(root);
  const base = (await git.mergeBase('HEAD', branch)) ?? assert.fail();
  const read = await readForeign({ git, base, theirs: { commit: branch }, places });
  const placed = await placeForeign(read.files, { workspace, blobs: new MemoryBlobs() });
  assert.deepEqual(placed.conflicts, []);
  return {
    changes: placed.changes.map(({ kind, path, after }) => [kind, path, textIn(after)]),
    leftOut: [...read.leftOut, ...placed.leftOut].map(({ path, why }) => `${shownName(path)}: ${why}`),
  };
}

async function uncommitted(root: string) {
  const { git, workspace, places } = world(root);
  const { files, leftOut } = await readUncommitted(git, await git.uncommitted(), workspace, places);
  return {
    files: files.map(({ path, head, now }) => [path, head?.text ?? null, now?.text ?? null]),
    leftOut: leftOut.map(({ path, why }) => `${shownName(path)}: ${why}`),
  };
}

/** A clone without contents, whose remote is asked by a program that leaves a mark. */
async function partialClone(t: TestContext): Promise<{ readonly root: string; readonly mark: string }> {
  const source = await GitRepository.create(t);
  const many = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');
  const base = source.checkedOut({ 'a.txt': 'a\n', 'moved.txt': many, 'same.txt': 'same\n' });
  const theirs = source.commit(
    { 'a.txt': 'A\n', 'there.txt': `${many}more\n`, 'same.txt': 'same\n', 'new.txt': 'n\n' },
    base,
  );
  source.run(['branch', 'feature', theirs]);
  source.config('uploadpack.allowFilter', 'true');
  const { root } = await TempFolder.create();
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const clone = path.join(root, 'clone');
  execFileSync('git', ['clone', '-q', '--filter=blob:none', `file://${source.folder.root}`, clone]);
  const [program, mark] = [path.join(root, 'program'), path.join(root, 'mark')];
  writeFileSync(program, `#!/bin/sh\n: > '${mark}'\nexec git-upload-pack "$@"\n`);
  chmodSync(program, 0o755);
  execFileSync('git', ['config', 'remote.origin.uploadpack', program], { cwd: clone });
  return { root: clone, mark };
}

test('nothing is fetched in a partial clone: what is missing is told', async t => {
  const { root, mark } = await partialClone(t);
  const { changes, leftOut } = await reviewed(root, 'origin/feature');
  assert.deepEqual(changes, [['delete', 'moved.txt', undefined]]);
  assert.deepEqual(leftOut, ['a.txt: notFetched', 'new.txt: notFetched', 'there.txt: notFetched']);
  writeFileSync(path.join(root, 'a.txt'), 'mine\n');
  assert.deepEqual((await uncommitted(root)).files, [['a.txt', 'a\n', 'mine\n']]);
  assert.equal(existsSync(mark), false, 'a program of the remote has run');
  execFileSync('git', ['cat-file', '-p', 'origin/feature:new.txt'], { cwd: root });
  assert.equal(existsSync(mark), true, 'git itself fetches by that program');
  assert.deepEqual((await reviewed(root, 'origin/feature')).changes.at(-1), ['create', 'new.txt', 'n\n']);
});

const isLinux = process.platform === 'linux' ? {} : { skip: 'names of files are text there' };

test('a name that is not UTF-8 is told, and the file that looks like it is another one', isLinux, async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  repository.checkedOut({ 'a.txt': 'a\n', '\ufffd.txt': 'twin\n' });
  repository.run(['branch', 'before']);
  writeFileSync(
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.txt')]),
    'bytes\n',
  );
  assert.deepEqual(await uncommitted(root), { files: [], leftOut: ['\\xff.txt: path'] });
  const changed = await repository.git.uncommitted();
  const misread = new Set(['\ufffd.txt']);
  assert.equal(misreadName(changed[0]?.path ?? ''), '\ufffd.txt');
  assert.deepEqual(meantBy(misread, changed), {
    meant: [],
    unclear: changed.map(({ path }) => ({ path, why: 'path' })),
  });
  writeFileSync(path.join(root, '\ufffd.txt'), 'TWIN\n');
  const both = await repository.git.uncommitted();
  assert.deepEqual(meantBy(misread, both).meant, [], 'either of them may be meant');
  assert.equal(meantBy(misread, both).unclear.length, 2);
  assert.deepEqual(await uncommitted(root), {
    files: [['\ufffd.txt', 'twin\n', 'TWIN\n']],
    leftOut: ['\\xff.txt: path'],
  });
  repository.run(['add', '-A']);
  repository.run(['commit', '-qm', 'x']);
  repository.run(['branch', 'feature']);
  repository.run(['checkout', '-q', 'before']);
  assert.deepEqual(await reviewed(root, 'feature'), {
    changes: [['modify', '\ufffd.txt', 'TWIN\n']],
    leftOut: ['\\xff.txt: path'],
  });
});

test('files that git is told to take for unchanged are not held back, and announced ones are no longer announced', async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  repository.checkedOut({ 'assumed.txt': '1\n', 'skipped.txt': '2\n', 'here.txt': '3\n' });
  repository.run(['update-index', '--assume-unchanged', 'assumed.txt']);
  repository.run(['update-index', '--skip-worktree', 'skipped.txt', 'here.txt']);
  writeFileSync(path.join(root, 'assumed.txt'), 'mine\n');
  writeFileSync(path.join(root, 'here.txt'), 'mine\n');
  rmSync(path.join(root, 'skipped.txt'));
  writeFileSync(path.join(root, 'announced.txt'), 'new\n');
  repository.run(['add', '-N', 'announced.txt']);
  assert.deepEqual(await uncommitted(root), { files: [['announced.txt', null, 'new\n']], leftOut: [] });
  const [announced] = await repository.git.uncommitted();
  assert.equal(announced?.isStaged, true, 'it is unstaged once it is held back');
  const { program } = repository.git;
  await unstage(program, new Set(['announced.txt']), await stagedEntries(program));
  rmSync(path.join(root, 'announced.txt'));
  assert.deepEqual(await repository.git.uncommitted(), []);
});

test('what a sparse checkout leaves out has not been deleted here', async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  const base = repository.checkedOut({
    'in/a.txt': 'a\n',
    'out/b.txt': 'b\n',
    'out/gone.txt': 'x\n',
    'out/kept.txt': 'k\n',
  });
  repository.run([
    'branch',
    'feature',
    repository.commit({ 'in/a.txt': 'A\n', 'out/b.txt': 'B\n', 'out/kept.txt': 'K\n' }, base),
  ]);
  repository.run(['reset', '-q', '--hard']);
  repository.run(['sparse-checkout', 'set', 'in']);
  assert.equal(existsSync(path.join(root, 'out')), false);
  assert.deepEqual(await uncommitted(root), { files: [], leftOut: [] });
  assert.deepEqual(await reviewed(root, 'feature'), {
    changes: [['modify', 'in/a.txt', 'A\n']],
    leftOut: ['out/b.txt: sparse', 'out/gone.txt: sparse', 'out/kept.txt: sparse'],
  });
});

test('reading takes no lock, and waits for none', async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  repository.checkedOut({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  repository.run(['branch', 'feature', repository.commit({ 'a.txt': 'A\n', 'b.txt': 'b\n' }, 'HEAD')]);
  repository.run(['reset', '-q', '--hard']);
  writeFileSync(path.join(root, 'b.txt'), 'B\n');
  const [index, lock] = ['index', 'index.lock'].map(name => path.join(root, '.git', name)) as [
    string,
    string,
  ];
  writeFileSync(lock, 'held');
  const before = statSync(index, { bigint: true });
  assert.deepEqual((await uncommitted(root)).files, [['b.txt', 'b\n', 'B\n']]);
  assert.deepEqual((await reviewed(root, 'feature')).changes, [['modify', 'a.txt', 'A\n']]);
  assert.equal((await repository.git.changesOnDisk('HEAD')).length, 1);
  assert.equal(statSync(lock).size, 'held'.length);
  const after = statSync(index, { bigint: true });
  assert.deepEqual([after.ino, after.mtimeNs], [before.ino, before.mtimeNs]);
});

test('commits beside the reads fail neither the reads nor themselves', async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  repository.checkedOut({ 'a.txt': '0\n', 'b.txt': 'b\n' });
  writeFileSync(path.join(root, 'b.txt'), 'B\n');
  const run = promisify(execFile);
  let isOver = false;
  const commits = (async () => {
    for (let n = 1; n <= rounds(200, 25); n++) {
      writeFileSync(path.join(root, 'a.txt'), `${n}\n`);
      await run('git', ['commit', '-q', '-m', `${n}`, 'a.txt'], { cwd: root });
    }
  })().finally(() => (isOver = true));
  let reads = 0;
  while (!isOver) {
    const { files, leftOut } = await uncommitted(root);
    assert.deepEqual(
      files.find(([name]) => name === 'b.txt'),
      ['b.txt', 'b\n', 'B\n'],
    );
    assert.deepEqual(
      leftOut.filter(line => !line.startsWith('a.txt')),
      [],
    );
    assert.ok((await repository.git.changesOnDisk('HEAD')).some(({ path }) => path === 'b.txt'));
    reads++;
  }
  await commits;
  assert.ok(reads > 0);
  assert.equal(repository.run(['rev-list', '--count', 'HEAD']).trim(), String(1 + rounds(200, 25)));
});
