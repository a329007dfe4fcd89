import type { TextEncoding } from '../../src/agent/base/textCodec.ts';
import { defaultEncoding } from '../../src/agent/base/textCodec.ts';
import type { FileListing, FilePlace, Workspace, WrittenTo } from '../../src/agent/preview/workspace.ts';
import { DiskFolders } from '../../src/views/host/diskFolders.ts';

/** The `Workspace` port on one real folder, as the extension has it where no editor is open. */
export class DiskWorkspace implements Workspace {
  readonly #folders: DiskFolders;

  constructor(folder: string) {
    this.#folders = new DiskFolders(() => [{ name: 'workspace', fsPath: folder }]);
  }

  async resolvePath(input: string): Promise<string> {
    return this.#folders.resolvePath(input);
  }

  read(path: string): Promise<Uint8Array | undefined> {
    return this.#folders.read(path);
  }

  async encodingOf(): Promise<TextEncoding> {
    return defaultEncoding;
  }

  async write(
    path: string,
    bytes: Uint8Array | null,
    expected: string | null,
    mode?: number,
  ): Promise<WrittenTo> {
    await this.#folders.write(path, bytes, expected, { mode });
    return 'disk';
  }

  placeOf(path: string): Promise<FilePlace> {
    return this.#folders.placeOf(path);
  }

  tidy(paths: readonly string[], folders: readonly string[]): Promise<void> {
    return this.#folders.tidy(paths, folders);
  }

  async list(): Promise<FileListing> {
    return { paths: [], truncated: false };
  }
}
