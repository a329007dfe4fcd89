import { sha256, type Sha256 } from '../../../base/hash.ts';
import { hashOfLink, isLink, isWhole, type FileStep } from '../fileChange.ts';
import { foldersAbove } from '../fileSteps.ts';
import type { FileContent, ReadableFiles } from '../workspace.ts';

/** Content at a path; `undefined`: nothing. */
export type Held = FileContent | undefined;

/**
 * Reads the contents at the paths of these steps. A link itself is read only where a step is about the file as a whole; a text is
 * read through the link. Below a link that the steps remove there is nothing yet.
 * @returns a function that throws a ToolError for a folder or a device, and any file system error as it is.
 */
export function heldReader(
  files: ReadableFiles,
  steps: readonly FileStep[],
): (step: FileStep) => Promise<Held> {
  const linkAbove = removedLinkAbove(steps);
  const linkAt = async (path: string): Promise<string | undefined> => (await files.placeOf(path)).link;
  return async step => {
    const above = linkAbove(step.path);
    if (above !== undefined && (await linkAt(above)) !== undefined) return undefined;
    const link = isWhole(step) ? await linkAt(step.path) : undefined;
    return link === undefined ? files.read(step.path) : { link };
  };
}

/** Hash of a side with this content; `null` for nothing. */
export function hashOf(held: Held): Sha256 | null {
  if (held === undefined) return null;
  return 'link' in held ? hashOfLink(held.link) : sha256(held);
}

/** Returns a function that finds the link above a path, if these steps remove one there. */
export function removedLinkAbove(steps: readonly FileStep[]): (path: string) => string | undefined {
  const removed = steps.filter(({ before, after }) => before && isLink(before) && !after);
  const links = new Set(removed.map(({ path }) => path));
  return path => (links.size === 0 ? undefined : foldersAbove(path).find(folder => links.has(folder)));
}
