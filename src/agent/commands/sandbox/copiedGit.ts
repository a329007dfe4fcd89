import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';
import { gitFoldersOf } from './bubblewrap.ts';
import { isMissing } from './effects.ts';
import { removeTree } from './entries.ts';
import { isGitDirectory } from '../../base/system/gitDirectory.ts';

/** What is not the worktree's: other worktrees have their own, and what is large is read where it is. */
const LEFT = ['objects', 'worktrees', 'modules', 'lfs', 'HEAD', 'index', 'logs', 'commondir', 'gitdir'];

/**
 * Puts a repository of its own into a copy, in place of a file `.git` that names one outside of the workspace: git would write into
 * that. Branches, index and settings of a worktree are copied, and its objects are read. Where the folder belongs to no
 * repository that names it in turn, there is none in the copy.
 * @param at the path of the file, relative to both
 */
export async function ownRepository(root: string, copy: string, at: string): Promise<void> {
  const file = path.join(root, at);
  const text = await fs.readFile(file, 'utf8').catch(() => '');
  const named = path.resolve(path.dirname(file), text.replace(/^gitdir: /, '').trim());
  const to = path.join(copy, at);
  await removeTree(to);
  if (isInside(named, root)) {
    const there = path.relative(path.dirname(file), named).replaceAll(path.sep, '/');
    return fs.writeFile(to, `gitdir: ${there}\n`);
  }
  const [common] = gitFoldersOf(path.dirname(file));
  if (common === undefined) return;
  await fs.mkdir(path.join(to, 'objects', 'info'), { recursive: true });
  await copyInto(common, to, LEFT);
  await copyInto(named, to, ['modules', 'logs', 'commondir', 'gitdir']);
  await fs.writeFile(
    path.join(to, 'objects', 'info', 'alternates'),
    `${path.join(common, 'objects').replaceAll(path.sep, '/')}\n`,
  );
  // The repository of worktrees may have no files itself.
  await fs.appendFile(path.join(to, 'config'), '\n[core]\n\tbare = false\n');
}

async function copyInto(from: string, to: string, left: readonly string[]): Promise<void> {
  for (const name of await fs.readdir(from))
    if (!left.includes(name) && !name.endsWith('.lock'))
      await copyOfGit(path.join(from, name), path.join(to, name));
}

/**
 * Copies a file or folder of git, without the sockets of programs that watch the folder for git, and without what vanishes, such
 * as locks.
 */
export async function copyOfGit(from: string, to: string): Promise<void> {
  await fs.cp(from, to, {
    ...{ recursive: true, verbatimSymlinks: true, preserveTimestamps: true },
    filter: each =>
      fs.lstat(each).then(
        stat => stat.isFile() || stat.isDirectory() || stat.isSymbolicLink(),
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      ),
  });
}

/** Which of the files are git's own: in `.git`, or in a git directory of another name, but in no working tree below it. */
export function gitFiles(
  { root, copy }: { readonly root: string; readonly copy: string },
  files: ReadonlySet<string>,
): (at: string) => boolean {
  const directories = new Set(
    [...files]
      .filter(at => path.posix.basename(at) === 'HEAD')
      .map(at => path.posix.dirname(at))
      .filter(at => [root, copy].some(tree => isGitDirectory(path.join(tree, at)))),
  );
  const isTree = (folder: string): boolean =>
    path.posix.basename(folder) !== 'hooks' &&
    [`${folder}/.git`, `${folder}/.git/HEAD`].some(each => files.has(each));
  const isBelow = (at: string): boolean => {
    const folder = path.posix.dirname(at);
    return directories.has(folder) || (folder !== '.' && !isTree(folder) && isBelow(folder));
  };
  return at => /(^|\/)\.git(\/|$)/.test(at) || (directories.size > 0 && isBelow(at));
}
