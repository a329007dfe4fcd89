import { foldersAbove } from '../../hold/preview/fileSteps.ts';

/**
 * Folders to leave for later, such as a tree that a program copied in, so that at most `most` paths remain: the innermost ones that
 * hold too many by themselves, or else the largest top-level ones.
 * @returns none if the paths are few, or are spread so that no folder stands out
 */
export function bulkFolders(paths: readonly string[], most: number): readonly string[] {
  const folders: string[] = [];
  for (let rest = paths; rest.length > most;) {
    const counts = new Map<string, number>();
    for (const folder of rest.flatMap(foldersAbove)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    const depth = (folder: string): number => folder.split('/').length;
    const sorted = [...counts].toSorted(([a, m], [b, n]) => depth(b) - depth(a) || n - m);
    const large = sorted.find(([, count]) => count > most);
    const [top] = sorted.filter(([folder]) => depth(folder) === 1).toSorted(([, m], [, n]) => n - m);
    const [found] = large ?? top ?? [];
    if (found === undefined) return [];
    folders.push(found);
    rest = rest.filter(each => !each.startsWith(`${found}/`));
  }
  return folders;
}
