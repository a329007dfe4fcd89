import { inTrees } from './plainTree.ts';
import { walk } from './stamps.ts';

/**
 * Adds the other names of files that are written in place: a change that is pending for one name is pending for all, as it will be
 * on disk.
 * @param root has the files as they are
 * @param puts by paths relative to it
 * @param written the paths of `puts` that are written into an existing file
 * @param nameOf the workspace path of a relative one
 */
export async function addOtherNames<P extends { readonly name: string; readonly sameAs?: string }>(
  root: string,
  puts: Map<string, P>,
  written: ReadonlySet<string>,
  nameOf: (relative: string) => string,
): Promise<void> {
  await inTrees([root], async tree => {
    const files = new Map<string, string>();
    let missing = 0;
    for (const relative of written) {
      const stat = await tree.stat(relative).catch(() => undefined);
      if (!stat?.isFile() || stat.nlink < 2) continue;
      const known = files.size;
      files.set(`${stat.dev}:${stat.ino}`, relative);
      if (files.size > known) missing += stat.nlink;
    }
    if (files.size === 0) return;
    await walk(tree, '', (at, { dev, ino }) => {
      const sameAs = files.get(`${dev}:${ino}`);
      if (sameAs === undefined) return true;
      const put = puts.get(sameAs);
      if (put && !puts.has(at)) puts.set(at, { ...put, name: nameOf(at), sameAs });
      return --missing > 0;
    });
  });
}
