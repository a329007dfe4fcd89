import { readdir, realpath, stat } from 'node:fs/promises';
import * as path from 'node:path';

/** A folder that holds custom tools, or a single file that is one. */
export interface ToolPlace {
  /** Absolute. */
  readonly path: string;
  /** Where its tools work: what `pi.cwd` is. */
  readonly cwd: string;
  /** Whether what lies there may be run. */
  readonly trusted: boolean;
}

const EXTENSIONS = ['.ts', '.js', '.mjs', '.cjs'] as const;
/** The most files that are looked at to find out whether anything changed. */
const MAX_FILES = 5_000;

/** The tools of a place, sorted: its files, and the index files of its folders. Nothing, where there is no such place. */
export async function toolFiles(place: string): Promise<readonly string[]> {
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

/** A place at one moment. */
export interface PlaceState {
  /** Another text once any file or folder of the place is another; empty where there is none. */
  readonly signature: string;
  /** Its folders, itself among them. */
  readonly folders: readonly string[];
}

/** Looks at all that a place holds. Links may lead in circles. */
export async function placeState(place: string): Promise<PlaceState> {
  const lines: string[] = [];
  const folders = new Set<string>();
  const visit = async (entry: string): Promise<void> => {
    const info = await stat(entry).catch(() => undefined);
    if (!info || lines.length >= MAX_FILES) return;
    if (info.isDirectory()) {
      const folder = await realpath(entry).catch(() => entry);
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
