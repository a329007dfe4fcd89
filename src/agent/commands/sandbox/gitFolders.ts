import { readFileSync, realpathSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { isInside } from '../../text/isInside.ts';

/**
 * Folders of git outside a worktree that belong to it: without them, git does not work in it. Only those that name the worktree
 * in turn: any file in a workspace may claim to be one.
 * @param root absolute, links followed
 */
export function gitFoldersOf(root: string): readonly string[] {
  try {
    const file = path.join(root, '.git');
    if (!statSync(file).isFile()) return [];
    const own = realpathSync.native(path.resolve(root, lineOf(file).replace(/^gitdir: /, '')));
    const worktree = path.dirname(path.resolve(own, lineOf(path.join(own, 'gitdir'))));
    if (realpathSync.native(worktree) !== root) return [];
    const common = realpathSync.native(path.resolve(own, lineOf(path.join(own, 'commondir'))));
    const isRepository = statSync(path.join(common, 'objects')).isDirectory() && isInside(own, common);
    return isRepository && !isInside(root, common) ? [common] : [];
  } catch {
    return [];
  }
}

function lineOf(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
