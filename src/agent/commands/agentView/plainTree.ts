import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../base/async.ts';
import { hasCode } from '../../base/errors.ts';
import type { FileContent } from '../../preview/workspace.ts';
import { isMissing, type Found } from '../sandbox/effects.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A tree in which another program is at work. It is read and written folder by folder, by open ones, so that no link that the program
 * puts there meanwhile leads out of it.
 */
export class PlainTree {
  readonly #root: string;

  /** @param root absolute; nothing above it can be changed by the other program. */
  constructor(root: string) {
    this.#root = root;
  }

  /** What stands at a relative path; `undefined` if there is nothing, or a folder above it is none. */
  async find(relative: string): Promise<Found | undefined> {
    return this.#in(path.dirname(relative), async folder => {
      const at = `${folder}/${path.basename(relative)}`;
      const stat = await fs.lstat(at);
      if (stat.isSymbolicLink()) return { kind: 'link', target: await fs.readlink(at) };
      if (stat.isDirectory()) return { kind: 'folder' };
      if (!stat.isFile()) return { kind: 'other' };
      return {
        ...{ kind: 'file', size: stat.size, mode: stat.mode & 0o777 },
        read: async () => (await this.read(relative)) ?? new Uint8Array(),
      };
    });
  }

  /** The bytes of a file; `undefined` if there is no plain file. */
  async read(relative: string): Promise<Uint8Array | undefined> {
    return this.#in(path.dirname(relative), async folder => {
      const at = `${folder}/${path.basename(relative)}`;
      // A pipe would never answer.
      const file = await fs.open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        return (await file.stat()).isFile() ? await file.readFile() : undefined;
      } finally {
        await file.close();
      }
    });
  }

  /** Writes a file as a whole, or a link, with the folders above it. @throws the error of the system */
  async write(relative: string, content: FileContent, mode: number): Promise<void> {
    await this.#inMade(path.dirname(relative), async folder => {
      const draft = `${folder}/.redline-${randomUUID()}`;
      try {
        if ('link' in content) await fs.symlink(content.link, draft);
        else {
          await fs.writeFile(draft, content, { flag: 'wx', mode });
          await fs.chmod(draft, mode);
        }
        await fs.rename(draft, `${folder}/${path.basename(relative)}`);
      } catch (error) {
        await fs.rm(draft, { force: true });
        throw error;
      }
    });
  }

  /** Removes a file or link, if there is one, and the folders above it that it leaves empty. */
  async remove(relative: string): Promise<void> {
    await this.#in(path.dirname(relative), folder => fs.unlink(`${folder}/${path.basename(relative)}`));
    for (let at = path.dirname(relative); at !== '.'; at = path.dirname(at)) {
      const removed = await this.#in(path.dirname(at), folder =>
        succeeds(fs.rmdir(`${folder}/${path.basename(at)}`)),
      );
      if (removed !== true) return;
    }
  }

  /** Works in an open folder. @returns `undefined` if something is missing, or a link or a file stands in the way */
  async #in<T>(relative: string, work: (folder: string) => Promise<T>): Promise<T | undefined> {
    // If the tree itself has gone, that is an error: it does not mean that its files are.
    const root = await this.#openRoot();
    try {
      return await inFolder(root, relative, work);
    } catch (error) {
      if (isMissing(error) || isInTheWay(error)) return undefined;
      throw error;
    }
  }

  /** Works in an open folder, which is made if it is missing. @throws the error of the system */
  async #inMade(relative: string, work: (folder: string) => Promise<void>): Promise<void> {
    await inFolder(await this.#openRoot(), relative, work, at => fs.mkdir(at).catch(ignoreExisting));
  }

  #openRoot(): Promise<fs.FileHandle> {
    return fs.open(this.#root, FOLDER);
  }
}

/** Works in a folder below an open one, which is closed in the end. */
async function inFolder<T>(
  root: fs.FileHandle,
  relative: string,
  work: (folder: string) => Promise<T>,
  make?: (folder: string) => Promise<void>,
): Promise<T> {
  let open = root;
  try {
    for (const name of relative.split('/').filter(part => part !== '' && part !== '.')) {
      const below = `/proc/self/fd/${open.fd}/${name}`;
      await make?.(below);
      const next = await fs.open(below, FOLDER);
      await open.close();
      open = next;
    }
    return await work(`/proc/self/fd/${open.fd}`);
  } finally {
    await open.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}

/** A link where a folder or a file is expected. */
function isInTheWay(error: unknown): boolean {
  return hasCode(error, 'ELOOP', 'ENXIO');
}
