import { isNameable, misreadName } from './fileNames.ts';
import { sideOfBytes } from '../preview/fileChange.ts';
import type { ReadableFiles } from '../preview/workspace.ts';
import { Allowance, type LeftOut } from './gathered.ts';
import { filesToWrite, type CheckedOut, type Git, type UncommittedPath } from './git.ts';
import type { UncommittedFile } from './holdBack.ts';
import { leftOutOf, LeftOutError, readCheckedOut, refuseOther, type Places } from './readForeign.ts';

/** Changed paths, and those that stay ambiguous because the name given for them could be that of another file. */
export interface MeantPaths {
  readonly meant: readonly UncommittedPath[];
  readonly unclear: readonly LeftOut[];
}

/**
 * The changed paths that a program means, if it reads all names as UTF-8. It misreads a name that is not UTF-8, and another file
 * may really have the misread name: both are unclear.
 */
export function meantBy(names: ReadonlySet<string>, changed: readonly UncommittedPath[]): MeantPaths {
  const isMeant = ({ path, from = path }: UncommittedPath): boolean =>
    [path, from].some(name => names.has(name) || names.has(misreadName(name)));
  const misread = new Set(changed.flatMap(({ path }) => (isNameable(path) ? [] : [misreadName(path)])));
  const isClear = ({ path, from = path }: UncommittedPath): boolean =>
    [path, from].every(name => isNameable(name) && !misread.has(name));
  const meant = changed.filter(isMeant);
  return {
    meant: meant.filter(isClear),
    unclear: meant.filter(each => !isClear(each)).map(({ path }) => ({ path, why: 'path' })),
  };
}

/**
 * Reads the content of files, and the content that `git checkout` would restore.
 * @throws TooMuchError past the limits; any unexpected error of reading.
 */
export async function readUncommitted(
  git: Git,
  changed: readonly UncommittedPath[],
  workspace: ReadableFiles,
  places: Places,
): Promise<{ readonly files: readonly UncommittedFile[]; readonly leftOut: readonly LeftOut[] }> {
  const allowance = new Allowance(changed.length);
  const files: UncommittedFile[] = [];
  const leftOut: LeftOut[] = [];
  const head = await git.head();
  const committed = changed.map(({ path, from = path, old }) => [from, old] as const);
  const written = head === undefined ? undefined : await git.checkOut(head, filesToWrite(committed));
  try {
    for (const each of changed) {
      try {
        files.push(await readOne(each, written, workspace, places, allowance, leftOut));
      } catch (error) {
        leftOut.push(leftOutOf(each.path, error));
      }
    }
  } finally {
    await written?.dispose();
  }
  return { files, leftOut };
}

async function readOne(
  { path, from = path, old, now: listed, isStaged, differsFromStaged, isUnmerged }: UncommittedPath,
  committed: CheckedOut | undefined,
  workspace: ReadableFiles,
  places: Places,
  allowance: Allowance,
  notes: LeftOut[],
): Promise<UncommittedFile> {
  const here = await places.resolve(path);
  const hereFrom = from === path ? here : await places.resolve(from);
  if (isUnmerged) throw new LeftOutError('merging');
  if (await places.isLink(here)) throw new LeftOutError('link');
  const { isUnsaved, mode } = await workspace.placeOf(here);
  if (isUnsaved ?? (await workspace.placeOf(hereFrom)).isUnsaved) throw new LeftOutError('unsaved');
  refuseOther(old);
  if (old?.kind === 'link') throw new LeftOutError('link');
  const encoding = await workspace.encodingOf(here);
  const bytes = await workspace.read(here);
  const now = bytes ? sideOfBytes(bytes, encoding) : null;
  const headContent = old && committed ? (await readCheckedOut(committed, from)).content : null;
  if (headContent && 'link' in headContent) throw new LeftOutError('link');
  const headBytes = headContent;
  const head = headBytes && sideOfBytes(headBytes, encoding);
  if (now === undefined || head === undefined) throw new LeftOutError('binary');
  allowance.add((bytes?.length ?? 0) + (headBytes?.length ?? 0));
  // Unstaging would lose the staged content, so it must be the same as the file's.
  // Git does not list a file that it ignores beside its staged removal.
  if (differsFromStaged || (isStaged && !listed && now)) throw new LeftOutError('staged');
  const isExecutable = mode === undefined ? old?.isExecutable : (mode & 0o111) !== 0;
  if (old && now && old.isExecutable !== isExecutable) notes.push({ path, why: 'mode' });
  const missing = old?.isExecutable ? 0o755 : undefined;
  const kept = now && !old ? mode : now ? undefined : missing;
  return {
    path: here,
    ...(hereFrom === here ? {} : { from: hereFrom }),
    head,
    now,
    ...(kept === undefined ? {} : { mode: kept }),
  };
}
