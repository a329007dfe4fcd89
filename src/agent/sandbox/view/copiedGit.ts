import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { isInside } from '../../base/system/realPath.ts';
import { gitFoldersOf } from './bubblewrap.ts';
import { inTrees, type PlainTree } from './plainTree.ts';
import { walk } from './stamps.ts';
import { entriesIn, isGitDirectory } from './upperTree.ts';

/** Entries that are not copied: those that each worktree has of its own, and large ones, which are read where they are. */
const LEFT = ['objects', 'worktrees', 'modules', 'lfs', 'HEAD', 'index', 'logs', 'commondir', 'gitdir'];

/**
 * Gives a copy a repository of its own, in place of a file `.git` that names one outside of the workspace: git would write into
 * that. Branches, index and settings of a worktree are copied, and its objects are read. If no repository names the folder in turn,
 * the copy has none.
 * @param at the path of the file, relative to both
 */
export async function ownRepository(root: string, copy: PlainTree, at: string): Promise<void> {
  const file = path.join(root, at);
  const text = await fs.readFile(file, 'utf8').catch(() => '');
  const named = path.resolve(path.dirname(file), text.replace(/^gitdir: /, '').trim());
  await copy.clear(at);
  if (isInside(named, root)) {
    const there = path.relative(path.dirname(file), named).replaceAll(path.sep, '/');
    return copy.write(at, Buffer.from(`gitdir: ${there}\n`));
  }
  const [common] = gitFoldersOf(path.dirname(file));
  if (common === undefined) return;
  await copyInto(common, copy, at, LEFT);
  await copyInto(named, copy, at, ['modules', 'logs', 'commondir', 'gitdir']);
  const objects = path.join(common, 'objects').replaceAll(path.sep, '/');
  await copy.write(`${at}/objects/info/alternates`, Buffer.from(`${objects}\n`));
  // The main repository of worktrees may be bare.
  const config = await copy.read(`${at}/config`);
  await copy.write(
    `${at}/config`,
    Buffer.concat([config ?? Buffer.of(), Buffer.from('\n[core]\n\tbare = false\n')]),
  );
}

/** Copies the contents of a folder of git into one of the copy. */
function copyInto(from: string, copy: PlainTree, at: string, left: readonly string[]): Promise<void> {
  return inTrees([from], async tree => {
    const files: string[] = [];
    for await (const part of tree.parts(''))
      for (const { name, isUtf8, kind } of part)
        if (!isUtf8 || left.includes(name) || name.endsWith('.lock')) continue;
        else if (kind === 'folder') await walk(tree, name, each => files.push(each) > 0);
        else files.push(name);
    for (const each of files) {
      const to = `${at}/${each}`;
      await copy.makeFolders(path.posix.dirname(to));
      await copy.clear(to);
      await copy.copy(each, tree, { to });
    }
  });
}

/**
 * Copies a file or folder of git, without the sockets of programs that watch the folder for git, and without files that vanish,
 * such as locks.
 */
export async function copyOfGit(at: string, from: PlainTree, to: PlainTree): Promise<void> {
  if (!(await from.stat(at))?.isDirectory()) return void (await to.copy(at, from, { keepsTime: true }));
  await to.makeFolders(at, from);
  for await (const part of from.parts(at))
    for (const { name, isUtf8 } of part) if (isUtf8) await copyOfGit(`${at}/${name}`, from, to);
}

/** Which of the files are git's own: in `.git`, or in a git directory of another name, but in no working tree below it. */
export async function gitFiles(
  trees: readonly PlainTree[],
  files: ReadonlySet<string>,
): Promise<(at: string) => boolean> {
  const directories = new Set<string>();
  for (const at of files) {
    if (path.posix.basename(at) !== 'HEAD') continue;
    const folder = path.posix.dirname(at);
    for (const tree of trees)
      if (isGitDirectory((await entriesIn(tree, folder)) ?? new Map())) directories.add(folder);
  }
  const isTree = (folder: string): boolean =>
    path.posix.basename(folder) !== 'hooks' &&
    [`${folder}/.git`, `${folder}/.git/HEAD`].some(each => files.has(each));
  const isBelow = (at: string): boolean => {
    const folder = path.posix.dirname(at);
    return directories.has(folder) || (folder !== '.' && !isTree(folder) && isBelow(folder));
  };
  return at => /(^|\/)\.git(\/|$)/.test(at) || (directories.size > 0 && isBelow(at));
}

/** Whether anything but the index was changed in repositories. Git updates the index whenever it looks at the files. */
export async function wroteAny(upper: PlainTree, places: readonly string[]): Promise<boolean> {
  for (const place of places) {
    const stat = await upper.stat(place);
    if (stat && !stat.isDirectory() && path.posix.basename(place) !== 'index') return true;
    if (!stat?.isDirectory()) continue;
    for await (const part of upper.parts(place))
      if (
        await wroteAny(
          upper,
          part.map(({ name }) => `${place}/${name}`),
        )
      )
        return true;
  }
  return false;
}
