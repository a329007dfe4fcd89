import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../base/async.ts';
import { findAt } from './effects.ts';
import { entriesOf } from './entries.ts';

/** Removes the folders of a copy that are empty and not on disk. Those of git are its own. */
export async function removeOtherFolders(copy: string, root: string, relative: string): Promise<void> {
  for await (const part of entriesOf(path.join(copy, relative)))
    for (const { name, kind } of part) {
      const at = path.join(relative, name);
      if (kind !== 'folder' || name === '.git') continue;
      await removeOtherFolders(copy, root, at);
      const isOnDisk = await fs.lstat(path.join(root, at)).then(
        stat => stat.isDirectory(),
        () => false,
      );
      if (!isOnDisk) await fs.rmdir(path.join(copy, at)).catch(() => undefined);
    }
}

/**
 * Copies a file with its permission bits, or a link as it is; what is neither is left out.
 * @param keepsTime else it is new
 */
export async function copyOne(root: string, copy: string, at: string, keepsTime: boolean): Promise<void> {
  const [from, to] = [path.join(root, at), path.join(copy, at)];
  const found = await findAt(from);
  if (found?.kind === 'link') await fs.symlink(found.target, to);
  else if (found?.kind === 'file') {
    await fs.copyFile(from, to, constants.COPYFILE_FICLONE).catch(async (error: unknown) => {
      // What the user may not read no command of theirs can need.
      if (await succeeds(fs.access(from, constants.R_OK))) throw error;
    });
    const { atime, mtime } = await fs.lstat(from);
    if (keepsTime) await fs.utimes(to, atime, mtime).catch(() => undefined);
  }
}
