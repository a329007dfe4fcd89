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
 * The encoding in which VS Code reads the file if it has no byte order mark: that of its document if it is open, or if VS Code
 * may judge by the language or the content of a file; else that of the setting `files.encoding`. Encodings that are not
 * known here count as UTF-8, which their text then mostly is not.
 */
export async function encodingOfUri(uri: vscode.Uri): Promise<TextEncoding> {
  const key = uri.toString();
  const files = vscode.workspace.getConfiguration('files', uri);
  const isJudged =
    (files.inspect('encoding')?.languageIds ?? []).length > 0 || files.get('autoGuessEncoding') === true;
  const document =
    vscode.workspace.textDocuments.find(candidate => candidate.uri.toString() === key) ??
    (isJudged ? await openedOrMissing(uri) : undefined);
  return encodingNamed(document?.encoding ?? files.get('encoding', 'utf8')) ?? defaultEncoding;
}

/** `undefined` for a file that is not there, or is no text. */
async function openedOrMissing(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}
