import * as path from 'node:path';
import { PlainTree } from '../view/plainTree.ts';
import type { Layer } from '../view/upperTree.ts';

/** The longest log of git that is read, in bytes. */
const MAX_LOG = 64 * 1024 * 1024;

/** Reads the traces of a program in the repositories of a view. @param seen leads to a folder in it */
export async function gitOf(
  layers: readonly Layer[],
  seen: (layer: Layer) => PlainTree,
): Promise<{ readonly commits: number; readonly lostGit: boolean }> {
  let commits = 0;
  let lostGit = false;
  for (const layer of layers) {
    const lower = path.join(layer.state, 'lower');
    const hadGit = (await new PlainTree(lower).find('.git'))?.kind === 'folder';
    if (!hadGit) continue;
    // Git itself is not asked: it runs commands from the settings of the repository, which the program may have changed.
    const log = '.git/logs/HEAD';
    const tree = seen(layer);
    const [now, before] = [await tree.read(log, MAX_LOG), await new PlainTree(lower).read(log, MAX_LOG)];
    const added = linesOf(now).slice(linesOf(before).length);
    commits += added.filter(line => /\tcommit\b/.test(line)).length;
    lostGit ||= (await tree.find('.git/HEAD')) === undefined;
  }
  return { commits, lostGit };
}

/**
 * Worktrees of the repository that were made in the view: each is a checkout whose files would all count as new.
 * @param root where the program sees the folder of the view
 */
export async function worktreesOf(
  git: readonly string[],
  view: PlainTree,
  root: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const each of git.filter(at => at.endsWith('/.git')))
    if ((await view.find(each))?.kind === 'file') {
      const text = Buffer.from((await view.read(each)) ?? []).toString();
      const own = /^gitdir: (.*\/worktrees\/[^/\n]+)\n?$/.exec(text)?.[1];
      if (own === undefined) continue;
      const folder = path.posix.dirname(each);
      const at = path.relative(root, path.resolve(root, folder, own));
      // A submodule whose own path names `worktrees` has its objects there.
      const isSubmodule = at !== '..' && !at.startsWith('../') && (await view.find(`${at}/objects`));
      if (!isSubmodule) found.push(folder);
    }
  return found;
}

function linesOf(bytes: Uint8Array | undefined): readonly string[] {
  return Buffer.from(bytes ?? [])
    .toString()
    .split('\n')
    .filter(line => line !== '');
}
