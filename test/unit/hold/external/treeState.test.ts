import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { test } from 'node:test';
import { treeState } from '../../../../src/agent/hold/external/treeState.ts';
import { GitRepository } from '../../../support/gitRepository.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('a changed, a new, a removed and a further changed file each make another state; an ignored one does not', async t => {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(root, name), text);
  await mkdir(path.join(root, 'sub'));
  await write('sub/a', 'a\n');
  await write('b', 'b\n');
  await write('.gitignore', 'out\n');
  assert.equal((await treeState(root))?.head, '', 'before the first commit');
  repository.run(['add', '.']);
  repository.run(['commit', '-q', '-m', 'First']);
  const clean = await treeState(path.join(root, 'sub'));
  assert.deepEqual([...(clean?.files ?? [])], []);
  await write('sub/a', 'A\n');
  await write('sub/n', 'n\n');
  await rm(path.join(root, 'b'));
  await write('out', 'o\n');
  const dirty = await treeState(path.join(root, 'sub'));
  assert.deepEqual([...(dirty?.files.keys() ?? [])].sort(), ['../b', 'a', 'n']);
  await write('sub/a', 'AA\n');
  const later = await treeState(path.join(root, 'sub'));
  assert.notEqual(later?.files.get('a'), dirty?.files.get('a'));
  assert.equal(later?.files.get('n'), dirty?.files.get('n'));
  repository.run(['commit', '-q', '-a', '-m', 'Second']);
  assert.notEqual((await treeState(root))?.head, later?.head);
});

test('without a repository, or without git, there is no state', async t => {
  const folder = await TempFolder.create();
  t.after(() => rm(folder.root, { recursive: true, force: true }));
  assert.equal(await treeState(folder.root), undefined);
  const repository = await GitRepository.create(t);
  assert.equal(await treeState(repository.folder.root, 'no-such-git'), undefined);
});
