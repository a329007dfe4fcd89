import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { isMissing, kindOf, type Found } from './effects.ts';

/** How many entries of a folder are read at a time, so that a wide one does not block the event loop. */
const AT_A_TIME = 512;
/** How many files are removed concurrently. */
const AT_ONCE = 16;

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

/** Removes a tree in which folders may forbid it, as the kernel's work folder does. */
export async function removeTree(at: string): Promise<void> {
  try {
    await remove(Buffer.from(at));
  } catch {
    // What another program holds open on Windows, for example, is free soon.
    await fs.rm(at, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function remove(at: Buffer): Promise<void> {
  try {
    const stat = await fs.lstat(at);
    if (!stat.isDirectory()) return await fs.unlink(at);
    if ((stat.mode & 0o700) !== 0o700) await fs.chmod(at, 0o700);
    const below: Buffer[] = [];
    for await (const part of entriesOf(at)) {
      const files: Buffer[] = [];
      for (const { bytes, kind } of part)
        (kind === 'folder' ? below : files).push(Buffer.concat([at, Buffer.from(path.sep), bytes]));
      await forEachLimited(files, AT_ONCE, file => fs.unlink(file));
    }
    for (const folder of below) await remove(folder);
    await fs.rmdir(at);
  } catch (error) {
    // Something that is no folder stands above it, or another one has removed it.
    if (!isMissing(error)) throw error;
  }
}
