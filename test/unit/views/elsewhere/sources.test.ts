import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { PathError } from '../../../../src/agent/base/errors.ts';
import type { GitChange, GitRepository } from '../../../../src/views/elsewhere/gitApi.ts';
import { patchPlaces, repositoryPlaces } from '../../../../src/views/elsewhere/places.ts';
import {
  changedPaths,
  changedTypes,
  commitSnapshot,
  diskSnapshot,
} from '../../../../src/views/elsewhere/snapshots.ts';
import { resolvePath } from '../../../../src/views/workspace/workspacePaths.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

async function tempFolder(t: TestContext): Promise<string> {
  const { root } = await TempFolder.create();
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  return root;
}

/** A workspace with this folder, of which only paths matter. */
function workspaceAt(folder: string) {
  const roots = [{ name: 'work', fsPath: folder }];
  return {
    resolvePath: (input: string) => Promise.resolve().then(() => resolvePath(input, roots)),
    uriOf: (relative: string) => ({ fsPath: path.join(folder, relative) }) as never,
    folders: () => roots.map(root => ({ ...root, exclude: [] })),
  };
}

const refused = (code: PathError['code']) => (error: unknown) =>
  error instanceof PathError && error.code === code;

test('a repository may be larger than the workspace folder: what is beside it is outside', async t => {
  const root = await tempFolder(t);
  fs.mkdirSync(path.join(root, 'app'));
  const places = repositoryPlaces(root, workspaceAt(path.join(root, 'app')));
  assert.equal(await places.resolve('app/a.ts'), 'a.ts');
  await assert.rejects(places.resolve('lib/a.ts'), refused('outside'));
  await assert.rejects(places.resolve('app/.git/config'), refused('protected'));
});

test('a folder that was opened by a link is the folder of the repository', async t => {
  const root = await tempFolder(t);
  fs.mkdirSync(path.join(root, 'real'));
  fs.symlinkSync(path.join(root, 'real'), path.join(root, 'link'));
  const places = repositoryPlaces(path.join(root, 'real'), workspaceAt(path.join(root, 'link')));
  assert.equal(await places.resolve('src/a.ts'), 'src/a.ts');
});

test('names of a patch count from the repository, then from the folder, and never lead out of them', async t => {
  const root = await tempFolder(t);
  const folder = path.join(root, 'app');
  fs.mkdirSync(folder);
  fs.symlinkSync('a.ts', path.join(folder, 'link.ts'));
  const places = patchPlaces(root, workspaceAt(folder));
  assert.deepEqual(await places.resolve('app/a.ts'), ['a.ts', 'app/a.ts']);
  assert.deepEqual(await places.resolve('a.ts'), ['a.ts']);
  assert.deepEqual(await places.resolve(path.join(folder, 'a.ts')), ['a.ts']);
  await assert.rejects(places.resolve('app/../../x.ts'), refused('outside'));
  const inner = patchPlaces(path.join(folder, 'sub'), workspaceAt(folder));
  assert.deepEqual(await inner.resolve('a.ts'), ['sub/a.ts', 'a.ts']);
  await assert.rejects(inner.resolve('../b.ts'), refused('outside'));
  await assert.rejects(places.resolve('/etc/passwd'), refused('outside'));
  assert.equal(await places.isLink('link.ts'), true);
  assert.equal(await places.isLink('none.ts'), false);
});

const change = (to: string, from = to): GitChange => {
  const uri = (name: string) => ({ fsPath: `/repo/${name}` }) as never;
  return { uri: uri(to), originalUri: uri(from), renameUri: from === to ? undefined : uri(to) };
};

test('each changed path once; the source of a rename is part of it', () => {
  const changes = [change('a.ts'), change('a.ts'), change('to.ts', 'from.ts'), change('from.ts')];
  assert.deepEqual(changedPaths('/repo', changes), [{ path: 'a.ts' }, { path: 'to.ts', from: 'from.ts' }]);
});

test('files that became links are found in the patch; others are not', () => {
  const patch = [
    'diff --git a/was file b/was file\ndeleted file mode 100644\nindex 1..0\n--- a/was file\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
    'diff --git a/was file b/was file\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/was file\n@@ -0,0 +1 @@\n+a\n',
    'diff --git a/new b/new\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n',
  ].join('');
  assert.deepEqual(changedTypes(patch), ['was file']);
});

test('a folder on disk: nothing is read through links, folders are no files', async t => {
  const root = await tempFolder(t);
  fs.mkdirSync(path.join(root, 'tree', 'sub'), { recursive: true });
  fs.mkdirSync(path.join(root, 'secret'));
  fs.writeFileSync(path.join(root, 'secret', 'key'), 'k');
  fs.writeFileSync(path.join(root, 'tree', 'run.sh'), 'x', { mode: 0o755 });
  fs.symlinkSync('run.sh', path.join(root, 'tree', 'link'));
  fs.symlinkSync(path.join(root, 'secret'), path.join(root, 'tree', 'out'));
  const disk = diskSnapshot(path.join(root, 'tree'));
  const kinds = await Promise.all(
    ['run.sh', 'link', 'out/key', 'sub', 'none', 'run.sh/below'].map(
      async name => (await disk.entry(name))?.kind ?? null,
    ),
  );
  assert.deepEqual(kinds, ['file', 'link', 'link', null, null, null]);
  assert.equal((await disk.entry('run.sh'))?.isExecutable, true);
  assert.equal(Buffer.from(await disk.read('run.sh')).toString(), 'x');
});

test('a commit: modes of git are kinds, a missing path is nothing, and other failures are not hidden', async () => {
  const modes: Readonly<Record<string, string>> = {
    file: '100644',
    tool: '100755',
    link: '120000',
    module: '160000',
    folder: '040000',
  };
  const getObjectDetails = (_: string, name: string) => {
    const mode = modes[name];
    if (mode !== undefined) return Promise.resolve({ mode, object: 'abc', size: 1 });
    return Promise.reject(
      Object.assign(new Error(name), name === 'none' ? { gitErrorCode: 'UnknownPath' } : {}),
    );
  };
  const commit = commitSnapshot({ getObjectDetails } as unknown as GitRepository, 'c');
  const entries = await Promise.all(Object.keys(modes).map(name => commit.entry(name)));
  assert.deepEqual(
    entries.map(entry => entry && [entry.kind, entry.isExecutable]),
    [['file', false], ['file', true], ['link', false], ['submodule', false], null],
  );
  assert.equal(await commit.entry('none'), null);
  await assert.rejects(commit.entry('broken'), /broken/);
});
