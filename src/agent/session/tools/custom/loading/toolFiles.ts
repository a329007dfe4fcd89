import { readdir, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { realPath } from '../../../../base/system/realPath.ts';

/** A folder that holds custom tools, or a single file that is one. */
export interface ToolPlace {
  /** Absolute. */
  readonly path: string;
  /** The `pi.cwd` of its tools. */
  readonly cwd: string;
  /** Whether code there may be run. */
  readonly trusted: boolean;
}

const EXTENSIONS = ['.ts', '.js', '.mjs', '.cjs'] as const;
/** The most files of a place that are checked for changes. */
const MAX_FILES = 5_000;

/** Lists the tools of a place, sorted: its files, and the index files of its folders. Empty if it does not exist. */
export async function listToolFiles(place: string): Promise<readonly string[]> {
  const info = await stat(place).catch(() => undefined);
  if (!info?.isDirectory()) return info?.isFile() && isTool(place) ? [place] : [];
  const files: string[] = [];
  for (const name of await namesIn(place)) {
    const entry = path.join(place, name);
    const kind = await stat(entry).catch(() => undefined);
    if (kind?.isFile() && isTool(name)) files.push(entry);
    if (kind?.isDirectory()) {
      const inside = new Set(await namesIn(entry));
      const index = EXTENSIONS.map(extension => `index${extension}`).find(candidate => inside.has(candidate));
      if (index !== undefined) files.push(path.join(entry, index));
    }
  }
  return files;
}

/** A place at one moment, to find out whether it has changed. */
export interface PlaceState {
  /** Differs whenever a file or folder of the place has changed; empty if the place does not exist. */
  readonly signature: string;
  /** Its folders, including itself. */
  readonly folders: readonly string[];
}

/** Reads the state of everything in a place. Links may form cycles. */
export async function readPlaceState(place: string): Promise<PlaceState> {
  const lines: string[] = [];
  const folders = new Set<string>();
  const visit = async (entry: string): Promise<void> => {
    const info = await stat(entry).catch(() => undefined);
    if (!info || lines.length >= MAX_FILES) return;
    if (info.isDirectory()) {
      const folder = await realPath(entry).catch(() => entry);
      if (folders.has(folder)) return;
      folders.add(folder);
      lines.push(folder);
      for (const name of await namesIn(entry)) await visit(path.join(entry, name));
    } else lines.push(`${entry}\t${info.mtimeMs}\t${info.size}\t${info.ino}`);
  };
  await visit(place);
  return { signature: lines.join('\n'), folders: [...folders] };
}

function isTool(file: string): boolean {
  return EXTENSIONS.some(extension => file.endsWith(extension)) && !file.endsWith('.d.ts');
}

/** The names in a folder, sorted, without hidden ones and packages. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter(name => !name.startsWith('.') && name !== 'node_modules').sort();
}
