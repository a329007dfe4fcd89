import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { PathError } from '../../../../src/agent/base/errors.ts';
import { locate } from '../../../../src/views/workspace/workspacePaths.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
execFileSync('git', ['init', '-q'], { cwd: temp.root });
const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
  cwd: temp.root,
  input: 'x',
  encoding: 'utf8',
});

/** Whether git takes a name for `.git` on one of its file systems: it adds no file below one. */
function isRefusedByGit(name: string): boolean {
  const settings = ['-c', 'core.protectNTFS=true', '-c', 'core.protectHFS=true'];
  try {
    const args = ['update-index', '--add', '--cacheinfo', `100644,${blob.trim()},a/${name}/config`];
    execFileSync('git', [...settings, ...args], { cwd: temp.root, stdio: 'pipe' });
    return false;
  } catch {
    return true;
  }
}

function isRefusedHere(name: string): boolean {
  try {
    locate(`a/${name}/config`, [{ name: 'a', fsPath: temp.root }]);
    return false;
  } catch (error) {
    return error instanceof PathError && error.code === 'protected';
  }
}

/** What HFS+ skips in a name. */
const skipped =
  '\u200C\u200D\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u206A\u206B\u206C\u206D\u206E\u206F\uFEFF';
const names = [
  ...['.git', '.GIT', '.Git', 'git~1', 'GIT~1', '.git.', '.git ', '.git. . ', '.git...', 'git~1.', 'git~1 '],
  ...[
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    'git~1:x',
    '.git\\x',
    '.GIT\\hooks\\x',
    'git~1\\x',
    '.git .\\x',
    '.git\\',
  ],
  ...[...skipped].flatMap(each => [0, 1, 2, 4].map(at => `${'.git'.slice(0, at)}${each}${'.git'.slice(at)}`)),
  `${skipped}.g${skipped}iT${skipped}`,
];

for (const name of names)
  test(`no path goes through ${JSON.stringify(name)}, which git takes for .git`, () => {
    assert.equal(isRefusedByGit(name), true);
    assert.equal(isRefusedHere(name), true);
  });

for (const name of ['.gitx', 'git', '.git~1', 'git~2', 'xgit~1', '.github'])
  test(`a path may go through ${name}, as git says, too`, () => {
    assert.equal(isRefusedByGit(name), false);
    assert.equal(isRefusedHere(name), false);
  });
