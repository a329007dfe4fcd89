import { lstat, readFile, realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited, succeeds } from '../../base/async.ts';
import { isInside, realPlace } from '../../base/system/realPath.ts';
import { bytesOfSide, isLink, isText, type FileChange, type FileSide } from '../../preview/fileChange.ts';
import { stepsOf } from '../../preview/fileSteps.ts';
import type { Preview } from '../../preview/preview.ts';
import { standingApplies } from '../../preview/ledger.ts';
import type { PreviewStore } from '../../preview/previewStore.ts';
import { TooMuchError } from '../gathered.ts';
import type { Git } from '../git.ts';
import type { AppliedChange, Stored } from './foldApplied.ts';
import { GitIndex, isFile, isSameEntry, textIn, type StoredEntries, type StoredEntry } from './gitIndex.ts';

/** Why something that was applied is not in a commit. A view has a sentence for each. */
export type UncommittableReason =
  /** The file has lost what was applied, or was changed in the same lines since. */
  | 'changed'
  /** It changes lines that are not in the last commit, or beside such lines. */
  | 'overlaps'
  /** What is staged there is neither the last commit nor what the file holds, and does not go with it. */
  | 'staged'
  | 'unsaved'
  | 'ignored'
  | 'merging'
  /** A symbolic link or a submodule is there. */
  | 'notAFile'
  /** Git cannot store the file, or not in a way that can be told for a part of it. */
  | 'converted';

/** A file whose changes are not in a commit. */
export interface Uncommittable {
  /** The path in the repository. */
  readonly path: string;
  readonly why: UncommittableReason;
}

export interface AppliedOptions {
  readonly git: Git;
  /** Applied previews of files, in the order in which they were applied. */
  readonly previews: readonly Preview[];
  /** The absolute path of a file of a preview: where it was written. `undefined` if that is unknown. */
  readonly fileOf: (preview: Preview, path: string) => string | undefined;
  /** The absolute paths of the files that editors have unsaved changes of. */
  readonly unsaved: readonly string[];
}

/** What previews changed in a repository, and what it has at those paths, all as git stores it. */
export interface Applied {
  readonly index: GitIndex;
  /** The last commit; `undefined` if there is none yet. */
  readonly head: string | undefined;
  /** The tree of the last commit, or the empty one. */
  readonly tree: string;
  readonly changes: readonly AppliedChange[];
  /** The previews that set the permission bits of a file, by its path. */
  readonly withMode: ReadonlyMap<string, readonly string[]>;
  readonly inHead: StoredEntries;
  readonly onDisk: StoredEntries;
  /** What is staged and differs from the last commit. */
  readonly staged: ReadonlyMap<string, StoredEntry | null>;
  readonly contents: ReadonlyMap<string, string>;
  readonly refused: ReadonlyMap<string, UncommittableReason>;
}

/** The most paths that are looked at. */
const MAX_PATHS = 5_000;

/** The previews that were applied and whose files are known, in the order in which that happened. */
export function appliedPreviews(store: PreviewStore): readonly Preview[] {
  return standingApplies(store.ledger()).flatMap(({ previewId }) => {
    const preview = store.get(previewId);
    return preview?.kind === 'files' && preview.state.kind === 'applied' ? [preview] : [];
  });
}

/**
 * Reads what was applied to the files of a repository and is not in its last commit. Nothing changes but that git may have stored
 * objects that nothing refers to yet.
 * @throws TooMuchError past a limit; ToolError with what git says.
 */
export async function readApplied(options: AppliedOptions): Promise<Applied> {
  const { git, previews } = options;
  const index = new GitIndex(git.program);
  const head = await git.head();
  const tree = await index.treeOf(head);
  const placed = await placedChanges(options);
  const all = [...new Set(placed.flatMap(({ change }) => pathsIn(change)))];
  if (all.length > MAX_PATHS) throw new TooMuchError(`${all.length} paths of ${previews.length} previews`);
  const inHead = await index.inTree(tree, all);
  const disk = await index.ofDisk(tree, all);
  // What is on disk as in the last commit was committed, or is gone.
  const isSame = (each: string): boolean =>
    !disk.refused.has(each) && isSameEntry(inHead.get(each) ?? null, disk.entries.get(each) ?? null);
  const relevant = placed.filter(({ change }) => !pathsIn(change).every(isSame));
  const paths = [...new Set(relevant.flatMap(({ change }) => pathsIn(change)))];
  const staged = await index.staged(tree);
  const unmerged = await index.unmerged();
  const fresh = paths.filter(each => !inHead.has(each) && !staged.has(each));
  const ignored = await index.ignored(fresh);
  const unsaved = new Set(await Promise.all(options.unsaved.map(file => placeInRepository(git.root, file))));
  const refused = new Map<string, UncommittableReason>();
  for (const each of paths) {
    const entries = [inHead.get(each), disk.entries.get(each), staged.get(each)];
    if (unmerged.has(each)) refused.set(each, 'merging');
    else if (!entries.every(isFile)) refused.set(each, 'notAFile');
    else if (unsaved.has(each)) refused.set(each, 'unsaved');
    else if (ignored.has(each)) refused.set(each, 'ignored');
    else if (disk.refused.has(each)) refused.set(each, 'converted');
  }
  const readable = paths.filter(each => !refused.has(each));
  const objects = readable.flatMap(each =>
    [inHead.get(each), disk.entries.get(each), staged.get(each)].flatMap(entry => entry?.object ?? []),
  );
  const contents = new Map(await index.contents(objects));
  const known = { git, index, inHead, onDisk: disk.entries, contents, refused };
  const changes = await storedChanges(relevant, known);
  const withMode = new Map<string, string[]>();
  for (const { previewId, change } of placed)
    if ('mode' in change && change.mode !== undefined)
      withMode.set(change.path, [...(withMode.get(change.path) ?? []), previewId]);
  return { ...known, head, tree, changes, withMode, staged };
}

interface PlacedChange {
  readonly previewId: string;
  /** Its paths are those of the repository. */
  readonly change: FileChange;
}

/** The changes of files of the repository. */
async function placedChanges({ git, previews, fileOf }: AppliedOptions): Promise<readonly PlacedChange[]> {
  const places = new Map<string, Promise<string | undefined>>();
  const placeOf = (preview: Preview, at: string): Promise<string | undefined> => {
    const file = fileOf(preview, at);
    if (file === undefined) return Promise.resolve(undefined);
    const place = places.get(file) ?? placeInRepository(git.root, file);
    places.set(file, place);
    return place;
  };
  const found: PlacedChange[] = [];
  for (const preview of previews) {
    for (const change of preview.changes ?? []) {
      const at = await placeOf(preview, change.path);
      const from = change.kind === 'rename' ? await placeOf(preview, change.from) : undefined;
      found.push(...placed(change, at, from).map(each => ({ previewId: preview.id, change: each })));
    }
  }
  return found;
}

/** A rename from or to another repository is, in this one, a file that is new or gone. */
function placed(change: FileChange, at: string | undefined, from: string | undefined): readonly FileChange[] {
  if (change.kind !== 'rename') return at === undefined ? [] : [{ ...change, path: at }];
  const { before, after } = change;
  if (at !== undefined && from !== undefined) return [{ ...change, path: at, from }];
  if (at !== undefined) return [{ kind: 'create', path: at, before: null, after }];
  return from === undefined ? [] : [{ kind: 'delete', path: from, before, after: null }];
}

type Known = Pick<Applied, 'index' | 'inHead' | 'onDisk' | 'refused'> & {
  readonly git: Git;
  readonly contents: Map<string, string>;
  readonly refused: Map<string, UncommittableReason>;
};

/** Turns the sides of changes into what git would store of them. A path where that cannot be told is refused. */
async function storedChanges(
  changes: readonly PlacedChange[],
  known: Known,
): Promise<readonly AppliedChange[]> {
  const sides = new Map<string, Set<FileSide>>();
  const add = (at: string, side: FileSide | null): void => {
    if (!side || known.refused.has(at)) return;
    sides.set(at, (sides.get(at) ?? new Set()).add(side));
  };
  for (const { change } of changes) {
    add(change.kind === 'rename' ? change.from : change.path, change.before);
    add(change.path, change.after);
  }
  const stored = new Map<string, ReadonlyMap<string, Stored>>();
  await forEachLimited([...sides], 2, async ([at, each]) => {
    stored.set(at, await storedSides(at, [...each], known));
  });
  const textOf = (at: string, side: FileSide | null): Stored =>
    side ? (stored.get(at)?.get(side.hash) ?? null) : null;
  return changes.flatMap(({ previewId, change }): readonly AppliedChange[] => {
    const { path: at, before, after } = change;
    const from = change.kind === 'rename' ? change.from : undefined;
    if (known.refused.has(at) || (from !== undefined && known.refused.has(from))) return [];
    const moved = from === undefined ? {} : { from };
    return [{ previewId, path: at, ...moved, before: textOf(from ?? at, before), after: textOf(at, after) }];
  });
}

/** What git would store of the sides of one file, by their hashes. */
async function storedSides(
  at: string,
  sides: readonly FileSide[],
  known: Known,
): Promise<ReadonlyMap<string, Stored>> {
  const { index, contents, refused } = known;
  const texts = sides.filter(isText);
  if (texts.length < sides.length) {
    refused.set(at, sides.some(isLink) ? 'notAFile' : 'converted');
    return new Map();
  }
  const bytes = new Map(texts.map(side => [side.hash, Buffer.from(bytesOfSide(side)).toString('latin1')]));
  const conversion = await conversionOf(at, new Set(bytes.values()), known);
  if (conversion === 'asIs') return bytes;
  if (conversion === 'unknown') {
    refused.set(at, 'converted');
    return new Map();
  }
  const names = new Map<string, string>();
  try {
    for (const [hash, each] of bytes) names.set(hash, await index.store(each, { convertAs: at }));
    for (const [name, text] of await index.contents([...names.values()])) contents.set(name, text);
  } catch {
    // A filter failed.
    refused.set(at, 'converted');
    return new Map();
  }
  return new Map([...names].map(([hash, name]) => [hash, contents.get(name) ?? null]));
}

/**
 * How git stores a file: the way that gives what git itself has just made of the file on disk. Whether line endings are converted
 * depends on what is staged, which git does not look at when it is given a text.
 */
async function conversionOf(
  at: string,
  sides: ReadonlySet<string>,
  { git, index, inHead, onDisk, contents }: Known,
): Promise<'asIs' | 'convert' | 'unknown'> {
  const head = textIn(inHead.get(at), contents);
  const disk = onDisk.get(at);
  if (!disk) return head !== null && sides.has(head) ? 'asIs' : 'convert';
  const raw = await readFile(path.join(git.root, at), 'latin1');
  if (raw === contents.get(disk.object)) return 'asIs';
  return (await index.store(raw, { convertAs: at })) === disk.object ? 'convert' : 'unknown';
}

function pathsIn(change: FileChange): readonly string[] {
  return stepsOf(change).map(({ path }) => path);
}

/**
 * The path in a repository of a file that need not exist, with links on the way to it resolved. `undefined` if it is outside
 * the repository, or in one inside it, such as a submodule.
 */
async function placeInRepository(root: string, file: string): Promise<string | undefined> {
  const realRoot = await realpath(root);
  const real = path.join(await realPlace(path.dirname(file)), path.basename(file));
  if (!isInside(real, realRoot)) return undefined;
  const relative = path.relative(realRoot, real);
  const names = relative.split(path.sep);
  for (let n = 1; n < names.length; n++)
    if (await succeeds(lstat(path.join(realRoot, ...names.slice(0, n), '.git')))) return undefined;
  return names.join('/');
}
