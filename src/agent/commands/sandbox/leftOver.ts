import * as fs from 'node:fs/promises';

/**
 * Ends what an earlier window has left that was killed while a command was started: then bubblewrap may wait for ever for a
 * program that is gone. All else ends with the window.
 * @param storage that of the sandboxes, which this window alone uses
 */
export async function endLeftOver(storage: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const args = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!/^[^\0]*bwrap\0/.test(args) || !args.includes(`\0${storage}/`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
