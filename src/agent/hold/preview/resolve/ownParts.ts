import { hunksOfChange, type FileChange } from '../fileChange.ts';
import type { Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { PreviewPart } from './splitPreview.ts';

/**
 * Parts split off a preview since anything else changed it, the oldest first. Each was a decision of the person's and left all
 * other hunks as they were, so none of them makes another vote of theirs outdated.
 */
export function ownParts(store: PreviewStore, { id, revision }: Preview): readonly Preview[] {
  const from = new Map<number, Preview>();
  for (const each of store.all())
    if (each.part?.previewId === id && each.part.revision !== undefined) from.set(each.part.revision, each);
  const parts: Preview[] = [];
  for (let part; (part = from.get(revision - parts.length - 1));) parts.unshift(part);
  return parts;
}

/** Current state of a part that was seen in an older revision: its hunk may have another number, or may be decided. */
export type SeenPart =
  | { readonly kind: 'same'; readonly hunk?: number }
  | { readonly kind: 'decided' }
  | { readonly kind: 'outdated' };

/**
 * @param seen the revision that the person saw
 * @param part the file or hunk of it; absent for the whole
 */
export function seenPart(store: PreviewStore, preview: Preview, seen: number, part?: PreviewPart): SeenPart {
  const parts = ownParts(store, preview);
  if (seen > preview.revision || seen < preview.revision - parts.length) return { kind: 'outdated' };
  if (part && !preview.changes?.some(({ path }) => path === part.path)) return { kind: 'decided' };
  if (part?.hunk === undefined) return { kind: 'same' };
  const before = parts.filter(each => (each.part?.revision ?? 0) < seen);
  const hunk = hunkIndex(hunkNumber(part.hunk, numbersOf(before, part.path)), numbersOf(parts, part.path));
  return hunk === undefined ? { kind: 'decided' } : { kind: 'same', hunk };
}

/** Numbers of a file's hunks that were split off. */
export function numbersOf(parts: readonly Preview[], path: string): ReadonlySet<number> {
  return new Set(
    parts.flatMap(({ part, changes }) => (changes?.[0]?.path === path ? (part?.number ?? []) : [])),
  );
}

/**
 * Number, from 1, that a hunk had before others of its file were split off. No decision changes it.
 * @param index its place among the remaining hunks, from 0
 * @param gone the numbers of those that were split off
 */
export function hunkNumber(index: number, gone: ReadonlySet<number>): number {
  let number = 0;
  for (let left = index; left >= 0; left--)
    do number++;
    while (gone.has(number));
  return number;
}

/** Place of a hunk among the remaining ones, from 0; `undefined` if it was split off. */
function hunkIndex(number: number, gone: ReadonlySet<number>): number | undefined {
  if (gone.has(number)) return undefined;
  return number - 1 - [...gone].filter(each => each < number).length;
}

/** Whether all hunks of a file but one are unchanged. @param rest the file without that one */
export async function keepsHunks(change: FileChange, hunk: number, rest: FileChange): Promise<boolean> {
  const lines = ({ before, after }: { before: readonly string[]; after: readonly string[] }): string =>
    JSON.stringify([before, after]);
  const others = (await hunksOfChange(change)).toSpliced(hunk, 1);
  const left = await hunksOfChange(rest);
  return others.length === left.length && others.every((each, index) => lines(each) === lines(left[index]!));
}
