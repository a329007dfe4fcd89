import { constants, type BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { hasCode } from '../../base/errors.ts';

/** Opens a folder only as a way to its entries, even if it forbids reading. */
const O_PATH = 0x200000;
/** The longest path that systems take, in bytes: deeper entries can be reached only through open folders. */
const MAX_PATH = 4_095;
/** How many folders stay open at a time. */
const MOST_OPEN = 64;

const isLinux = process.platform === 'linux';

/** The identity of a folder, wherever it is moved. */
export type FolderId = Pick<BigIntStats, 'dev' | 'ino'>;

/** Another folder, or a link to one, stands where a tree was. */
export class ReplacedError extends Error {
  override readonly name = 'ReplacedError';
}

/** A folder that is held open: its contents are found at `at`, even if its name changes meanwhile. */
export interface OpenFolder {
  readonly at: string;
  close(): Promise<void>;
}

/**
 * Opens a folder, but no link to one. On systems that cannot hold folders (all but Linux), it is only checked once.
 * @throws the error of the system, ENOTDIR if something else stands there
 */
export async function openFolder(at: string | Buffer): Promise<OpenFolder> {
  if (!isLinux) {
    const stat = await fs.lstat(at);
    if (!stat.isDirectory()) throw Object.assign(new Error('It is not a folder.'), { code: 'ENOTDIR' });
    return { at: at.toString(), close: () => Promise.resolve() };
  }
  const handle = await fs.open(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { at: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}

/** Sets the permission bits of a file or folder; does not follow a link. */
export async function setBits(at: string | Buffer, bits: number): Promise<void> {
  if (!isLinux) {
    if (!(await fs.lstat(at)).isSymbolicLink()) await fs.chmod(at, bits);
    return;
  }
  const handle = await fs.open(at, O_PATH | constants.O_NOFOLLOW);
  try {
    await fs.chmod(`/proc/self/fd/${handle.fd}`, bits);
  } finally {
    await handle.close();
  }
}

/** The identity of the folder at a path. @throws the error of the system */
export async function folderId(at: string): Promise<FolderId> {
  const { dev, ino } = await fs.lstat(at, { bigint: true });
  return { dev, ino };
}

/** Whether an error means that nothing is there, also because a file or a link stands in the way. */
export function isNothing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO');
}

interface Held {
  users: number;
  isForgotten: boolean;
  readonly opened: Promise<OpenFolder>;
}

/** The folders of a tree that are open, by relative path. */
export class OpenFolders {
  readonly #root: string;
  readonly #id: FolderId | undefined;
  readonly #held = new Map<string, Held>();
  readonly #closing = new Set<Promise<void>>();
  #most = 0;

  constructor(root: string, id: FolderId | undefined) {
    this.#root = root;
    this.#id = id;
  }

  /** Works in a folder of the tree while it is held. @throws the error of the system if it is not a folder, or is too deep */
  async in<T>(relative: string, work: (folder: string) => Promise<T>): Promise<T> {
    if (Buffer.byteLength(this.#root) + Buffer.byteLength(relative) > MAX_PATH)
      throw Object.assign(new Error('ENAMETOOLONG: name too long'), { code: 'ENAMETOOLONG' });
    const held = this.#hold(relative === '.' ? '' : relative);
    try {
      return await work((await held.opened).at);
    } finally {
      held.users--;
      if (!held.isForgotten) this.#closeUnused();
      else if (held.users === 0) this.#close(held);
    }
  }

  /** Forgets the folders at and below a path that is removed or moved. */
  forget(relative: string): void {
    for (const [at, held] of this.#held)
      if (at === relative || at.startsWith(`${relative}/`)) this.#forgetOne(at, held);
  }

  /** Folders stay open from now on, until {@link close} is called. */
  hold(): void {
    this.#most = MOST_OPEN;
  }

  /** Closes all folders; none stays open from now on. */
  async close(): Promise<void> {
    this.#most = 0;
    this.#closeUnused();
    await Promise.all(this.#closing);
  }

  #hold(relative: string): Held {
    const known = this.#held.get(relative);
    const held = known ?? {
      users: 0,
      isForgotten: false,
      opened: relative === '' ? this.#openRoot() : this.#openBelow(relative),
    };
    held.users++;
    // The map is in order of last use.
    this.#held.delete(relative);
    this.#held.set(relative, held);
    if (!known)
      held.opened.catch(() => {
        if (this.#held.get(relative) === held) this.#held.delete(relative);
      });
    return held;
  }

  async #openRoot(): Promise<OpenFolder> {
    const folder = await openFolder(this.#root);
    if (!this.#id) return folder;
    const { dev, ino } = await fs.stat(folder.at, { bigint: true });
    if (dev === this.#id.dev && ino === this.#id.ino) return folder;
    await folder.close();
    throw new ReplacedError('another folder stands in its place');
  }

  #openBelow(relative: string): Promise<OpenFolder> {
    const end = relative.lastIndexOf('/');
    const name = relative.slice(end + 1);
    return this.in(relative.slice(0, Math.max(end, 0)), above => openFolder(`${above}/${name}`));
  }

  #closeUnused(): void {
    for (const [at, held] of this.#held) {
      if (this.#held.size <= this.#most) return;
      if (held.users === 0) this.#forgetOne(at, held);
    }
  }

  #forgetOne(at: string, held: Held): void {
    this.#held.delete(at);
    held.isForgotten = true;
    if (held.users === 0) this.#close(held);
  }

  #close({ opened }: Held): void {
    const closing = opened.then(folder => folder.close()).catch(() => undefined);
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}
