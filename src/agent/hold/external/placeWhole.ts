import { changeOf, isLink, type FileChange, type FileSide } from '../preview/fileChange.ts';
import { assertCanHoldFile } from '../preview/textFile.ts';
import type { ReadableFiles } from '../preview/workspace.ts';

/** One file as a change of the file here. */
export interface Placed {
  readonly changes: readonly FileChange[];
  readonly isConflict: boolean;
}

export const NOTHING: Placed = { changes: [], isConflict: false };

/** An external change with at least one side that is not text. */
export interface WholeFile {
  readonly path: string;
  readonly from: string;
  readonly base: FileSide | null;
  readonly theirs: FileSide | null;
  readonly mode: number | undefined;
}

/**
 * Carries over a symbolic link or a binary file as a whole: nothing is merged. If both sides changed it in different ways, that is
 * a conflict, shown as its effect on the file here.
 * @param sideAt reads the side at a path here
 */
export async function placeWhole(
  { path, from, base, theirs, mode }: WholeFile,
  workspace: ReadableFiles,
  sideAt: (path: string) => Promise<FileSide | null>,
): Promise<Placed> {
  const current = await sideAt(path);
  if (from !== path) {
    const source = await sideAt(from);
    if (base && theirs && !current && source?.hash === base.hash) {
      await assertCanHoldFile(workspace, path, from);
      return { changes: [{ kind: 'rename', path, from, before: source, after: theirs }], isConflict: false };
    }
    const parts = [
      onto(from, base, null, source),
      await withRoom(onto(path, null, theirs, current, mode), workspace),
    ];
    return { changes: parts.flatMap(part => part.changes), isConflict: parts.some(part => part.isConflict) };
  }
  return withRoom(onto(path, base, theirs, current, mode), workspace);
}

function onto(
  path: string,
  base: FileSide | null,
  theirs: FileSide | null,
  current: FileSide | null,
  mode?: number,
): Placed {
  const bits = mode === undefined || (theirs && isLink(theirs)) ? {} : { mode };
  const areBitsAlone = theirs !== null && base?.hash === theirs.hash;
  if (areBitsAlone || (theirs && current?.hash === theirs.hash)) {
    if (!('mode' in bits) || !current || isLink(current)) return NOTHING;
    return {
      changes: [{ kind: 'modify', path, before: current, after: current, ...bits }],
      isConflict: false,
    };
  }
  const change = changeOf(path, current, theirs);
  if (!change) return NOTHING;
  const isConflict = (current?.hash ?? null) !== (base?.hash ?? null);
  return { changes: [change.kind === 'delete' ? change : { ...change, ...bits }], isConflict };
}

/** @throws ToolError if a file stands where a folder of a new one would be */
async function withRoom(placed: Placed, workspace: ReadableFiles): Promise<Placed> {
  for (const { kind, path } of placed.changes)
    if (kind === 'create') await assertCanHoldFile(workspace, path);
  return placed;
}
