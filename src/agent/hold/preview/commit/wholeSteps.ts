import { forEachLimited } from '../../../base/async.ts';
import { messageWithoutPaths, ToolError } from '../../../base/errors.ts';
import type { Blobs } from '../blobs.ts';
import { isBinary, isLink, type FileStep } from '../fileChange.ts';
import { foldersAbove } from '../fileSteps.ts';

/** How many contents are read concurrently. */
const AT_ONCE = 8;

/**
 * Checks steps about whole files before the first write: nothing may be written below a link that they keep, which may lead
 * anywhere, and the contents of binary files must be there, including those that a rollback needs.
 * @throws ToolError that says why nothing was written.
 */
export async function assertWritable(steps: readonly FileStep[], blobs: Blobs): Promise<void> {
  const links = new Set(steps.filter(({ after }) => after && isLink(after)).map(({ path }) => path));
  await forEachLimited(steps, AT_ONCE, async ({ path, before, after }) => {
    const link = after ? foldersAbove(path).find(folder => links.has(folder)) : undefined;
    if (link !== undefined)
      throw new ToolError(
        `Nothing was written: ${link} becomes a symbolic link, so nothing can be written to ${path} below it.`,
      );
    for (const side of [before, after]) {
      if (!side || !isBinary(side)) continue;
      await blobs.get(side).catch((error: unknown) => {
        throw new ToolError(`Nothing was written: ${path} cannot be written: ${messageWithoutPaths(error)}.`);
      });
    }
  });
}
