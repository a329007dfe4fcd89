import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { isMissing, kindOf, type Found } from './effects.ts';

/** How many entries of a folder are read at a time, so that a wide one does not block the event loop. */
const AT_A_TIME = 512;
/** How many files are removed concurrently. */
const AT_ONCE = 16;
/** How long the path of a folder may become, in bytes: with any name in it, it is shorter than what systems take. */
const MAX_LENGTH = 2_000;

/** What is in a folder. */
export interface Entry {
  readonly bytes: Buffer;
  /** With a sign for each byte that is not UTF-8; then {@link isUtf8} is false. */
  readonly name: string;
  readonly isUtf8: boolean;
  readonly kind: Found['kind'];
}

/** What is in a folder, a part of it at a time, in no order. */
export async function* entriesOf(folder: string | Buffer): AsyncGenerator<readonly Entry[]> {
  // One sign for each byte, whatever it is.
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

/** Removes a tree in which folders may forbid it, as the kernel's work folder does, and paths may be longer than the system takes. */
export async function removeTree(at: string): Promise<void> {
  try {
    await remove(Buffer.from(at), Buffer.from(at));
  } catch {
    // What another program holds open on Windows, for example, is free soon.
    await fs.rm(at, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function remove(root: Buffer, at: Buffer): Promise<void> {
  try {
    const stat = await fs.lstat(at);
    if (!stat.isDirectory()) return await fs.unlink(at);
    if ((stat.mode & 0o700) !== 0o700) await fs.chmod(at, 0o700);
    const folder = at.length > MAX_LENGTH ? await shortened(root, at) : at;
    const below: Buffer[] = [];
    for await (const part of entriesOf(folder)) {
      const files: Buffer[] = [];
      for (const { bytes, kind } of part) (kind === 'folder' ? below : files).push(inFolder(folder, bytes));
      await forEachLimited(files, AT_ONCE, file => fs.unlink(file));
    }
    for (const each of below) await remove(root, each);
    await fs.rmdir(folder);
  } catch (error) {
    // Something that is no folder stands above it, or another one has removed it.
    if (!isMissing(error)) throw error;
  }
}

/** Moves a folder to where its path is short. */
async function shortened(root: Buffer, folder: Buffer): Promise<Buffer> {
  const to = inFolder(root, Buffer.from(randomUUID()));
  await fs.rename(folder, to);
  return to;
}

function inFolder(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from(path.sep), name]);
}
