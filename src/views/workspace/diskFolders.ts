import * as fs from 'node:fs';
import { PathError } from '../../agent/base/errors.ts';
import type { FilePlace, FolderRoot } from '../../agent/preview/workspace.ts';
import { ifExists, removeTemporaryFiles } from './temporaryFile.ts';
import { isAnyProtected, type OwnProtections } from './protectedFiles.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** As `Workspace.placeOf`, on disk. */
export function placeOnDisk(workspacePath: string, roots: readonly FolderRoot[]): FilePlace {
  const mode = modeOf(diskPathOf(locate(workspacePath, roots)));
  const missingFolders: string[] = [];
  if (mode === undefined) {
    const parts = workspacePath.split('/').slice(0, -1);
    for (let depth = parts.length; depth > 0; depth--) {
      const folder = parts.slice(0, depth).join('/');
      // The name of a workspace folder alone is not a path that `locate` accepts, and the folder exists.
      const isRoot = roots.length > 1 && roots.some(root => root.name === folder);
      if (isRoot || isFolder(diskPathOf(locate(folder, roots)))) break;
      missingFolders.unshift(folder);
    }
  }
  return { ...(mode === undefined ? {} : { mode }), missingFolders };
}

/** As `Workspace.tidy`, on disk. */
export function tidyDisk(
  paths: readonly string[],
  folders: readonly string[],
  roots: readonly FolderRoot[],
): void {
  const onDisk = (workspacePath: string): readonly string[] => {
    try {
      return [diskPathOf(locate(workspacePath, roots))];
    } catch {
      return []; // its folder is no longer open
    }
  };
  removeTemporaryFiles(paths.flatMap(onDisk));
  for (const folder of folders.flatMap(onDisk).sort().reverse()) {
    try {
      fs.rmdirSync(folder);
    } catch {
      // It is not empty, or already gone.
    }
  }
}

/** As `ResolvingFiles.isProtected`, on disk. A path that cannot be located is protected. */
export async function isProtectedOnDisk(
  paths: readonly string[],
  roots: readonly FolderRoot[],
  own: OwnProtections,
): Promise<boolean> {
  let files: readonly string[];
  try {
    files = paths.map(each => diskPathOf(locate(each, roots)));
  } catch (error) {
    if (error instanceof PathError) return true;
    throw error;
  }
  const folders = roots.map(({ fsPath }) => fsPath);
  return isAnyProtected(files, folders, own);
}

/** Permission bits of a file; `undefined` when there is no file. */
function modeOf(file: string): number | undefined {
  const found = ifExists(() => fs.statSync(file));
  return found?.isFile() ? found.mode & 0o7777 : undefined;
}

function isFolder(folder: string): boolean {
  return ifExists(() => fs.statSync(folder))?.isDirectory() ?? false;
}
