import { foldersAbove } from '../../preview/fileSteps.ts';
import type { PatchedFile, PatchPart } from './patchParts.ts';

/**
 * The diffs of a patch, one after the other. A diff describes all of its files relative to the tree before it; the next diff starts
 * from the tree that this one makes. In patches that were put together without headings, a diff ends before a file that it has
 * already described.
 */
export function diffsOf(parts: readonly PatchPart[]): readonly (readonly PatchPart[])[] {
  const diffs: PatchPart[][] = [];
  let made = new Set<string>();
  let edited = new Set<string>();
  let gone = new Set<string>();
  for (const part of parts) {
    const begins =
      part.kind !== 'unusable' &&
      (part.isFirst === true ||
        (part.kind === 'rename' && edited.has(nameBefore(part))) ||
        made.has(nameAfter(part)) ||
        (part.kind === 'delete' && gone.has(nameBefore(part))));
    if (begins || diffs.length === 0) {
      diffs.push([]);
      [made, edited, gone] = [new Set(), new Set(), new Set()];
    }
    diffs.at(-1)?.push(part);
    if (part.kind === 'unusable') continue;
    if (part.kind === 'delete') gone.add(nameBefore(part));
    else made.add(nameAfter(part));
    if (part.kind === 'modify' && part.isRewrite !== true) edited.add(nameAfter(part));
  }
  return diffs;
}

/**
 * Parts of a diff that only make sense together, in their order: those that put a file where another one is removed, such as a file
 * that becomes a link, or files that swap places.
 */
export function unitsOf(diff: readonly PatchPart[]): readonly (readonly PatchPart[])[] {
  const removers = new Map<string, PatchedFile>();
  for (const part of diff)
    if (part.kind === 'delete' || part.kind === 'rename') removers.set(nameBefore(part), part);
  const unitOf = new Map<PatchPart, PatchPart[]>(diff.map(part => [part, [part]]));
  const join = (one: PatchPart, other: PatchPart): void => {
    const [kept, taken] = [unitOf.get(one) ?? [], unitOf.get(other) ?? []];
    if (kept === taken) return;
    kept.push(...taken);
    for (const each of taken) unitOf.set(each, kept);
  };
  const folders = new Map<string, PatchedFile[]>();
  for (const [name, remover] of removers)
    for (const folder of foldersAbove(name)) folders.set(folder, [...(folders.get(folder) ?? []), remover]);
  for (const part of diff) {
    if (part.kind === 'unusable' || part.kind === 'delete') continue;
    const name = nameAfter(part);
    for (const place of [name, ...foldersAbove(name)]) {
      const remover = removers.get(place);
      if (remover) join(part, remover);
    }
    if (part.kind !== 'modify') for (const remover of folders.get(name) ?? []) join(part, remover);
  }
  const order = new Map(diff.map((part, n) => [part, n]));
  return [...new Set(unitOf.values())].map(unit =>
    unit.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)),
  );
}

function nameBefore({ from, to }: PatchedFile): string {
  return from[0] ?? to[0] ?? '';
}

function nameAfter({ from, to }: PatchedFile): string {
  return to[0] ?? from[0] ?? '';
}
