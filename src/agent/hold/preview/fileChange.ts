import { sha256, type Sha256 } from '../../base/hash.ts';
import { decodeText, defaultEncoding, encodeText, type TextEncoding } from '../text/encodings.ts';
import { editsOfHunks, hunksOf, type Hunk } from '../text/hunks.ts';
import type { TextEdit } from '../text/textEdit.ts';
import type { FileRights } from './workspace.ts';

/**
 * Content of a path at one moment: a text, a symbolic link, or a binary file. Two sides are the same content if and only if their
 * hashes are equal.
 */
export type FileSide = TextSide | LinkSide | BinarySide;

/** A text file's whole content: its text, how that text is stored, and the hash of the exact bytes. */
export interface TextSide {
  readonly hash: Sha256;
  readonly text: string;
  readonly encoding: TextEncoding;
}

/** A symbolic link, which is never followed. */
export interface LinkSide {
  /** See {@link hashOfLink}. */
  readonly hash: Sha256;
  /** Where it leads, as the link has it. */
  readonly link: string;
}

/** A file that is not text. Its bytes are in the {@link Blobs} of the store, by their hash. */
export interface BinarySide {
  readonly hash: Sha256;
  /** In bytes. */
  readonly size: number;
}

/**
 * One file's change, self-contained: the content it was made on (`before`) and the content to write (`after`). Both are complete,
 * so that a change can be shown, checked, rebased, split and inverted without looking anywhere else. `path` is a workspace path
 * (see `Workspace`); a rename's `path` is the new one.
 */
export type FileChange =
  | {
      readonly kind: 'modify';
      readonly path: string;
      readonly before: FileSide;
      readonly after: FileSide;
      /**
       * The edits that turn one text into the other, if known: sorted and not overlapping. They only save comparing the whole
       * texts; Redline writes `after`, and ignores edits that do not match the texts.
       */
      readonly edits?: readonly TextEdit[];
      /** Permission bits that the file gets; by default it keeps its own. */
      readonly mode?: number;
    }
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly before: null;
      readonly after: FileSide;
      /** Permission bits to restore; by default the file gets those that the system gives to new files. */
      readonly mode?: number;
      /** The rights to restore, likewise. */
      readonly rights?: FileRights;
    }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly before: FileSide;
      readonly after: null;
      /** Folders that were made for the file: they are removed with it once they are empty. */
      readonly folders?: readonly string[];
    }
  | {
      readonly kind: 'rename';
      readonly path: string;
      readonly from: string;
      readonly before: FileSide;
      readonly after: FileSide;
      /** Folders that were made for the file at `from`: they are removed once they are empty. */
      readonly folders?: readonly string[];
    };

export type FileChangeKind = FileChange['kind'];

export function isText(side: FileSide): side is TextSide {
  return 'text' in side;
}

export function isLink(side: FileSide): side is LinkSide {
  return 'link' in side;
}

export function isBinary(side: FileSide): side is BinarySide {
  return 'size' in side;
}

/** The text of a side; empty if it is not text, or there is no file. */
export function textOf(side: FileSide | null | undefined): string {
  return side && isText(side) ? side.text : '';
}

/**
 * Whether a change, or a step, is about the file as a whole, since one of its sides is a link or a binary file: it has no
 * hunks, is never merged, and is read and written without following a link at its path.
 */
export function isWhole({ before, after }: FileStep): boolean {
  return [before, after].some(side => side !== null && !isText(side));
}

/** The hash of a symbolic link, which no file has. */
export function hashOfLink(target: string): Sha256 {
  return `link:${sha256(Buffer.from(target))}`;
}

export function linkTo(target: string): LinkSide {
  return { hash: hashOfLink(target), link: target };
}

/**
 * The side with these exact bytes; `undefined` if they are not text.
 * @param expected their encoding, unless they begin with a byte order mark.
 */
export function sideOfBytes(bytes: Uint8Array, expected?: TextEncoding): TextSide | undefined {
  const decoded = decodeText(bytes, expected);
  const side = decoded && { hash: sha256(bytes), ...decoded };
  if (side) hashedSides.add(side);
  return side;
}

/** Sides whose hash was made from the bytes of their text, here or in a worker. That of another may be wrong. */
export const hashedSides = new WeakSet<TextSide>();

/**
 * The side that stores `text` in `encoding`. Its text is that of the bytes read back, which differs where the encoding
 * lacks a character: half a surrogate pair, for example, cannot be stored in UTF-8.
 */
export function sideOfText(text: string, encoding: TextEncoding = defaultEncoding): TextSide {
  const bytes = encodeText(text, encoding);
  return sideOfBytes(bytes, encoding) ?? { hash: sha256(bytes), text, encoding };
}

/** The exact bytes of a text. */
export function bytesOfSide(side: TextSide): Uint8Array {
  return encodeText(side.text, side.encoding);
}

/** The change from one side to another, where `null` stands for no file; `undefined` if there is no difference. */
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

/** Content of one path before and after: the unit in which changes are checked, written, rolled back and logged. */
export interface FileStep {
  readonly path: string;
  /** `null`: there is no file. */
  readonly before: FileSide | null;
  readonly after: FileSide | null;
  /** The file that is renamed to this path, with its content before. */
  readonly origin?: { readonly path: string; readonly side: FileSide };
  /** The content under the new name of a renamed file; both names may lead to one file for a moment. */
  readonly moved?: FileSide;
}

/**
 * The hunks of a change, derived from its edits if known; none where it is about the file as a whole. The same change always
 * gives the same hunks.
 */
export async function hunksOfChange(change: FileChange): Promise<readonly Hunk[]> {
  if (isWhole(change)) return [];
  const edits = change.kind === 'modify' ? change.edits : undefined;
  return hunksOf(textOf(change.before), textOf(change.after), edits);
}

/**
 * The modification with another text proposed. If the edits of the old text were known, the new text gets edits, one for each
 * hunk: labels count them.
 */
export async function proposing(
  change: Extract<FileChange, { kind: 'modify' }>,
  after: TextSide,
): Promise<Extract<FileChange, { kind: 'modify' }>> {
  const { edits, ...same } = change;
  const next = { ...same, after };
  if (!edits || isWhole(next)) return next;
  const before = textOf(change.before);
  return { ...next, edits: editsOfHunks(before, await hunksOf(before, after.text)) };
}
