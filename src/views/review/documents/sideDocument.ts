import * as vscode from 'vscode';
import type { Blobs } from '../../../agent/hold/preview/blobs.ts';
import {
  isBinary,
  isLink,
  type BinarySide,
  type FileChange,
  type FileSide,
} from '../../../agent/hold/preview/fileChange.ts';

/** The images that VS Code shows, by the end of their names. */
const IMAGE = /\.(?:avif|bmp|gif|ico|jpe?g|png|webp)$/i;

/** What the document of a side says: a text as it is, and of a link or a binary file what it is; empty where there is no file. */
export function sideText(side: FileSide | null | undefined): string {
  if (!side) return '';
  if (isLink(side)) return vscode.l10n.t('Symbolic link to {0}', side.link);
  if (!isBinary(side)) return side.text;
  return vscode.l10n.t('Binary file, {0} bytes, SHA-256 {1}', side.size.toLocaleString('en'), side.hash);
}

/** Whether VS Code can show both sides, or the only one, in its preview of images. */
export function isOfImages({ path, before, after }: FileChange): boolean {
  return IMAGE.test(path) && [before, after].every(side => side === null || isBinary(side));
}

/** The bytes of an image. @throws FileSystemError if they are gone */
export async function imageBytes(side: BinarySide, blobs: Blobs): Promise<Uint8Array> {
  try {
    return await blobs.get(side);
  } catch {
    throw vscode.FileSystemError.Unavailable(
      vscode.l10n.t('The content of this file is gone from Redline’s storage.'),
    );
  }
}
