import * as vscode from 'vscode';
import type { Blobs } from '../../../agent/hold/preview/blobs.ts';
import {
  isBinary,
  isLink,
  isText,
  type BinarySide,
  type FileChange,
  type FileSide,
} from '../../../agent/hold/preview/fileChange.ts';
import { encodeText } from '../../../agent/hold/text/encodings.ts';

/** The images that VS Code shows, by the end of their names. */
const IMAGE = /\.(?:avif|bmp|gif|ico|jpe?g|png|webp)$/i;

/** Text of a side's document: the file's text, or a description of a link or binary file; empty where there is no file. */
export function sideText(side: FileSide | null | undefined): string {
  if (!side) return '';
  if (isLink(side)) return vscode.l10n.t('Symbolic link to {0}', side.link);
  if (!isBinary(side)) return side.text;
  return vscode.l10n.t('Binary file, {0} bytes, SHA-256 {1}', side.size.toLocaleString('en'), side.hash);
}

/**
 * The bytes that VS Code gets for a text: in the encoding of the file if it has a byte order mark, else in UTF-8, with a mark only
 * if settings would have it decoded in another way.
 */
export function documentBytes(uri: vscode.Uri, text: string, side?: FileSide | null): Uint8Array {
  if (side && isText(side) && side.encoding.bom) return encodeText(text, side.encoding);
  return encodeText(text, { name: 'utf8', bom: !readsUtf8(uri) });
}

function readsUtf8(uri: vscode.Uri): boolean {
  const files = vscode.workspace.getConfiguration('files', uri);
  const isPlain =
    (files.inspect('encoding')?.languageIds ?? []).length === 0 && !files.get('autoGuessEncoding');
  return isPlain && ['utf8', 'utf8bom'].includes(files.get('encoding', 'utf8'));
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
