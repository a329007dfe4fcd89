import { isSystemError, messageWithoutPaths, ToolError } from '../../base/errors.ts';
import type { Blobs } from '../preview/blobs.ts';
import {
  changeOf,
  isText,
  linkTo,
  sideOfBytes,
  sideOfText,
  type FileChange,
  type FileSide,
  type TextSide,
} from '../preview/fileChange.ts';
import { foldersAbove } from '../preview/fileSteps.ts';
import type { PendingContents } from '../preview/overlay.ts';
import { rebaseChange } from '../preview/rebase/rebaseChange.ts';
import type { FileContent, ReadableFiles } from '../preview/workspace.ts';
import type { TextEncoding } from '../text/encodings.ts';
import { inLineEndingsOf } from '../text/lineEndings.ts';
import { lineEndingOf } from '../text/lines.ts';
import { assertCanHoldFile, readText } from '../preview/textFile.ts';
import type { Gathered, LeftOut } from './gathered.ts';
import { NOTHING, placeWhole, type Placed } from './placeWhole.ts';

/** The files, the pending previews of them, and the store for the contents of binary files. */
export interface ForeignPlace {
  readonly workspace: ReadableFiles;
  readonly blobs: Blobs;
  readonly pending?: PendingContents;
}

/** One file that was changed elsewhere. At least one of the two contents exists. */
export interface ForeignFile {
  /** Its workspace path here. */
  readonly path: string;
  /** Path here of the file that was renamed to it. */
  readonly from?: string;
  /** Exact content from which the file here and the changed one both come; `null`: there was no file. */
  readonly base: FileContent | null;
  /** Exact content of the changed file; `null`: it was deleted. */
  readonly theirs: FileContent | null;
  /** Permission bits of the changed file: for a new file if they are not the usual ones, for any other if they were changed. */
  readonly mode?: number;
  /** Somebody changed the file here meanwhile, so the deleted content or its permission bits are unknown: a conflict. */
  readonly isBaseUnknown?: boolean;
}

/**
 * Carries changes made elsewhere over to the files here, each by a three-way merge: if both sides changed something in different
 * ways, it becomes a conflict with markers. Symbolic links and binary files are carried over as a whole. Changes that the files
 * here already have are left out silently.
 */
export async function placeForeign(files: readonly ForeignFile[], here: ForeignPlace): Promise<Gathered> {
  const roomFor = room(files, here.workspace);
  const changes: FileChange[] = [];
  const conflicts: FileChange[] = [];
  const leftOut: LeftOut[] = [];
  for (const file of files) {
    try {
      const placed = await placeOne(file, { ...here, workspace: roomFor(file.path) });
      (placed.isConflict || file.isBaseUnknown ? conflicts : changes).push(...placed.changes);
    } catch (error) {
      if (!(error instanceof ToolError) && !isSystemError(error)) throw error;
      leftOut.push({ path: file.path, why: 'unreadable', detail: messageWithoutPaths(error) });
    }
  }
  return { changes, conflicts, leftOut };
}

/**
 * The files once the removals have made room for a new one: nothing is below a removed link, a removed file gives way to a
 * folder, and a folder from which files are removed may give way to a file. If others remain in it, the apply fails.
 */
function room(files: readonly ForeignFile[], workspace: ReadableFiles): (path: string) => ReadableFiles {
  const links = new Set(
    files.flatMap(({ path, base, theirs }) => (base && 'link' in base && !theirs ? [path] : [])),
  );
  const gone = new Set(files.flatMap(({ path, from, theirs }) => (theirs ? (from ?? []) : path)));
  const emptied = new Set([...gone].flatMap(foldersAbove));
  const isBelow = (path: string): boolean => foldersAbove(path).some(folder => links.has(folder));
  return placed => ({
    encodingOf: path => workspace.encodingOf(path),
    read: async path => {
      if (isBelow(path) || (gone.has(path) && placed.startsWith(`${path}/`))) return undefined;
      if (links.has(path) && (await workspace.placeOf(path)).link !== undefined) return undefined;
      try {
        return await workspace.read(path);
      } catch (error) {
        if (error instanceof ToolError && emptied.has(path)) return undefined;
        throw error;
      }
    },
    placeOf: async path => (isBelow(path) ? { missingFolders: [] } : workspace.placeOf(path)),
  });
}

async function placeOne(file: ForeignFile, here: ForeignPlace): Promise<Placed> {
  const { workspace, blobs } = here;
  const { path, from = path, mode } = file;
  const encoding = await workspace.encodingOf(from);
  const sides = [
    await sideOf(file.base, encoding, blobs),
    await sideOf(file.theirs, encoding, blobs),
  ] as const;
  if (!areTexts(sides)) {
    const whole = { path, from, base: sides[0], theirs: sides[1], mode };
    return placeWhole(whole, workspace, at => sideAt(at, here));
  }
  const current = await readText(workspace, from);
  const [base, theirs] = await alike(current, ...sides);
  if (!theirs) return base ? removed(path, base, current) : NOTHING;
  if (!base) return added(file, theirs, current, workspace);
  if (from === path) return modified(file, base, theirs, current, workspace);
  const there = await readText(workspace, path);
  if (there && !current) return modified(file, base, theirs, there, workspace);
  if (there) {
    const parts = [removed(from, base, current), await added(file, theirs, there, workspace)];
    return { changes: parts.flatMap(part => part.changes), isConflict: parts.some(part => part.isConflict) };
  }
  if (!current) return modified(file, base, theirs, null, workspace);
  await assertCanHoldFile(workspace, path, from);
  return placed(
    await rebaseChange({ kind: 'rename', path, from, before: base, after: theirs }, current),
    marked => ({ kind: 'rename', path, from, before: current, after: marked }),
  );
}

async function sideOf(
  content: FileContent | null,
  encoding: TextEncoding,
  blobs: Blobs,
): Promise<FileSide | null> {
  if (!content) return null;
  if ('link' in content) return linkTo(content.link);
  return sideOfBytes(content, encoding) ?? kept(content, blobs);
}

/** @throws ToolError if it cannot be stored */
async function kept(bytes: Uint8Array, blobs: Blobs): Promise<FileSide> {
  try {
    return await blobs.put(bytes);
  } catch (error) {
    throw new ToolError(`Its content cannot be stored: ${messageWithoutPaths(error)}`, { cause: error });
  }
}

function areTexts(
  sides: readonly [FileSide | null, FileSide | null],
): sides is readonly [TextSide | null, TextSide | null] {
  return sides.every(side => side === null || isText(side));
}

/** The side at the path itself, with pending previews applied. */
async function sideAt(path: string, here: ForeignPlace): Promise<FileSide | null> {
  const { workspace, blobs, pending } = here;
  const proposed = pending?.at(path);
  if (proposed) return proposed.side;
  const { link } = await workspace.placeOf(path);
  if (link !== undefined) return linkTo(link);
  const bytes = await workspace.read(path);
  // The path may have become a link meanwhile; then that content was read through it.
  if ((await workspace.placeOf(path)).link !== undefined) return sideAt(path, here);
  return sideOf(bytes ?? null, await workspace.encodingOf(path), blobs);
}

function removed(path: string, base: TextSide, current: TextSide | null): Placed {
  const change = changeOf(path, current, null);
  if (!change) return NOTHING;
  return { changes: [change], isConflict: current?.hash !== base.hash };
}

async function added(
  file: ForeignFile,
  theirs: TextSide,
  current: TextSide | null,
  workspace: ReadableFiles,
): Promise<Placed> {
  const { path, mode } = file;
  if (current) return modified(file, sideOfText('', theirs.encoding), theirs, current, workspace);
  await assertCanHoldFile(workspace, path);
  const created: FileChange = {
    kind: 'create',
    path,
    before: null,
    after: theirs,
    ...(mode === undefined ? {} : { mode }),
  };
  return { changes: [created], isConflict: false };
}

async function modified(
  { path, from, mode }: ForeignFile,
  before: TextSide,
  after: TextSide,
  current: TextSide | null,
  workspace: ReadableFiles,
): Promise<Placed> {
  if (!current) {
    // A deleted file has no permission bits to change.
    if (before.hash === after.hash && from === undefined) return NOTHING;
    await assertCanHoldFile(workspace, path);
    return {
      changes: [{ kind: 'create', path, before: null, after }],
      isConflict: before.hash !== after.hash,
    };
  }
  const bits = mode === undefined ? {} : { mode };
  if (before.hash === after.hash) {
    if (mode === undefined) return NOTHING;
    return { changes: [{ kind: 'modify', path, before: current, after: current, mode }], isConflict: false };
  }
  return placed(await rebaseChange({ kind: 'modify', path, before, after, ...bits }, current), marked =>
    current.hash === marked.hash
      ? undefined
      : { kind: 'modify', path, before: current, after: marked, ...bits },
  );
}

function placed(
  rebased: Awaited<ReturnType<typeof rebaseChange>>,
  withMarkers: (marked: TextSide) => FileChange | undefined,
): Placed {
  if (rebased.kind === 'clean') return { changes: rebased.change ? [rebased.change] : [], isConflict: false };
  const change = rebased.marked && withMarkers(rebased.marked);
  return { changes: change ? [change] : [], isConflict: true };
}

/**
 * Both sides with the line endings of the file here, if the base's differ: then git, or the other side's editor, converts line
 * endings, and the lines are the same. Otherwise both sides stay unchanged, since a change of line endings is a change.
 */
async function alike(
  current: TextSide | null,
  base: TextSide | null,
  theirs: TextSide | null,
): Promise<readonly [TextSide | null, TextSide | null]> {
  const [here, there] = [current, base].map(side => (side ? lineEndingOf(side.text) : undefined));
  if (!current || !base || !isPlain(here) || !isPlain(there) || here === there) return [base, theirs];
  const converted = async (side: TextSide | null): Promise<TextSide | null> =>
    side && sideOfText(await inLineEndingsOf(current.text, side.text), side.encoding);
  return [await converted(base), await converted(theirs)];
}

function isPlain(ending: ReturnType<typeof lineEndingOf>): boolean {
  return ending === '\n' || ending === '\r\n';
}
