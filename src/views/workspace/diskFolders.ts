import * as fs from 'node:fs';
import { fileIdOf } from '../../agent/base/system/realPath.ts';
import type { FilePlace, FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { ifExists, removeTemporaryFiles } from './temporaryFile.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** Errors of a link without a target: missing, a file used as a folder, or a circle of links. */
const LEADS_NOWHERE = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/** Like `Workspace.placeOf`, on disk. */
export function placeOnDisk(workspacePath: string, roots: readonly FolderRoot[]): FilePlace {
  const file = diskPathOf(locate(workspacePath, roots));
  const link = linkAt(file);
  const found = ifExists(() => fs.statSync(file, { bigint: true }), LEADS_NOWHERE);
  if (found && (found.isFile() || found.isDirectory())) {
    const mode = Number(found.mode) & 0o7777;
    const isReadOnly = found.isFile() && ((mode & 0o222) === 0 || !mayWrite(file));
    const id = fileIdOf(found);
    return {
      mode,
      missingFolders: [],
      ...(id === undefined ? {} : { id }),
      ...(isReadOnly ? { isReadOnly } : {}),
      ...(link === undefined ? {} : { link }),
    };
  }
  const missingFolders: string[] = [];
  const parts = workspacePath.split('/').slice(0, -1);
  for (let depth = parts.length; depth > 0; depth--) {
    const folder = parts.slice(0, depth).join('/');
    // The name of a workspace folder alone is not a path that `locate` accepts, and the folder exists.
    const isRoot = roots.length > 1 && roots.some(root => root.name === folder);
    if (isRoot || isFolder(diskPathOf(locate(folder, roots)))) break;
    missingFolders.unshift(folder);
  }
  return { missingFolders, link };
}

/** Target of a symbolic link; `undefined` if there is none. */
function linkAt(file: string): string | undefined {
  const found = ifExists(() => fs.lstatSync(file), LEADS_NOWHERE);
  return found?.isSymbolicLink() === true ? ifExists(() => fs.readlinkSync(file)) : undefined;
}

/** Like `Workspace.tidy`, on disk. */
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

/** Like `Workspace.makeFolders`, on disk. */
export function makeFoldersOnDisk(
  modes: Readonly<Record<string, number>>,
  roots: readonly FolderRoot[],
): void {
  for (const [folder, mode] of Object.entries(modes).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const file = diskPathOf(locate(folder, roots));
    if (ifExists(() => fs.statSync(file))) continue;
    fs.mkdirSync(file, { recursive: true });
    fs.chmodSync(file, mode);
  }
}

function mayWrite(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isFolder(folder: string): boolean {
  return ifExists(() => fs.statSync(folder), LEADS_NOWHERE)?.isDirectory() ?? false;
}
