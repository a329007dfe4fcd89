import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileIdOf } from '../../agent/base/system/realPath.ts';
import { foldCase } from '../../agent/hold/preview/resolve/protectedPlaces.ts';

/** The file system calls that {@link namesOnDisk} needs. */
export interface NameLookup {
  /** Identifies a file: two names with the same id are one file; `undefined` if there is no such file. Links are not followed. */
  readonly idOf: (file: string) => string | undefined;
  /** The names in a folder, as the file system spells them. */
  readonly list: (folder: string) => readonly string[];
}

const ON_DISK: NameLookup = { idOf: fileId, list: folder => fs.readdirSync(folder) };

/**
 * Spells a path as the file system does, so that one file is one path also where `src/App.ts` and `SRC/app.ts`, or the composed and
 * the decomposed form of an `é`, are the same file, and where Windows gives a long name a short one. Names that do not exist are
 * kept.
 * @param relative a path below `folder`, with forward slashes.
 */
export function namesOnDisk(folder: string, relative: string, files = ON_DISK): string {
  const parts = relative.split('/');
  const known = knownThisTurn(files);
  let at = folder;
  for (const [i, part] of parts.entries()) {
    const file = path.join(at, part);
    let name = known.names.get(file);
    if (name === undefined) {
      const id = files.idOf(file);
      if (id === undefined) break;
      const hasOtherSpelling =
        SHORT_NAME.test(part) ||
        spellingsOf(part).some(other => files.idOf(path.join(at, other)) !== undefined);
      name = hasOtherSpelling ? nameInFolder(at, part, id, files, known) : part;
      known.names.set(file, name);
    }
    parts[i] = name;
    at = file;
  }
  return parts.join('/');
}

/**
 * Spells the missing names of a path as in the planned file that shares the most leading names, if the file system does not tell
 * the spellings apart.
 * @param relative as {@link namesOnDisk} returns it.
 * @param planned paths below `folder`, too.
 */
export function spelledAsPlanned(
  folder: string,
  relative: string,
  planned: readonly string[],
  files = ON_DISK,
): string {
  const parts = relative.split('/');
  let best = { parts, alike: 0 };
  for (const other of planned) {
    const others = other.split('/');
    const differs = parts.findIndex((part, i) => !isOneName(part, others[i]));
    const alike = differs < 0 ? parts.length : differs;
    if (alike > best.alike) best = { parts: [...others.slice(0, alike), ...parts.slice(alike)], alike };
  }
  const spelled = best.parts.join('/');
  if (spelled === relative) return relative;
  const existing = parts.findIndex(
    (_, i) => files.idOf(path.join(folder, ...parts.slice(0, i + 1))) === undefined,
  );
  const parent = path.join(folder, ...parts.slice(0, Math.max(0, existing)));
  return tellsSpellingsApart(parent, files) ? relative : spelled;
}

/** Whether a file system that tells neither case nor normalisation apart takes two names for one. */
function isOneName(a: string, b: string | undefined): boolean {
  return (
    b !== undefined && (a === b || a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase())
  );
}

/** Whether the file system tells spellings of a name apart: judged by the entries of a folder, else by the folders above it. */
function tellsSpellingsApart(folder: string, files: NameLookup): boolean {
  const inside = files.list(folder).map(name => path.join(folder, name));
  const above: string[] = [];
  for (let at = folder; path.dirname(at) !== at; at = path.dirname(at)) above.push(at);
  for (const file of [...inside, ...above]) {
    const [other] = spellingsOf(path.basename(file));
    if (other === undefined) continue;
    const id = files.idOf(file);
    if (id !== undefined) return files.idOf(path.join(path.dirname(file), other)) !== id;
  }
  return true;
}

/** Form of the short names that Windows gives long names: six characters, a number and an extension, such as `LONGNA~1.TS`. */
const SHORT_NAME = /^[^.]{1,6}~\d+(?:\.[^.]{0,3})?$/;

/** Whether two paths are the same file: equal, or two spellings of one on a file system that does not tell them apart. */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  if (foldCase(a) !== foldCase(b)) return false;
  const id = fileId(a);
  return id !== undefined && id === fileId(b);
}

/** Spellings of a name that are another file only where case and Unicode normalisation count. */
function spellingsOf(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const others = [lower === name ? name.toUpperCase() : lower, name.normalize('NFC'), name.normalize('NFD')];
  return others.filter(other => other !== name);
}

/** Lookups cached for one turn of the event loop: too short a time for others to rename files in. */
interface Known {
  /** How existing files are spelled, by the path that was asked for. */
  readonly names: Map<string, string>;
  /** The names in folders, by how they fold. */
  readonly listings: Map<string, ReadonlyMap<string, readonly string[]>>;
}

const knownOf = new WeakMap<NameLookup, Known>();

function knownThisTurn(files: NameLookup): Known {
  let known = knownOf.get(files);
  if (!known) {
    knownOf.set(files, (known = { names: new Map(), listings: new Map() }));
    setImmediate(() => knownOf.delete(files)).unref();
  }
  return known;
}

function nameInFolder(folder: string, name: string, id: string, files: NameLookup, known: Known): string {
  let listing = known.listings.get(folder);
  if (!listing) known.listings.set(folder, (listing = Map.groupBy(files.list(folder), foldCase)));
  const alike = listing.get(foldCase(name)) ?? [];
  if (alike.includes(name)) return name;
  const candidates = SHORT_NAME.test(name) ? [...alike, ...[...listing.values()].flat()] : alike;
  const same = candidates.find(other => files.idOf(path.join(folder, other)) === id);
  // Some file systems in user space identify a file by the name that it was asked for.
  return same ?? (alike.length === 1 ? alike[0] : undefined) ?? name;
}

function fileId(file: string): string | undefined {
  try {
    const { dev, ino } = fs.lstatSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // there is none, or it cannot be seen: then its name is taken as it is
  }
}

/**
 * An identity shared by all names of a file, and by no other file: symbolic links, hard links and other spellings. For a missing
 * file, it is the name and the identity of its folder; for one that the system does not identify, the name.
 */
export function placeId(file: string): string {
  let id: string | undefined;
  try {
    id = fileIdOf(fs.statSync(file, { bigint: true }));
  } catch {
    const folder = path.dirname(file);
    if (folder !== file) id = path.join(placeId(folder), path.basename(file));
  }
  return id ?? file;
}

/** Names of devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

/**
 * Whether Windows can hold a file or folder of this name. Some names mean a device, a colon begins the name of a stream of
 * another file, and a dot or a space at the end is dropped, so that the name means another file.
 */
export function isNameOnWindows(name: string): boolean {
  return !/[<>:"|?*\\]|[. ]$/.test(name) && !DEVICE.test(name);
}
