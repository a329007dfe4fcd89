import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { PathError } from '../../../../../src/agent/base/errors.ts';
import { parsePatch } from '../../../../../src/agent/hold/external/patch/parsePatch.ts';
import { LeftOutError, readBelow } from '../../../../../src/agent/hold/external/readForeign.ts';
import { patchPlaces, repositoryPlaces, rootOf } from '../../../../../src/views/review/external/places.ts';
import { resolvePath } from '../../../../../src/views/workspace/realPaths.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

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
    pathOf: (input: string) => path.relative(folder, input),
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

test('of several repositories, a patch is for the one that has a file which it changes, else the likeliest', async t => {
  const [first, second] = [await tempFolder(t), await tempFolder(t)];
  for (const [root, name] of [
    [first, 'b.ts'],
    [second, 'a.ts'],
  ] as const)
    fs.writeFileSync(path.join(root, name), 'x\n');
  const rootFor = async (name: string): Promise<string | undefined> =>
    rootOf(await parsePatch(`--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+y\n`), [first, second]);
  assert.equal(await rootFor('a.ts'), second);
  assert.equal(await rootFor('b.ts'), first);
  assert.equal(await rootFor('c.ts'), first);
  assert.equal(rootOf([], []), undefined);
});

test('what lies in a repository inside the repository is not part of it', async t => {
  const root = await tempFolder(t);
  fs.mkdirSync(path.join(root, 'lib', 'deep'), { recursive: true });
  fs.writeFileSync(path.join(root, 'lib', '.git'), 'gitdir: ../.git/modules/lib\n');
  const isSubmodule = (error: unknown): boolean => error instanceof LeftOutError && error.why === 'submodule';
  for (const places of [
    repositoryPlaces(root, workspaceAt(root)),
    patchPlaces(root, workspaceAt(root)),
    patchPlaces(undefined, workspaceAt(root)),
  ]) {
    await assert.rejects(Promise.resolve(places.resolve('lib/deep/new.ts')), isSubmodule);
    await places.resolve('other/new.ts');
  }
});

test('a folder on disk: nothing is read through links, folders are no files', async t => {
  const root = await tempFolder(t);
  fs.mkdirSync(path.join(root, 'tree', 'sub'), { recursive: true });
  fs.mkdirSync(path.join(root, 'secret'));
  fs.writeFileSync(path.join(root, 'secret', 'key'), 'k');
  fs.writeFileSync(path.join(root, 'tree', 'run.sh'), 'x', { mode: 0o755 });
  fs.symlinkSync('run.sh', path.join(root, 'tree', 'link'));
  fs.symlinkSync(path.join(root, 'secret'), path.join(root, 'tree', 'out'));
  const tree = path.join(root, 'tree');
  const reasons = ['link', 'out/key', 'sub', 'none', 'run.sh/below'].map(name =>
    readBelow(tree, name).then(
      () => 'read',
      (error: unknown) => (error instanceof LeftOutError ? error.why : error),
    ),
  );
  assert.deepEqual(await Promise.all(reasons), ['read', 'link', 'notAFile', 'missing', 'missing']);
  assert.deepEqual(await readBelow(tree, 'link'), { content: { link: 'run.sh' }, isExecutable: false });
  assert.deepEqual(await readBelow(tree, 'run.sh'), { content: Buffer.from('x'), isExecutable: true });
});
