import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { messageOf } from '../../../../base/errors.ts';
import { sha256 } from '../../../../base/hash.ts';
import { replaceFile } from '../../../../base/system/replaceFile.ts';
import type { NativeFiles } from './astGrepNapi.ts';

/** A packed file: the engine or a language's grammar, and the beginning of the hash of its content. */
const PACKED = /^((?:engine|grammar-(\w+))-(\w{16})\.node)\.br$/;
/** An unpacked file, or a draft of one. */
const UNPACKED = /^(?:engine|grammar-\w+)-\w{16}\.node(?:\.[\w-]+)?$/;
/** A file that no start has used for this many milliseconds is unused: the engine loads grammars long after its start. */
const OLD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Unpacks the native files of a package into a folder that all windows share. Those that are there are checked, and unpacked
 * again if they are damaged. Files of other versions are removed when they are old.
 * @param packed the package's folder for the platform
 * @throws Error that says which file cannot be read, unpacked or written, and why
 */
export async function unpackNative(packed: string, unpacked: string): Promise<NativeFiles> {
  const names = (await fs.readdir(packed)).flatMap(name => {
    const [, file = '', language = 'engine', hash = ''] = PACKED.exec(name) ?? [];
    return hash === '' ? [] : { from: path.join(packed, name), file, language, hash };
  });
  const files = names.map(async ({ from, file, language, hash }) => {
    const to = path.join(unpacked, file);
    if (await isIntact(to, hash)) await touch(to);
    else await unpack(from, to, hash);
    return [language, to] as const;
  });
  const { engine, ...grammars } = Object.fromEntries(await Promise.all(files));
  if (engine === undefined) throw new Error(`There is no engine in ${packed}`);
  await removeOld(unpacked, new Set(names.map(({ file }) => file)));
  return { engine, grammars };
}

async function isIntact(file: string, hash: string): Promise<boolean> {
  try {
    return sha256(await fs.readFile(file)).startsWith(hash);
  } catch {
    return false; // It is not there or cannot be read, so it is replaced.
  }
}

/** Says that the file is in use. */
async function touch(file: string): Promise<void> {
  const now = new Date();
  await fs.utimes(file, now, now).catch(() => undefined); // A storage that cannot be written loses nothing.
}

async function unpack(from: string, to: string, hash: string): Promise<void> {
  const bytes = await promisify(brotliDecompress)(await fs.readFile(from)).catch((error: unknown) => {
    throw new Error(`${from} is damaged: ${messageOf(error)}`);
  });
  if (!sha256(bytes).startsWith(hash)) throw new Error(`${from} is damaged: its content has another hash`);
  const draft = `${to}.${randomUUID()}`;
  try {
    await fs.mkdir(path.dirname(to), { recursive: true });
    await fs.writeFile(draft, bytes, { flag: 'wx', flush: true });
    await replaceFile(draft, to);
  } catch (error) {
    // Windows does not replace a file that another window has unpacked and loaded in the meantime.
    if (!(await isIntact(to, hash))) throw error;
  } finally {
    await fs.rm(draft, { force: true });
  }
}

async function removeOld(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const others = (await fs.readdir(folder)).filter(name => UNPACKED.test(name) && !kept.has(name));
  // Windows keeps a file that another window has loaded: the next start tries again.
  await Promise.allSettled(
    others.map(async name => {
      const file = path.join(folder, name);
      if (Date.now() - (await fs.stat(file)).mtimeMs > OLD_MS) await fs.rm(file);
    }),
  );
}
