import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { PlainTree } from '../../../../src/agent/commands/agentView/plainTree.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

async function folderOf(t: TestContext): Promise<TempFolder> {
  const folder = await TempFolder.create();
  t.after(() => fs.rmSync(folder.root, { recursive: true, force: true }));
  return folder;
}

describe('the tree of a view', { skip: process.platform !== 'linux' }, () => {
  test('a file that is not there is no error, nor is a folder above it that is not', async t => {
    const tree = new PlainTree((await folderOf(t)).root);
    assert.equal(await tree.find('gone.txt'), undefined);
    assert.equal(await tree.read('gone/a.txt'), undefined);
  });

  test('a tree that has gone does not look as if its files were removed', async t => {
    const folder = await folderOf(t);
    const tree = new PlainTree(await folder.folder('tree'));
    await tree.write('a.txt', Buffer.from('a'), 0o644);
    fs.rmSync(folder.at('tree'), { recursive: true });
    for (const look of [() => tree.find('a.txt'), () => tree.read('a.txt'), () => tree.remove('a.txt')])
      await assert.rejects(look, { code: 'ENOENT' });
  });
});
