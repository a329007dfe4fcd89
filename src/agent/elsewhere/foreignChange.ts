import { ToolError } from '../base/errors.ts';
import { changeOf, sideOfBytes, sideOfText, type FileChange, type TextSide } from '../preview/fileChange.ts';
import { rebaseChange } from '../preview/rebase/rebaseChange.ts';
import type { Workspace } from '../preview/workspace.ts';
import { inLineEndingsOf } from '../text/lineEndings.ts';
import { lineEndingOf } from '../text/lines.ts';
import { assertCanHoldFile, readText } from '../preview/textFile.ts';
import type { Gathered, LeftOut } from './gathered.ts';

type Files = Pick<Workspace, 'read' | 'encodingOf'>;

/** One file that was changed elsewhere. At least one of the two contents is there. */
export interface ForeignFile {
  /** Its workspace path here. */
  readonly path: string;
  /** The path here of the file that was renamed to it. */
  readonly from?: string;
  /** The exact bytes that both the file here and the changed one come from; `null`: there was no file. */
  readonly base: Uint8Array | null;
  /** The exact bytes that it has there; `null`: it was deleted. */
  readonly theirs: Uint8Array | null;
  /** Permission bits that it has there: for a new file if they are not the usual ones, for another one if they were changed. */
  readonly mode?: number;
  /** Sides that are symbolic links: their content is where they lead, in UTF-8. */
  readonly links?: readonly ('base' | 'theirs')[];
}

/** One file as a change of the file here. */
interface Placed {
  readonly changes: readonly FileChange[];
  readonly isConflict: boolean;
}

const NOTHING: Placed = { changes: [], isConflict: false };

/**
 * Brings changes made elsewhere onto the files as they are here, each by a three-way merge: what was changed on both sides in
 * different ways becomes a conflict with markers. What the files here already have is left out silently.
 */
export async function placeForeign(files: readonly ForeignFile[], workspace: Files): Promise<Gathered> {
  const changes: FileChange[] = [];
  const conflicts: FileChange[] = [];
  const leftOut: LeftOut[] = [];
  for (const file of files) {
    try {
      if (file.links) {
        leftOut.push({ path: file.path, why: 'link' });
        continue;
      }
      const placed = await place(file, workspace);
      if (placed === 'binary') leftOut.push({ path: file.path, why: 'binary' });
      else (placed.isConflict ? conflicts : changes).push(...placed.changes);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      leftOut.push({ path: file.path, why: 'unreadable', detail: error.message });
    }
  }
  return { changes, conflicts, leftOut };
}

async function place(file: ForeignFile, workspace: Files): Promise<Placed | 'binary'> {
  const { path, from = path } = file;
  const encoding = await workspace.encodingOf(from);
  const sides = [file.base, file.theirs].map(bytes => bytes && sideOfBytes(bytes, encoding));
  if (sides.includes(undefined)) return 'binary';
  const current = await readText(workspace, from);
  const [base, theirs] = await alike(current, sides[0] ?? null, sides[1] ?? null);
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

function removed(path: string, base: TextSide, current: TextSide | null): Placed {
  const change = changeOf(path, current, null);
  if (!change) return NOTHING;
  return { changes: [change], isConflict: current?.hash !== base.hash };
}

async function added(
  file: ForeignFile,
  theirs: TextSide,
  current: TextSide | null,
  workspace: Files,
): Promise<Placed> {
  const { path, mode } = file;
  if (current) return modified(file, sideOfText('', theirs.encoding), theirs, current, workspace);
  await assertCanHoldFile(workspace, path);
  const created: FileChange = {
    ...{ kind: 'create', path, before: null, after: theirs },
    ...(mode === undefined ? {} : { mode }),
  };
  return { changes: [created], isConflict: false };
}

async function modified(
  { path, mode }: ForeignFile,
  before: TextSide,
  after: TextSide,
  current: TextSide | null,
  workspace: Files,
): Promise<Placed> {
  if (!current) {
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
 * Both sides in the line endings of the file here, if the base has others: then git, or the other side's editor, converts
 * them, and the lines are the same. Otherwise as they are, since a change of line endings is a change.
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
