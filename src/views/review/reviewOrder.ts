import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';

/** One stop of a review: a preview, or one of its files if it has several. */
export interface Stop {
  readonly preview: Preview;
  /** The file's workspace path. Absent if the stop is the whole preview. */
  readonly path?: string;
}

/** The place of a review: a preview, perhaps at one of its files, which may have been resolved since. */
export interface Place {
  readonly previewId: string;
  readonly path?: string;
}

/**
 * The stop after or before a place. A review goes through the files of a preview, then on to the next preview, and
 * wraps around at the ends. `undefined` if there is nothing to review.
 * @param previews in the order of the review
 * @param from a place that is not among them leads to the first stop, or to the last one
 */
export function stepFrom(
  previews: readonly Preview[],
  from: Place | undefined,
  direction: 1 | -1,
): Stop | undefined {
  const at = previews.findIndex(({ id }) => id === from?.previewId);
  const here = previews[at];
  const beside = here && from?.path !== undefined ? fileBeside(here, from.path, direction) : undefined;
  if (here && beside) return { preview: here, path: beside.path };
  const index = at < 0 ? (direction === 1 ? 0 : -1) : (at + direction) % previews.length;
  const preview = previews.at(index);
  return preview && (direction === 1 ? firstStop(preview) : lastStop(preview));
}

/** First stop in the review of a preview. */
export function firstStop(preview: Preview): Stop {
  return { preview, ...pathOf(preview, preview.changes?.[0]) };
}

function lastStop(preview: Preview): Stop {
  return { preview, ...pathOf(preview, preview.changes?.at(-1)) };
}

/** The only file of a preview is shown as the preview. */
function pathOf({ changes }: Preview, change: FileChange | undefined): { readonly path?: string } {
  return change && (changes?.length ?? 0) > 1 ? { path: change.path } : {};
}

function fileBeside({ changes }: Preview, path: string, direction: 1 | -1): FileChange | undefined {
  const index = changes?.findIndex(change => change.path === path) ?? -1;
  return index < 0 ? undefined : changes?.[index + direction];
}

/**
 * The ids of the previews in the order in which a review continues by itself from one of them, without that one: first those after
 * it, then those before it. What may hold secrets, only the user opens.
 */
export function idsAfter(previews: readonly Preview[], id: string): readonly string[] {
  const at = previews.findIndex(preview => preview.id === id);
  const others = [...previews.slice(at + 1), ...previews.slice(0, Math.max(at, 0))];
  return others.filter(({ purpose }) => purpose !== 'secret').map(preview => preview.id);
}

/**
 * The file with which a review goes on after one was split off.
 * @param before the files while it was still among them
 * @param now the files that are left
 */
export function fileAfter(
  before: readonly FileChange[],
  gone: string,
  now: readonly FileChange[],
): FileChange | undefined {
  const at = before.findIndex(({ path }) => path === gone);
  const left = new Map(now.map(change => [change.path, change]));
  const ordered = [...before.slice(at + 1), ...before.slice(0, Math.max(at, 0))];
  return ordered.flatMap(({ path }) => left.get(path) ?? []).at(0);
}
