import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** How long others may keep a file open, and how often it is tried again, in milliseconds. */
const PATIENCE = 2_000;
const POLL = 20;

/**
 * Moves a file to where another one may be, which it replaces. Windows refuses that while some program has the other one open, such
 * as another window that reads it or a virus scanner, which soon closes it: then it is tried again for two seconds.
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
