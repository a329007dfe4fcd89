import { TimeSlice } from '../../src/agent/base/async.ts';
import type { Look, ResolvingFiles } from '../../src/agent/hold/preview/resolve/refusals.ts';
import type {
  FileContent,
  FileListing,
  FilePlace,
  FileRights,
  FolderRoot,
  ResolveOptions,
  Workspace,
  WrittenTo,
} from '../../src/agent/hold/preview/workspace.ts';
import { defaultEncoding, type TextEncoding } from '../../src/agent/hold/text/encodings.ts';
import { readDiskFile, writeDiskFile } from '../../src/views/workspace/diskFile.ts';
import { replaceOnDisk } from '../../src/views/workspace/diskReplace.ts';
import { syncOnDisk } from '../../src/views/workspace/diskSync.ts';
import { makeFoldersOnDisk, placeOnDisk, tidyDisk } from '../../src/views/workspace/diskFolders.ts';
import { addNameOnDisk, giveRightsOnDisk, rightsOnDisk } from '../../src/views/workspace/fileRights.ts';
import { lineEndingOfNewFile } from '../../src/views/workspace/newLineEnding.ts';
import { Looks } from '../../src/views/workspace/findings.ts';
import { isProtectedOnDisk, type OwnProtections } from '../../src/views/workspace/protectedFiles.ts';
import {
  assertInside,
  assertRealFolderInside,
  assertRealPathInside,
  resolvePath,
} from '../../src/views/workspace/realPaths.ts';
import { diskPathOf, formerPlaces, locate } from '../../src/views/workspace/workspacePaths.ts';

/** The `Workspace` port on one real folder, as in the extension when no editor is open. */
export class DiskWorkspace implements Workspace, ResolvingFiles {
  readonly #roots: readonly FolderRoot[];
  readonly #slice = new TimeSlice();
  readonly #own: OwnProtections;
  readonly #looks = new Looks();

  constructor(folder: string, own: OwnProtections = { alwaysAsk: [], toolPlaces: [] }) {
    this.#own = own;
    this.#roots = [{ name: 'workspace', fsPath: folder }];
  }

  async resolvePath(input: string, options?: ResolveOptions): Promise<string> {
    return resolvePath(input, this.#roots, options);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    await this.#slice.turn();
    const at = locate(path, this.#roots);
    const file = diskPathOf(at);
    return readDiskFile(file, path, real => {
      if (real !== file) assertInside(path, at, real);
    });
  }

  async encodingOf(): Promise<TextEncoding> {
    return defaultEncoding;
  }

  async lineEndingAt(path: string): Promise<'\n' | '\r\n'> {
    const { file, root } = {
      file: diskPathOf(locate(path, this.#roots)),
      root: this.#roots[0]?.fsPath ?? '',
    };
    return lineEndingOfNewFile({ file, root, setting: 'auto', isTrusted: true });
  }

  async write(
    path: string,
    bytes: Uint8Array | null,
    expected: string | null,
    mode?: number,
  ): Promise<WrittenTo> {
    await this.#slice.turn();
    const at = locate(path, this.#roots);
    assertRealPathInside(path, at);
    writeDiskFile(diskPathOf(at), path, bytes, expected, { mode });
    return 'disk';
  }

  async replace(
    path: string,
    content: FileContent | null,
    expected: string | null,
    mode?: number,
  ): Promise<void> {
    await this.#slice.turn();
    const at = locate(path, this.#roots);
    assertRealFolderInside(path, at);
    replaceOnDisk(diskPathOf(at), path, content, expected, { mode });
  }

  async placeOf(path: string): Promise<FilePlace> {
    await this.#slice.turn();
    return placeOnDisk(path, this.#roots);
  }

  isProtected(paths: readonly string[], look?: Look): Promise<boolean> {
    return isProtectedOnDisk(paths, this.#roots, this.#own, this.#looks.of(look));
  }

  folderRoots(): readonly FolderRoot[] {
    return this.#roots;
  }

  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string> {
    return formerPlaces(paths, roots, this.#roots);
  }

  rightsOf(paths: readonly string[]): Promise<Readonly<Record<string, FileRights>>> {
    return rightsOnDisk(paths, this.#roots);
  }

  giveRights(rights: Readonly<Record<string, FileRights>>): Promise<void> {
    return giveRightsOnDisk(rights, this.#roots);
  }

  async addName(path: string, name: string, expected: string): Promise<boolean> {
    await this.#slice.turn();
    return addNameOnDisk(path, name, expected, this.#roots);
  }

  async makeFolders(modes: Readonly<Record<string, number>>): Promise<void> {
    makeFoldersOnDisk(modes, this.#roots);
  }

  async tidy(paths: readonly string[], folders: readonly string[]): Promise<void> {
    await this.#slice.turn();
    tidyDisk(paths, folders, this.#roots);
  }

  sync(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    return syncOnDisk(paths, this.#roots);
  }

  async list(): Promise<FileListing> {
    return { paths: [], truncated: false };
  }
}

/** The workspace with some of its methods replaced. */
export function withFaults(
  workspace: DiskWorkspace,
  faults: Partial<Workspace & ResolvingFiles>,
): DiskWorkspace {
  return new Proxy(workspace, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Reflect.has(faults, key) ? faults : target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
