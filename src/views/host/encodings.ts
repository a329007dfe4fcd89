import * as vscode from 'vscode';
import { defaultEncoding, isEncodingName, type TextEncoding } from '../../agent/base/textCodec.ts';

/** What VS Code means by the name of an encoding; `undefined` for those that are not known here. */
export function encodingNamed(name: string): TextEncoding | undefined {
  if (name === 'utf8bom') return { name: 'utf8', bom: true };
  // VS Code always writes a mark in front of UTF-16.
  if (name === 'utf16le' || name === 'utf16be') return { name, bom: true };
  return isEncodingName(name) ? { name, bom: false } : undefined;
}

/**
 * The encoding in which VS Code reads the file if it has no byte order mark: that of its open document, else that of the
 * setting `files.encoding`. Encodings that are not known here count as UTF-8, which their text then mostly is not.
 */
export function encodingOfUri(uri: vscode.Uri): TextEncoding {
  const key = uri.toString();
  const document = vscode.workspace.textDocuments.find(candidate => candidate.uri.toString() === key);
  const name =
    document?.encoding ?? vscode.workspace.getConfiguration('files', uri).get<string>('encoding', 'utf8');
  return encodingNamed(name) ?? defaultEncoding;
}
