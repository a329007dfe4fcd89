import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { worktreesOf } from '../../../../src/agent/sandbox/agentView/viewGit.ts';
import { PlainTree } from '../../../../src/agent/sandbox/view/plainTree.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('a checkout of a worktree is one, also of a submodule; a submodule, and a repository inside another, are none', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const files = {
    'tree/.git': `gitdir: ${temp.at('.git/worktrees/tree').replaceAll(path.sep, '/')}\n`,
    'deep/er/.git': 'gitdir: ../../.git/modules/sub/worktrees/er\n',
    'sub/.git': 'gitdir: ../.git/modules/sub\n',
    'worktrees/one/.git': 'gitdir: ../../.git/modules/worktrees/one\n',
    'worktrees/two/.git': `gitdir: ${temp.at('.git/modules/worktrees/two')}\n`,
    'three/.git': 'gitdir: ../../.git/worktrees/three/modules/three\n',
    '.git/modules/worktrees/one/objects/pack/x': '',
    '.git/modules/worktrees/two/objects/pack/x': '',
    'own/.git/config': 'gitdir: ../.git/worktrees/own\n',
  };
  for (const [name, text] of Object.entries(files)) await temp.file(name, text);
  const git = [
    '.git',
    ...['tree', 'deep/er', 'sub', 'own', 'gone', 'worktrees/one', 'worktrees/two', 'three'].map(
      each => `${each}/.git`,
    ),
  ];
  assert.deepEqual(await worktreesOf(git, new PlainTree(temp.root), temp.root), ['tree', 'deep/er']);
});
