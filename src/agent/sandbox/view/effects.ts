import { plural } from '../../base/phrases.ts';
import { named } from '../../base/safeName.ts';
import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import { MAX_FILES, MAX_TOTAL_BYTES, type LeftOut } from '../../hold/external/gathered.ts';
import { hashOf } from '../../hold/preview/commit/held.ts';
import { MAX_FILE_BYTES, type FileContent } from '../../hold/preview/workspace.ts';
import { hasCode, messageWithoutPaths } from '../../base/errors.ts';
import type { SandboxEnd } from '../commands/sandbox.ts';

/** The entry at a path. */
export type Found =
  | {
      readonly kind: 'file';
      readonly size: number;
      readonly mode: number;
      /** It has other names. */
      readonly isLinked?: boolean;
      read(): Promise<Uint8Array>;
    }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' | 'other' };

/**
 * The entry at a path that a pending preview changes.
 * @param mode the permission bits of a file; by default those of a new one
 */
export function foundContent(content: FileContent, mode = 0o666 & ~process.umask()): Found {
  if ('link' in content) return { kind: 'link', target: content.link };
  return { kind: 'file', size: content.length, mode, read: () => Promise.resolve(content) };
}

/** The kind of a folder's entry, or of a stat. */
export function kindOf(
  entry: Record<'isFile' | 'isDirectory' | 'isSymbolicLink', () => boolean>,
): Found['kind'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/** Whether an error means that there is nothing at a path. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR');
}

/** Stands in for an unknown file: its content when the command began. */
const UNKNOWN = new Uint8Array();

/** Collects the changes of a command. */
export class Effects {
  readonly #files: ForeignFile[] = [];
  /** The permission bits of each file before the command, or of a new file after it. */
  readonly #bits = new Map<ForeignFile, number | undefined>();
  readonly #leftOut: LeftOut[] = [];
  /** Files with other names, which held the old content until the command ended. */
  readonly #linked: string[] = [];
  /** Paths of files beyond those that can be reviewed. */
  readonly #beyond: string[] = [];
  #count = 0;
  #bytes = 0;

  /** Runs `look` for a path. If that fails, the path is left out as unreadable. @returns false then */
  async look(path: string, look: () => Promise<void>): Promise<boolean> {
    try {
      await look();
      return true;
    } catch (error) {
      this.leaveOut({ path, why: 'unreadable', detail: messageWithoutPaths(error) });
      return false;
    }
  }

  /**
   * @param base the file when the command began
   * @param theirs the file when it ended
   * @param isBaseUnknown whether the file was changed on disk while the command ran; asked once both are read
   */
  async add(
    path: string,
    base: Found | undefined,
    theirs: Found | undefined,
    isBaseUnknown = (): Promise<boolean> => Promise.resolve(false),
  ): Promise<void> {
    if (theirs?.kind === 'other') return void this.leaveOut({ path, why: 'notAFile' });
    const before = base?.kind === 'file' || base?.kind === 'link' ? base : undefined;
    const after = theirs?.kind === 'file' || theirs?.kind === 'link' ? theirs : undefined;
    if (!before && !after) return;
    this.#count++;
    if (this.isTooMuch) return this.addUnseen(path);
    if ([before, after].some(side => side?.kind === 'file' && side.size > MAX_FILE_BYTES))
      return void this.leaveOut({ path, why: 'tooLarge' });
    const [old, now] = [await contentOf(before), await contentOf(after)];
    const mode = changedMode(before, after);
    const isSame = old !== null && now !== null && hashOf(old) === hashOf(now);
    if (isSame && mode === undefined) return void this.#count--;
    if (!isSame && now && before?.kind === 'file' && before.isLinked) this.#linked.push(path);
    this.#bytes += sizeOf(old) + sizeOf(now);
    const isUnknown = await isBaseUnknown();
    const file: ForeignFile = {
      path,
      base: isUnknown && now && !isSame ? (before ? null : UNKNOWN) : old,
      theirs: now,
      mode,
      ...(isUnknown && (!now || mode !== undefined) ? { isBaseUnknown: true } : {}),
    };
    this.#files.push(file);
    this.#bits.set(file, bitsOf(before ?? after));
  }

  leaveOut(left: LeftOut): void {
    this.#leftOut.push(left);
  }

  /** Adds a file that the command may have changed, once there are too many to look at each. */
  addUnseen(path: string): void {
    this.#beyond.push(path);
  }

  /** There is more than can be reviewed. */
  get isTooMuch(): boolean {
    return this.#count > MAX_FILES || this.#bytes > MAX_TOTAL_BYTES;
  }

  /** All changes, sorted by path unless there are too many; a moved file is one change. */
  end(): Pick<SandboxEnd, 'effects' | 'leftOut' | 'changed' | 'notes'> {
    const leftOut = this.#leftOut;
    const seen = new Set([...this.#files, ...leftOut].map(({ path }) => path));
    const changed = [...[...seen].sort(), ...this.#beyond];
    const linked = `Other names (hard links) of these files held the old content while it ran: ${named(this.#linked)}.`;
    if (!this.isTooMuch)
      return {
        effects: withRenames(sorted(this.#files), this.#bits),
        leftOut,
        changed,
        notes: this.#linked.length > 0 ? [linked] : [],
      };
    // Not by `toLocaleString`, which blocks while it loads the data of a locale.
    const most = `${MAX_FILES / 1_000},000 files or ${MAX_TOTAL_BYTES / 1024 ** 2} MB`;
    const note = `It changed ${plural(this.#count, 'file')} or more, which is more than can be reviewed at once (${most}). None of it became a preview, and all of it is lost. Let a command change less.`;
    return { effects: [], leftOut, changed, notes: [note] };
  }
}

async function contentOf(
  side: Extract<Found, { kind: 'file' | 'link' }> | undefined,
): Promise<FileContent | null> {
  if (!side) return null;
  return side.kind === 'file' ? side.read() : { link: side.target };
}

function sizeOf(content: FileContent | null): number {
  return !content ? 0 : 'link' in content ? content.link.length : content.length;
}

/** The permission bits of a new file if it is executable, or of another one if they were changed. */
function changedMode(base: Found | undefined, theirs: Found | undefined): number | undefined {
  if (theirs?.kind !== 'file' || process.platform === 'win32') return undefined;
  if (base?.kind === 'file') return base.mode === theirs.mode ? undefined : theirs.mode;
  return (theirs.mode & 0o111) === 0 ? undefined : theirs.mode;
}

function bitsOf(found: Found | undefined): number | undefined {
  return found?.kind === 'file' ? found.mode : undefined;
}

function sorted(files: readonly ForeignFile[]): readonly ForeignFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Joins a deletion and a creation with the same content and permission bits into a move. */
function withRenames(
  files: readonly ForeignFile[],
  bits: ReadonlyMap<ForeignFile, number | undefined>,
): readonly ForeignFile[] {
  const deleted = new Map<string, ForeignFile[]>();
  for (const file of files) {
    if (file.theirs || !file.base || sizeOf(file.base) === 0) continue;
    const key = hashOf(file.base) ?? '';
    deleted.set(key, [...(deleted.get(key) ?? []), file]);
  }
  const moved = new Set<ForeignFile>();
  const result = files.map(file => {
    if (file.base || !file.theirs || sizeOf(file.theirs) === 0) return file;
    const from = deleted
      .get(hashOf(file.theirs) ?? '')
      ?.find(one => !moved.has(one) && bits.get(one) === bits.get(file));
    if (!from) return file;
    moved.add(from);
    return { ...file, from: from.path, base: from.base };
  });
  return result.filter(file => !moved.has(file));
}
