import { CONFLICT_LABELS } from './conflictMarkers.ts';
import { sideOfText, type FileChange, type FileSide } from './fileChange.ts';
import { mergeTexts } from './mergeText.ts';

/** What became of a change whose base moved on. */
export type RebasedChange =
  /** The same intent on the new base; `null` when the new base already holds all of it. */
  | { readonly kind: 'clean'; readonly change: FileChange | null }
  /** `marked` is the proposal with conflict markers, where merging lines makes sense. */
  | { readonly kind: 'conflict'; readonly marked?: FileSide };

/**
 * Moves a change onto another base by a three-way merge of its old base, the new one and its proposal.
 * @param base what the path that the change starts from holds now; `null`: no file.
 */
export async function rebaseChange(change: FileChange, base: FileSide | null): Promise<RebasedChange> {
  if ((base?.hash ?? null) === (change.before?.hash ?? null)) return { kind: 'clean', change };
  switch (change.kind) {
    case 'create':
      return base?.hash === change.after.hash ? { kind: 'clean', change: null } : { kind: 'conflict' };
    case 'delete':
      return base === null ? { kind: 'clean', change: null } : { kind: 'conflict' };
    case 'modify': {
      if (!base) return { kind: 'conflict' };
      const merged = await mergeSides(change, base);
      if (merged.conflict) return { kind: 'conflict', marked: merged.after };
      if (merged.after.hash === base.hash) return { kind: 'clean', change: null };
      const { kind, path } = change;
      return { kind: 'clean', change: { kind, path, before: base, after: merged.after } };
    }
    case 'rename': {
      if (!base) return { kind: 'conflict' };
      const merged = await mergeSides(change, base);
      if (merged.conflict) return { kind: 'conflict', marked: merged.after };
      return { kind: 'clean', change: { ...change, before: base, after: merged.after } };
    }
  }
}

/** Text by merging; the encoding is the new base's unless the change itself is about the encoding. */
async function mergeSides(
  { before, after }: { readonly before: FileSide; readonly after: FileSide },
  base: FileSide,
): Promise<{ after: FileSide; conflict: boolean }> {
  const { text, conflicts } = await mergeTexts(before.text, base.text, after.text, CONFLICT_LABELS);
  const reencodes = !sameEncoding(before, after);
  const encoding = reencodes ? after.encoding : base.encoding;
  return {
    after: sideOfText(text, encoding),
    conflict: conflicts > 0 || (reencodes && !sameEncoding(before, base)),
  };
}

function sameEncoding(a: FileSide, b: FileSide): boolean {
  return a.encoding.name === b.encoding.name && a.encoding.bom === b.encoding.bom;
}
