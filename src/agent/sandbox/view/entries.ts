import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { forEachLimited } from '../../base/async.ts';
import { hasCode } from '../../base/errors.ts';
import { kindOf, type Found } from './effects.ts';
import { isNothing, openFolder, setBits } from './openFolders.ts';

/** How many entries of a folder are read at a time, so that a wide one does not block the event loop. */
const AT_A_TIME = 512;
/** How many files are removed concurrently. */
const AT_ONCE = 16;
/** How deep folders are held open; deeper ones are moved up first. */
const MAX_DEPTH = 24;
/** Retries if another program changes a tree, or holds it open, while it is removed, and the delay before each in milliseconds. */
const RETRIES = 3;
const RETRY_MS = 100;

/** An entry of a folder. */
export interface Entry {
  readonly bytes: Buffer;
  /** With replacement characters for bytes that are not UTF-8; then {@link isUtf8} is false. */
  readonly name: string;
  readonly isUtf8: boolean;
  readonly kind: Found['kind'];
}

/** Lists a folder in parts, in no order. */
export async function* entriesOf(folder: string | Buffer): AsyncGenerator<readonly Entry[]> {
  // One character for each byte.
  const opened = await fs.opendir(folder, { encoding: 'latin1', bufferSize: AT_A_TIME });
  let part: Entry[] = [];
  for await (const entry of opened) {
    const bytes = Buffer.from(entry.name, 'latin1');
    const name = bytes.toString();
    part.push({ bytes, name, isUtf8: Buffer.from(name).equals(bytes), kind: kindOf(entry) });
    if (part.length < AT_A_TIME) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/**
 * Removes a tree, even if its folders forbid that, as the kernel's work folder does, or paths are longer than the system takes.
 * Another program may be at work in it: no link that it puts there is followed, nor one in place of the tree.
 */
export async function removeTree(at: string): Promise<void> {
  await clearIn(path.dirname(at), Buffer.from(path.basename(at)));
}

/** Like {@link removeTree}. @param folder leads to the folder that it is in, and is not checked */
export async function clearIn(folder: string, name: Buffer): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      return await remove(folder, name, undefined);
    } catch (error) {
      if (tries === RETRIES || hasCode(error, 'ENOSPC')) throw error;
      await delay(RETRY_MS);
    }
}

/** The position of a folder in the tree that is removed. */
interface Above {
  readonly root: string;
  readonly depth: number;
  /** Folders that were moved into the root, since they were too deep. */
  readonly moved: Buffer[];
}

async function remove(folder: string, name: Buffer, above: Above | undefined): Promise<void> {
  const at = inFolder(folder, name);
  try {
    // Most folders are empty: one call of the system is enough for them.
    return await fs.rmdir(at);
  } catch (error) {
    if (hasCode(error, 'ENOENT') && process.platform !== 'win32') return;
  }
  try {
    const stat = await fs.lstat(at);
    if (!stat.isDirectory()) return await fs.unlink(at);
    if ((stat.mode & 0o700) !== 0o700) await setBits(at, 0o700);
    if (above && above.depth > MAX_DEPTH) {
      const moved = Buffer.from(randomUUID());
      await fs.rename(at, inFolder(above.root, moved));
      return void above.moved.push(moved);
    }
    const open = await openFolder(at);
    try {
      const below: Buffer[] = [];
      for await (const part of entriesOf(open.at)) {
        const files: Buffer[] = [];
        for (const { bytes, kind } of part) (kind === 'folder' ? below : files).push(bytes);
        await forEachLimited(files, AT_ONCE, file => unlink(inFolder(open.at, file)));
      }
      const { root = open.at, depth = 0, moved = [] } = above ?? {};
      for (const each of below) await remove(open.at, each, { root, depth: depth + 1, moved });
      if (!above)
        for (let each = moved.pop(); each; each = moved.pop())
          await remove(open.at, each, { root, depth: 1, moved });
    } finally {
      await open.close();
    }
    await fs.rmdir(at);
  } catch (error) {
    // Something above it is no longer a folder, or another program has removed it.
    if (!isNothing(error) || (await isThere(at))) throw error;
  }
}

/** Removes a file, unless another window has. */
function unlink(at: Buffer): Promise<void> {
  return fs.unlink(at).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

function isThere(at: Buffer): Promise<boolean> {
  return fs.lstat(at).then(
    () => true,
    () => false,
  );
}

function inFolder(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from(path.sep), name]);
}
