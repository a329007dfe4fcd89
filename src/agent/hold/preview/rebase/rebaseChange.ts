import { inNewLineEnding } from '../../text/lineEndings.ts';
import { mergeTexts } from '../../text/threeWayMerge.ts';
import { isText, sideOfText, type FileChange, type FileSide, type TextSide } from '../fileChange.ts';
import { CONFLICT_LABELS } from './conflictMarkers.ts';

/** The result of rebasing a change. */
export type RebasedChange =
  /** The same intent on the new base; `null` if the new base already contains it. */
  | { readonly kind: 'clean'; readonly change: FileChange | null }
  /** `marked` is the proposal with conflict markers, if the files could be merged line by line. */
  | { readonly kind: 'conflict'; readonly marked?: TextSide };

/**
 * Rebases a change by a three-way merge of its old base, the new base and the proposal. Symbolic links and binary files are never
 * merged.
 * @param base the current content of the change's original path; `null`: no file.
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
      if (base.hash === change.after.hash && change.mode === undefined)
        return { kind: 'clean', change: null };
      const merged = await mergeSides(change, base);
      if (!merged) return { kind: 'conflict' };
      if (merged.conflict) return { kind: 'conflict', marked: merged.after };
      if (merged.after.hash === base.hash && change.mode === undefined)
        return { kind: 'clean', change: null };
      const { edits: _, ...same } = change;
      return { kind: 'clean', change: { ...same, before: base, after: merged.after } };
    }
    case 'rename': {
      if (!base) return { kind: 'conflict' };
      const merged = await mergeSides(change, base);
      if (!merged) return { kind: 'conflict' };
      if (merged.conflict) return { kind: 'conflict', marked: merged.after };
      return { kind: 'clean', change: { ...change, before: base, after: merged.after } };
    }
  }
}

/**
 * Merges the texts; `undefined` if a side is not text. The encoding is that of the new base, unless the change itself changes it.
 */
async function mergeSides(
  { before, after }: { readonly before: FileSide; readonly after: FileSide },
  base: FileSide,
): Promise<{ after: TextSide; conflict: boolean } | undefined> {
  if (!isText(before) || !isText(after) || !isText(base)) return undefined;
  const [old, now, proposed] = await inNewLineEnding(before.text, base.text, after.text);
  const { text, conflicts } = await mergeTexts(old, now, proposed, CONFLICT_LABELS);
  const reencodes = !sameEncoding(before, after);
  const encoding = reencodes ? after.encoding : base.encoding;
  return {
    after: sideOfText(text, encoding),
    conflict: conflicts > 0 || (reencodes && !sameEncoding(before, base)),
  };
}

function sameEncoding(a: TextSide, b: TextSide): boolean {
  return a.encoding.name === b.encoding.name && a.encoding.bom === b.encoding.bom;
}
