import { bytesOfSide, sideOfBytes, sideOfText, type FileSide } from '../preview/fileChange.ts';
import type { Workspace } from '../preview/workspace.ts';
import { inLineEndingsOf } from '../text/lineEndings.ts';
import { lineEndingOf } from '../text/lines.ts';
import { Allowance, type LeftOut } from './gathered.ts';
import type { UncommittedFile } from './holdBack.ts';
import {
  leftOutOf,
  LeftOutError,
  objectNameOf,
  readExactly,
  refuseOther,
  type ChangedPath,
  type Places,
  type Snapshot,
} from './snapshot.ts';

export interface UncommittedOptions {
  readonly changed: readonly ChangedPath[];
  readonly head: Snapshot;
  readonly workspace: Pick<Workspace, 'read' | 'encodingOf' | 'placeOf'>;
  readonly places: Places;
  /** Whether an editor has unsaved changes of the file at a workspace path. */
  readonly isUnsaved: (path: string) => boolean;
  /** Whether a merge has left the file of the repository in conflict. */
  readonly isMerging: (path: string) => boolean;
  /** Git's name of what is staged for a path of the repository: `null` for no file, `undefined` if nothing is staged. */
  readonly stagedObject: (path: string) => Promise<string | null | undefined>;
  /** Whether git stores a file of the repository with other line endings than it has on disk. */
  readonly convertsLineEndings: (path: string) => Promise<boolean>;
}

/**
 * Reads what files hold and what the last commit has of them.
 * @throws TooMuchError past the limits; whatever reading throws unexpectedly.
 */
export async function readUncommitted(
  options: UncommittedOptions,
): Promise<{ readonly files: readonly UncommittedFile[]; readonly leftOut: readonly LeftOut[] }> {
  const allowance = new Allowance(options.changed.length);
  const files: UncommittedFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const each of options.changed) {
    try {
      files.push(await readOne(each, options, allowance, leftOut));
    } catch (error) {
      leftOut.push(leftOutOf(each.path, error));
    }
  }
  return { files, leftOut };
}

async function readOne(
  { path, from = path }: ChangedPath,
  options: UncommittedOptions,
  allowance: Allowance,
  notes: LeftOut[],
): Promise<UncommittedFile> {
  const { head, workspace, places } = options;
  const here = await places.resolve(path);
  const hereFrom = from === path ? here : await places.resolve(from);
  if (options.isMerging(path)) throw new LeftOutError('merging');
  if (options.isUnsaved(here) || options.isUnsaved(hereFrom)) throw new LeftOutError('unsaved');
  if (await places.isLink(here)) throw new LeftOutError('link');
  const entry = await head.entry(from);
  refuseOther(entry);
  const encoding = await workspace.encodingOf(here);
  const bytes = await workspace.read(here);
  const now = bytes ? sideOfBytes(bytes, encoding) : null;
  const committed = entry ? sideOfBytes(await readExactly(head, entry, from), encoding) : null;
  if (now === undefined || committed === undefined) throw new LeftOutError('binary');
  allowance.add((bytes?.length ?? 0) + (entry?.size ?? 0));
  await refuseOtherStaged(path, now, options);
  const { mode } = await workspace.placeOf(here);
  const isExecutable = mode === undefined ? entry?.isExecutable : (mode & 0o111) !== 0;
  if (entry && now && entry.isExecutable !== isExecutable) notes.push({ path, why: 'mode' });
  const missing = entry?.isExecutable ? 0o755 : undefined;
  const kept = now && !entry ? mode : now ? undefined : missing;
  return {
    path: here,
    ...(hereFrom === here ? {} : { from: hereFrom }),
    head: await asOnDisk(path, committed, now, options),
    now,
    ...(kept === undefined ? {} : { mode: kept }),
  };
}

/** What is staged would be lost if the file is unstaged, so it must be what the file holds. */
async function refuseOtherStaged(
  path: string,
  now: FileSide | null,
  { stagedObject }: UncommittedOptions,
): Promise<void> {
  const staged = await stagedObject(path);
  if (staged === undefined || (staged === null && !now)) return;
  const contents = now ? [now, sideOfText(now.text.replaceAll('\r\n', '\n'), now.encoding)] : [];
  const isSame = contents.some(side => staged === objectNameOf(bytesOfSide(side), staged?.length ?? 40));
  if (!isSame) throw new LeftOutError('staged');
}

/** The committed content in the line endings with which git would write it. */
async function asOnDisk(
  path: string,
  committed: FileSide | null,
  now: FileSide | null,
  { convertsLineEndings }: UncommittedOptions,
): Promise<FileSide | null> {
  if (!committed || !now || lineEndingOf(committed.text) !== '\n' || lineEndingOf(now.text) !== '\r\n')
    return committed;
  if (!(await convertsLineEndings(path))) return committed;
  return sideOfText(await inLineEndingsOf(now.text, committed.text), committed.encoding);
}

/** Whether the lines that a diff of git adds have carriage returns: then git does not convert line endings of the file. */
export function addsCarriageReturns(diff: string): boolean {
  return /^\+(?!\+\+ )[^\r\n]*\r$/m.test(diff);
}
