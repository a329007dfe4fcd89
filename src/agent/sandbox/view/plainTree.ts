import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../base/async.ts';
import { hasCode } from '../../base/errors.ts';
import { patiently } from '../../base/system/replaceFile.ts';
import { MAX_FILE_BYTES, type FileContent } from '../../hold/preview/workspace.ts';
import { kindOf, type Found } from './effects.ts';
import { clearIn, entriesOf, type Entry } from './entries.ts';
import { isNothing, OpenFolders, setBits, type FolderId } from './openFolders.ts';

/** Flags that open a file without following a link, or waiting for a pipe, which would never answer. */
export const FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Another program has changed an entry that was about to be replaced or removed. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError';
}

/** The permission bits that a folder needs to be worked in. */
const OWNER = 0o700;

/**
 * A tree in which another program may be at work. It is read and written through open folders, one after the other, so that no link
 * that the program puts there meanwhile leads out of it. Where the system cannot do that (all but Linux), each folder is checked
 * before its contents are used.
 */
export class PlainTree {
  readonly #folders: OpenFolders;

  /**
   * @param root absolute; nothing above it can be changed by the other program.
   * @param id the identity of the root, if the other program could replace it: using the tree then throws {@link ReplacedError}.
   */
  constructor(root: string, id?: FolderId) {
    this.#folders = new OpenFolders(root, id);
  }

  /** Keeps the folders that it has opened, for faster access, until {@link close} is called. */
  hold(): this {
    this.#folders.hold();
    return this;
  }

  /** Settles once the tree has released all its folders. It can still be used. */
  close(): Promise<void> {
    return this.#folders.close();
  }

  /**
   * Runs `look` on the entry at a relative path, not on a link's target; `undefined` if there is none, or something above it is not
   * a folder. `at` leads to it while `look` runs.
   * @throws the error of the system if the tree has gone: that does not mean that its files have
   */
  at<T>(relative: string, look: (at: string) => Promise<T>): Promise<T | undefined> {
    return this.in(path.posix.dirname(relative), folder =>
      look(`${folder}/${path.posix.basename(relative)}`),
    );
  }

  /** Runs `work` in a folder of the tree; `undefined` if it is not a folder. `folder` leads to it while `work` runs. */
  in<T>(relative: string, work: (folder: string) => Promise<T>): Promise<T | undefined> {
    return this.#folders.in('', async () => {
      try {
        return await this.#folders.in(relative, work);
      } catch (error) {
        if (isNothing(error)) return undefined;
        throw error;
      }
    });
  }

  stat(relative: string): Promise<Stats | undefined> {
    return this.at(relative, at => fs.lstat(at));
  }

  /**
   * A stamp that changes when the entry at a path is written or replaced, and the time of its last change, in milliseconds since
   * 1970. Without an entry, or if it cannot be looked at, the stamp is empty.
   */
  async stamp(relative: string): Promise<{ readonly stamp: string; readonly changedAt: number }> {
    const stat = await this.at(relative, at => fs.lstat(at, { bigint: true })).catch(() => undefined);
    return stat
      ? {
          stamp: [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' '),
          changedAt: Number(stat.ctimeMs),
        }
      : { stamp: '', changedAt: 0 };
  }

  /** The entry at a relative path; `undefined` if there is none, or something above it is not a folder. */
  find(relative: string): Promise<Found | undefined> {
    return this.at(relative, async at => {
      const stat = await fs.lstat(at);
      const kind = kindOf(stat);
      if (kind === 'link') return { kind, target: await fs.readlink(at) };
      if (kind !== 'file') return { kind };
      const read = async (): Promise<Uint8Array> => (await this.read(relative)) ?? new Uint8Array();
      return { kind, size: stat.size, mode: stat.mode & 0o777, isLinked: stat.nlink > 1, read };
    });
  }

  /**
   * The bytes of a file; `undefined` if there is no plain file.
   * @throws Error if there are more than `most`, even if only because the file grows meanwhile
   */
  read(relative: string, most = MAX_FILE_BYTES): Promise<Uint8Array | undefined> {
    return this.at(relative, async at => {
      const file = await fs.open(at, FILE);
      try {
        const stat = await file.stat();
        return stat.isFile() ? await readMost(file, Math.min(stat.size, most), most) : undefined;
      } finally {
        await file.close();
      }
    });
  }

  /**
   * Lists a folder in parts, in no order; there are none if there is no such folder.
   * @param isOpened make the folder readable and writable first
   */
  async *parts(relative: string, isOpened = false): AsyncGenerator<readonly Entry[]> {
    if (isOpened) await this.openUp(relative);
    const found: (readonly Entry[])[] = [];
    await this.in(relative, async folder => {
      for await (const part of entriesOf(folder)) found.push(part);
    });
    yield* found;
  }

  /** Makes a folder readable and writable. @returns the permission bits that it had */
  openUp(relative: string): Promise<number | undefined> {
    if (relative === '' || relative === '.') return Promise.resolve(undefined);
    return this.at(relative, async at => {
      const stat = await fs.lstat(at);
      if (!stat.isDirectory()) return undefined;
      if ((stat.mode & OWNER) !== OWNER && process.platform !== 'win32')
        await setBits(at, (stat.mode & 0o777) | OWNER);
      return stat.mode & 0o777;
    });
  }

  /** Sets the permission bits of a file or folder, if it is there. */
  async setBits(relative: string, bits: number): Promise<void> {
    await this.at(relative, at => setBits(at, bits));
  }

  /**
   * Makes a folder and those above it, always writable by their owner; a file or link in the way is removed.
   * @param like a tree with the folders whose permission bits they get
   */
  async makeFolders(relative: string, like?: PlainTree): Promise<void> {
    if (relative === '' || relative === '.') return;
    const above = path.posix.dirname(relative);
    await this.makeFolders(above, like);
    await this.#folders.in(above, async folder => {
      const at = `${folder}/${path.posix.basename(relative)}`;
      const there = await fs.lstat(at).catch(() => undefined);
      if (there?.isDirectory()) return void (await this.openUp(relative));
      if (there) await fs.unlink(at).catch(() => undefined);
      // Another call may make it at the same time.
      await fs.mkdir(at).catch(ignoreExisting);
      const real = await like?.stat(relative);
      if (real?.isDirectory()) await setBits(at, (real.mode & 0o777) | OWNER);
    });
  }

  /**
   * Writes a file as a whole, or a link, over the entry at the path, and makes missing folders above it.
   * @param bits by default those of a new file
   * @throws ChangedError; the error of the system, such as when a folder is there
   */
  async write(
    relative: string,
    content: FileContent,
    bits?: number,
    options: WriteOptions = {},
  ): Promise<void> {
    const own = path.posix.dirname(relative);
    const { drafts = own, still } = options;
    await this.#makeMissing(own);
    try {
      await this.#folders.in(drafts, async folder => {
        const draft = `${folder}/.redline-${randomUUID()}`;
        try {
          if ('link' in content) await fs.symlink(content.link, draft);
          else await writeNew(draft, content, bits, options);
          await patiently(async () => {
            await this.#assertStill(relative, still);
            await this.#folders.in(own, to => fs.rename(draft, `${to}/${path.posix.basename(relative)}`));
          });
        } catch (error) {
          await fs.rm(draft, { force: true });
          throw error;
        }
      });
    } catch (error) {
      if (drafts === own || !hasCode(error, 'EXDEV')) throw error;
      await this.write(relative, content, bits, { ...options, drafts: own });
    }
  }

  async #assertStill(relative: string, still: string | undefined): Promise<void> {
    if (still !== undefined && (await this.stamp(relative)).stamp !== still) throw new ChangedError();
  }

  /** Makes a folder and those above it, unless they are there. Nothing is removed for them. */
  async #makeMissing(relative: string): Promise<void> {
    if (relative === '.' || (await this.in(relative, () => Promise.resolve(true)))) return;
    const above = path.posix.dirname(relative);
    await this.#makeMissing(above);
    await this.#folders.in(above, folder =>
      fs.mkdir(`${folder}/${path.posix.basename(relative)}`).catch(ignoreExisting),
    );
  }

  /**
   * Copies a file of another tree with its permission bits, or a link as it is; anything else is left out.
   * @param to a free path in an existing folder; by default the same path
   * @returns false if the user may not read it
   */
  async copy(
    relative: string,
    from: PlainTree,
    options: CopyOptions & { readonly to?: string } = {},
  ): Promise<boolean> {
    const { to = relative } = options;
    const isRead = await this.#folders.in(path.posix.dirname(to), folder =>
      from.at(relative, at => copyEntry(at, `${folder}/${path.posix.basename(to)}`, options)),
    );
    return isRead ?? true;
  }

  /** Gives a file a second name in the tree, a hard link, and replaces the entry of that name. */
  async link(relative: string, to: string): Promise<void> {
    await this.clear(to);
    await this.at(relative, from => this.at(to, at => fs.link(from, at)));
  }

  /** Moves the entry at a path to the same path in another tree, where the folder above it must exist. */
  async move(relative: string, to: PlainTree): Promise<void> {
    await this.#folders.in(path.posix.dirname(relative), from =>
      to.#folders.in(path.posix.dirname(relative), folder => {
        const name = path.posix.basename(relative);
        return fs.rename(`${from}/${name}`, `${folder}/${name}`);
      }),
    );
    for (const tree of [this, to]) tree.#folders.forget(relative);
  }

  /** Whether two paths are names of one file. */
  async isSame(one: string, other: string): Promise<boolean> {
    const [a, b] = [await this.stat(one), await this.stat(other)];
    return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
  }

  /** Removes the entry at a path, with everything in it. */
  async clear(relative: string): Promise<void> {
    await this.at(relative, at => clearIn(path.posix.dirname(at), Buffer.from(path.posix.basename(at))));
    this.#folders.forget(relative);
  }

  /**
   * Removes a file or link, if there is one, and the folders above it that it leaves empty.
   * @param still its {@link stamp}
   * @throws ChangedError
   */
  async remove(relative: string, still?: string): Promise<void> {
    await patiently(async () => {
      await this.#assertStill(relative, still);
      await this.at(relative, at => fs.unlink(at));
    });
    for (let at = path.posix.dirname(relative); at !== '.'; at = path.posix.dirname(at)) {
      this.#folders.forget(at);
      if ((await this.at(at, each => succeeds(fs.rmdir(each)))) !== true) return;
    }
  }
}

/** Runs `work` with trees whose folders are held meanwhile. */
export async function inTrees<const Roots extends readonly (string | PlainTree)[], T>(
  roots: Roots,
  work: (...trees: { [At in keyof Roots]: PlainTree }) => Promise<T>,
): Promise<T> {
  const trees = roots.map(root => (typeof root === 'string' ? new PlainTree(root) : root).hold());
  try {
    return await work(...(trees as { [At in keyof Roots]: PlainTree }));
  } finally {
    await Promise.all(trees.map(tree => tree.close()));
  }
}

/** @param size the expected size, in bytes */
async function readMost(file: fs.FileHandle, size: number, most: number): Promise<Uint8Array> {
  let bytes = Buffer.alloc(size + 1);
  for (let length = 0; ;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    length += bytesRead;
    if (bytesRead === 0) return bytes.subarray(0, length);
    if (length > most) throw new Error(`It has more than ${most} bytes.`);
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length, most + 1));
  }
}

async function writeNew(
  at: string,
  content: Uint8Array,
  bits: number | undefined,
  { time, isSynced }: WriteOptions,
): Promise<void> {
  const file = await fs.open(at, 'wx', bits ?? 0o666);
  try {
    await file.writeFile(content);
    if (bits !== undefined) await file.chmod(bits);
    if (time !== undefined) await file.utimes(time, time);
    if (isSynced) await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * The time of a file's last change, in seconds and to the microsecond. A `Date` has only milliseconds, and a build may make an
 * output in the same one in which its source changed.
 */
export function timeIn({ mtimeMs }: { readonly mtimeMs: number }): number {
  return mtimeMs / 1000;
}

interface WriteOptions {
  /** The time of its last change, a number in seconds; by default now. */
  readonly time?: Date | number;
  /** A folder in which it is written before it gets its name; by default its own. One on another disk is not used. */
  readonly drafts?: string;
  /** The {@link PlainTree.stamp} of the entry at the path: if it has changed, nothing is replaced. */
  readonly still?: string | undefined;
  /** After a power cut, the path holds the old entry or this file. */
  readonly isSynced?: boolean;
}

interface CopyOptions {
  /** The copy keeps the time of the last change; else its time is new. */
  readonly keepsTime?: boolean;
  /** Maps the target of a link to that of its copy. */
  readonly targetOf?: (target: string) => Promise<string>;
}

/** Like {@link PlainTree.copy}. */
async function copyEntry(from: string, to: string, { keepsTime, targetOf }: CopyOptions): Promise<boolean> {
  const stat = await fs.lstat(from);
  if (stat.isSymbolicLink()) {
    const target = await fs.readlink(from);
    // On Windows, links to folders need no privilege only as junctions, which are absolute.
    const isJunction = process.platform === 'win32' && path.isAbsolute(target);
    await fs.symlink((await targetOf?.(target)) ?? target, to, isJunction ? 'junction' : undefined);
  }
  if (!stat.isFile()) return true;
  let file: fs.FileHandle;
  try {
    file = await fs.open(from, FILE);
  } catch (error) {
    // A file that the user may not read cannot be needed by a command.
    if (hasCode(error, 'EACCES')) return false;
    throw error;
  }
  try {
    const found = await file.stat();
    if (!found.isFile()) return true;
    const opened = process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : from;
    await fs.copyFile(opened, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    if ((found.mode & 0o7000) !== 0) await fs.chmod(to, found.mode & 0o777);
    if (keepsTime) await fs.lutimes(to, found.atimeMs / 1000, timeIn(found)).catch(() => undefined);
    return true;
  } finally {
    await file.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}
