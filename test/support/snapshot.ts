import * as fs from 'node:fs';
import * as path from 'node:path';

/** What this system keeps of permission bits: Windows knows only whether a file may be written. */
export function keptMode(mode: number): number {
  if (process.platform !== 'win32') return mode;
  return mode & 0o200 ? 0o666 : 0o444;
}

/** Everything under a folder: for each file its text and permission bits, for each empty folder a word. Sorted by path. */
export function snapshotOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const file = nameOf(entry);
    const name = path.relative(folder, file).replaceAll('\\', '/');
    if (entry.isDirectory()) {
      if (fs.readdirSync(file).length === 0) found[name] = 'empty folder';
    } else {
      found[name] = `${(fs.statSync(file).mode & 0o777).toString(8)} ${fs.readFileSync(file, 'latin1')}`;
    }
  }
  return found;
}

function nameOf(entry: fs.Dirent): string {
  return path.join(entry.parentPath, entry.name);
}
