import { lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { isAlive } from '../../base/processLock.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';

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
 * @throws Error if the folder is another user's, who could put a file of their own there.
 */
export async function leaveWord({ file, content }: Discovery): Promise<() => Promise<void>> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await assertOwn(folder);
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

async function assertOwn(folder: string): Promise<void> {
  const { uid } = await lstat(folder);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) throw new Error(`${folder} belongs to another user.`);
}
