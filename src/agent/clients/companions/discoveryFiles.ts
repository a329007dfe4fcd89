import { constants, lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { isAlive } from '../../base/processLock.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';

/** The bits of a mode that let others than the owner write. */
const OTHERS_WRITE = constants.S_IWGRP | constants.S_IWOTH;
/** Marks the files of Redline among those of others. */
const OWNER = 'redline';
const ownSchema = z.object({ owner: z.literal(OWNER), pid: z.int().check(z.minimum(1)) });

/** A file in which an agent looks for a window, at a place that the agent sets. */
export interface Discovery {
  /** The file, absolute. */
  readonly file: string;
  /** What the agent reads in it. */
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Writes a file that only the user can read, since it holds a token, and replaces it as a whole.
 * @returns removes the file; never rejects.
 * @throws Error if another user could put a file of their own there: if the folder, or one above it in the temporary folder, is
 *   theirs, a link, or writable for others.
 */
export async function leaveWord({ file, content }: Discovery): Promise<() => Promise<void>> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const each of sharedAbove(folder)) await assertOwn(each);
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(JSON.stringify({ pid: process.pid, ...content, owner: OWNER }));
  } finally {
    await handle.close();
  }
  await replaceFile(draft, file);
  return () => rm(file, { force: true }).catch(() => undefined);
}

/** Removes what windows of Redline left in a folder that are gone. Files of others stay. Never rejects. */
export async function removeLeftWord(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(each => /\.(?:json|lock)$/.test(each))) {
    const file = path.join(folder, name);
    const own = await readOwn(file);
    if (own && !isAlive(own.pid)) await rm(file, { force: true }).catch(() => undefined);
  }
}

async function readOwn(file: string): Promise<z.infer<typeof ownSchema> | undefined> {
  try {
    if (!(await lstat(file)).isFile()) return undefined;
    return ownSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** The folders down to this one in which others may have been first: all in the temporary folder, else this one alone. */
function sharedAbove(folder: string): readonly string[] {
  const names = path.relative(tmpdir(), folder).split(path.sep);
  if (names[0] === '..' || names[0] === '' || path.isAbsolute(names.join(path.sep))) return [folder];
  return names.map((_, index) => path.join(tmpdir(), ...names.slice(0, index + 1)));
}

async function assertOwn(folder: string): Promise<void> {
  const { uid, mode } = await lstat(folder);
  const own = process.getuid?.();
  if (own === undefined) return;
  if (uid !== own) throw new Error(`${folder} belongs to another user.`);
  if ((mode & constants.S_IFMT) !== constants.S_IFDIR || (mode & OTHERS_WRITE) !== 0)
    throw new Error(`Other users can change what is in ${folder}.`);
}
