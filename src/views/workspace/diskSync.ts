import { open, type FileHandle } from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../agent/base/async.ts';
import { hasCode } from '../../agent/base/errors.ts';
import { patiently, syncFolder } from '../../agent/base/system/replaceFile.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { removeUnremoved } from './temporaryFile.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** How many files are synced concurrently: the disk writes them together. */
const AT_ONCE = 16;

/** Errors of systems that cannot sync a file. */
const CANNOT = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES', 'EPERM'];

/** Like `Workspace.sync`, on disk. */
export async function syncOnDisk(
  paths: readonly string[],
  roots: readonly FolderRoot[],
): Promise<ReadonlyMap<string, unknown>> {
  const failed = new Map<string, unknown>();
  const pathsBelow = new Map<string, string[]>();
  const attempt = async (affected: readonly string[], work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      for (const each of affected) if (!failed.has(each)) failed.set(each, error);
    });
  };
  await forEachLimited(paths, AT_ONCE, each =>
    attempt([each], async () => {
      const at = locate(each, roots);
      const file = diskPathOf(at);
      // The folders above may be new.
      for (let above = file; above !== at.folder.fsPath && above !== path.dirname(above);) {
        above = path.dirname(above);
        pathsBelow.set(above, [...(pathsBelow.get(above) ?? []), each]);
      }
      await syncFile(file);
    }),
  );
  await patiently(removeUnremoved).catch(() => undefined); // the next new file tries again
  // Sync folders, which hold the names, after the files.
  await forEachLimited([...pathsBelow], AT_ONCE, ([folder, below]) =>
    attempt(below, () => syncFolder(folder)),
  );
  return failed;
}

async function syncFile(file: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await opened(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR')) return; // its folder shows that
    throw error;
  }
  try {
    await handle.sync(); // not only the data: a change may set permission bits
  } catch (error) {
    if (!hasCode(error, ...CANNOT)) throw error;
  } finally {
    await handle.close();
  }
}

/** Some systems flush only a file that is open for writing. */
async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ETXTBSY')) return open(file, 'r');
    throw error;
  }
}
