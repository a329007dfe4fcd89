/**
 * The paths that fit what was typed behind `@`, the best first: those whose name begins with it, whose name holds it,
 * whose path holds it, and last those that have its letters in order. Without a query, `paths` as they come.
 */
export function rankFiles(paths: readonly string[], query: string, limit: number): string[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return paths.slice(0, limit);
  return paths
    .map(path => ({ path, rank: rankOf(path.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank < NO_FIT)
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

const NO_FIT = 4;

function rankOf(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  return hasInOrder(path, wanted) ? 3 : NO_FIT;
}

function hasInOrder(path: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
