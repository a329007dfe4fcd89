import { textOf, type FileChange } from '../fileChange.ts';
import type { Preview } from '../preview.ts';
import { importsOf, ImportTargets, type Import } from './imports.ts';
import { isTestFile } from './testFiles.ts';

/** With more files than this, imports are not looked at. */
const MAX_FILES = 300;

/**
 * The previews of one change set in the order in which a person reads them: imported files before their importers, then tests,
 * files that only move, deletions, and previews that run something. Otherwise the given order stays. A preview always comes after
 * those of the set that it builds on.
 */
export function inReadingOrder(previews: readonly Preview[]): readonly Preview[] {
  const imported = importedIn(previews);
  const byDefinition = after(previews, preview => imported.get(preview) ?? []);
  const places = new Map(previews.map(preview => [preview, placeOf(preview)]));
  const sorted = byDefinition.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  return eachAfterItsBase(sorted);
}

/** The previews in their order, except that each comes after those that it builds on. */
export function eachAfterItsBase(previews: readonly Preview[]): readonly Preview[] {
  const byId = new Map(previews.map(preview => [preview.id, preview]));
  return after(previews, ({ dependsOn }) => dependsOn.flatMap(id => byId.get(id) ?? []));
}

/** The previews in their order, except that each comes after some others; in a cycle, the one reached first comes last. */
function after(
  previews: readonly Preview[],
  before: (preview: Preview) => readonly Preview[],
): readonly Preview[] {
  const ordered = new Set<Preview>();
  const begun = new Set<Preview>();
  for (const first of previews) {
    const path = [first];
    for (let at = path.at(-1); at; at = path.at(-1)) {
      begun.add(at);
      const next = before(at).find(each => !begun.has(each));
      if (next) path.push(next);
      else ordered.add(path.pop() ?? at);
    }
  }
  return [...ordered];
}

/** Where the class of a preview stands: code, tests, moves, deletions, the rest. */
function placeOf({ changes }: Preview): number {
  if (!changes) return 4;
  if (changes.every(({ kind }) => kind === 'delete')) return 3;
  if (changes.every(isMove)) return 2;
  return changes.every(({ path }) => isTestFile(path)) ? 1 : 0;
}

function isMove(change: FileChange): boolean {
  return change.kind === 'rename' && change.before.hash === change.after.hash;
}

/** Which of the previews change a file that a preview imports. */
function importedIn(previews: readonly Preview[]): ReadonlyMap<Preview, readonly Preview[]> {
  const changes = previews.flatMap(preview => (preview.changes ?? []).map(({ path }) => ({ path, preview })));
  const found = new Map<Preview, Preview[]>();
  if (changes.length > MAX_FILES) return found;
  const owners = Map.groupBy(changes, ({ path }) => path);
  const targets = new ImportTargets(owners.keys());
  for (const preview of previews)
    for (const change of preview.changes ?? []) {
      const paths = new Set(importsOnce(change).flatMap(each => targets.of(change.path, each)));
      for (const path of paths)
        for (const owner of owners.get(path) ?? []) {
          if (owner.preview === preview) continue;
          const others = found.get(preview);
          if (others) others.push(owner.preview);
          else found.set(preview, [owner.preview]);
        }
    }
  return found;
}

const known = new WeakMap<FileChange, readonly Import[]>();

/** Imports of a file with its change applied, looked for once as long as the change stays the same. */
export function importsOnce(change: FileChange): readonly Import[] {
  const imports = known.get(change) ?? importsOf(change.path, textOf(change.after));
  known.set(change, imports);
  return imports;
}
