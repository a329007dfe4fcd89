import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

/** A real folder on disk for one test file; remove it in an `after` hook. Its own path holds no symbolic link. */
export class TempFolder {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async create(): Promise<TempFolder> {
    return new TempFolder(await realpath(await mkdtemp(path.join(tmpdir(), 'redline-test-'))));
  }

  /** The absolute path of what lies below the folder. */
  at(...parts: string[]): string {
    return path.join(this.root, ...parts);
  }

  /** Writes a file, and the folders above it. */
  async file(relative: string, content: string | Uint8Array = ''): Promise<string> {
    const file = this.at(relative);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  async folder(relative: string): Promise<string> {
    await mkdir(this.at(relative), { recursive: true });
    return this.at(relative);
  }

  /** A symbolic link at `relative`; a relative target stays relative to where the link lies. */
  async link(relative: string, target: string): Promise<string> {
    await mkdir(path.dirname(this.at(relative)), { recursive: true });
    await symlink(target, this.at(relative));
    return this.at(relative);
  }

  /** A window that is still open puts its lock back, so that may take more than one try. */
  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
