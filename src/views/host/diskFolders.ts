import * as path from 'node:path';
import type { Sha256 } from '../../agent/base/hash.ts';
import { TimeSlice } from '../../agent/base/timeSlice.ts';
import type { FilePlace } from '../../agent/preview/workspace.ts';
import {
  isFolder,
  modeOf,
  readDiskFile,
  removeEmptyFolders,
  writeDiskFile,
  type DiskWriteOptions,
} from './diskFile.ts';
import { removeTemporaries } from './temporaryFile.ts';
import { assertReallyInside, locate, workspacePathOf, type FolderRoot } from './workspacePaths.ts';

/** The files of the workspace folders as they are on disk, by workspace path. Thousands of calls in a row make way for others. */
export class DiskFolders {
  readonly #roots: () => readonly FolderRoot[];
  readonly #slice = new TimeSlice();

  constructor(roots: () => readonly FolderRoot[]) {
    this.#roots = roots;
  }

  /** As `Workspace.resolvePath`. */
  resolvePath(input: string): string {
    const roots = this.#roots();
    const location = locate(input, roots);
    assertReallyInside(input, location);
    return workspacePathOf(location, roots);
  }

  /** The absolute path of a workspace path. */
  fileOf(workspacePath: string): string {
    const { folder, relative } = locate(workspacePath, this.#roots());
    return path.join(folder.fsPath, relative);
  }

  async read(workspacePath: string): Promise<Uint8Array | undefined> {
    await this.#slice.turn();
    return readDiskFile(this.fileOf(workspacePath), workspacePath);
  }

  async write(
    workspacePath: string,
    bytes: Uint8Array | null,
    expected: Sha256 | null,
    options: DiskWriteOptions,
  ): Promise<void> {
    await this.#slice.turn();
    assertReallyInside(workspacePath, locate(workspacePath, this.#roots()));
    writeDiskFile(this.fileOf(workspacePath), workspacePath, bytes, expected, options);
  }

  async placeOf(workspacePath: string): Promise<FilePlace> {
    await this.#slice.turn();
    const mode = modeOf(this.fileOf(workspacePath));
    const missingFolders: string[] = [];
    if (mode === undefined) {
      const parts = workspacePath.split('/').slice(0, -1);
      for (let depth = parts.length; depth > 0; depth--) {
        const folder = parts.slice(0, depth).join('/');
        // A workspace folder itself is no path in the workspace, and is there.
        if (this.#isRoot(folder) || isFolder(this.fileOf(folder))) break;
        missingFolders.unshift(folder);
      }
    }
    return { ...(mode === undefined ? {} : { mode }), missingFolders };
  }

  async tidy(paths: readonly string[], folders: readonly string[]): Promise<void> {
    await this.#slice.turn();
    removeTemporaries(paths.map(each => this.fileOf(each)));
    removeEmptyFolders(folders.map(each => this.fileOf(each)));
  }

  #isRoot(folder: string): boolean {
    const roots = this.#roots();
    return roots.length > 1 && roots.some(root => root.name === folder);
  }
}
