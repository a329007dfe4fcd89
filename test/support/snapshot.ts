import * as fs from 'node:fs';
import * as path from 'node:path';

/** Everything under a folder: for each file its text and permission bits, for each empty folder a word. Sorted by path. */
export function snapshotOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const file = nameOf(entry);
    const name = path.relative(folder, file);
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
