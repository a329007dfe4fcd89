import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** How long to wait for other programs to close the file, and how long between two attempts, in milliseconds. */
const PATIENCE = 2_000;
const POLL = 20;

/**
 * Moves a file to a place where another one may be, and replaces that. Windows refuses while a program has the other file
 * open; a virus scanner or another window that reads it soon closes it, so the move is tried again for two seconds.
 * @throws the last error of the file system.
 */
export async function replaceFile(
  from: string,
  to: string,
  { move = rename, platform = process.platform, patience = PATIENCE } = {},
): Promise<void> {
  const until = Date.now() + patience;
  for (;;) {
    try {
      return await move(from, to);
    } catch (error) {
      if (!isTransient(error, platform) || Date.now() >= until) throw error;
    }
    await delay(POLL);
  }
}

/** Whether another program may just have the file open, which Windows answers with several errors. */
export function isTransient(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EBUSY' || (platform === 'win32' && (code === 'EPERM' || code === 'EACCES'));
}
