import { sha256, type Sha256 } from '../base/hash.ts';
import type { TextEdit } from './textEdit.ts';
import { decodeText, defaultEncoding, encodeText, type TextEncoding } from '../base/textCodec.ts';

/**
 * A file's whole content at one moment: its text, how that text is stored, and the hash of the exact bytes.
 * Two sides are the same content if and only if their hashes are equal.
 */
export interface FileSide {
  readonly hash: Sha256;
  readonly text: string;
  readonly encoding: TextEncoding;
}

/**
 * One file's change, complete in itself: the content it was made on (`before`) and the content that lands
 * (`after`). Both are kept whole, so that a change can be shown, checked, rebased, split and inverted without asking
 * anybody else. `path` is a workspace path (see `Workspace`); a rename's `path` is the new one.
 */
export type FileChange =
  | {
      readonly kind: 'modify';
      readonly path: string;
      readonly before: FileSide;
      readonly after: FileSide;
      /**
       * What made the one text of the other, where that is known: sorted, and none overlaps. It spares a comparison of the whole
       * texts, which alone say what lands; edits that do not fit them are passed over.
       */
      readonly edits?: readonly TextEdit[];
    }
  | { readonly kind: 'create'; readonly path: string; readonly before: null; readonly after: FileSide }
  | { readonly kind: 'delete'; readonly path: string; readonly before: FileSide; readonly after: null }
  | {
      readonly kind: 'rename';
      readonly path: string;
      readonly from: string;
      readonly before: FileSide;
      readonly after: FileSide;
    };

export type FileChangeKind = FileChange['kind'];

/**
 * The side made of exact bytes; `undefined` for bytes that are not text.
 * @param expected what they are stored in unless they begin with a byte order mark.
 */
export function sideOfBytes(bytes: Uint8Array, expected?: TextEncoding): FileSide | undefined {
  const decoded = decodeText(bytes, expected);
  return decoded && { hash: sha256(bytes), ...decoded };
}

/**
 * The side that `text` makes in `encoding`. Its text is the one that reading the bytes gives, which is another where the
 * encoding lacks a character: half a surrogate pair, for one, cannot be stored in UTF-8.
 */
export function sideOfText(text: string, encoding: TextEncoding = defaultEncoding): FileSide {
  const bytes = encodeText(text, encoding);
  return sideOfBytes(bytes, encoding) ?? { hash: sha256(bytes), text, encoding };
}

/** The exact bytes of a side. */
export function bytesOfSide(side: FileSide): Uint8Array {
  return encodeText(side.text, side.encoding);
}

/** A creation, modification or deletion from two sides; `null` means that the file does not exist. */
export function changeOf(
  path: string,
  before: FileSide | null,
  after: FileSide | null,
): FileChange | undefined {
  if (before && after)
    return before.hash === after.hash ? undefined : { kind: 'modify', path, before, after };
  if (after) return { kind: 'create', path, before: null, after };
  if (before) return { kind: 'delete', path, before, after: null };
  return undefined;
}

/** What one path holds before and after: the unit in which changes are checked, written, rolled back and logged. */
export interface FileStep {
  readonly path: string;
  /** `null`: there is no file. */
  readonly before: FileSide | null;
  readonly after: FileSide | null;
}

/** A change as steps on single paths: one, or two for a rename. */
export function stepsOf(change: FileChange): readonly FileStep[] {
  if (change.kind !== 'rename') return [{ path: change.path, before: change.before, after: change.after }];
  return [
    { path: change.from, before: change.before, after: null },
    { path: change.path, before: null, after: change.after },
  ];
}
