import * as vscode from 'vscode';
import {
  defaultEncoding,
  isEncodingName,
  loadEncodings,
  type TextEncoding,
} from '../../agent/hold/text/encodings.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';

/** The encoding that VS Code means by this name, with its tables loaded; `undefined` if it is not supported. */
export async function encodingNamed(name: string): Promise<TextEncoding | undefined> {
  if (name === 'utf8bom') return { name: 'utf8', bom: true };
  // VS Code always writes UTF-16 with a byte order mark.
  if (name === 'utf16le' || name === 'utf16be') return { name, bom: true };
  if (!isEncodingName(name)) return undefined;
  await loadEncodings([name]);
  return { name, bom: false };
}

/**
 * The encoding in which VS Code reads the file if it has no byte order mark: the one of its document if the file is open, or if
 * settings make VS Code choose by language or content; else the one of the setting `files.encoding`. An unsupported encoding
 * counts as UTF-8: decoding such a file then usually fails, and it is treated as binary.
 */
export async function encodingOfUri(uri: vscode.Uri): Promise<TextEncoding> {
  const key = uri.toString();
  const files = vscode.workspace.getConfiguration('files', uri);
  const dependsOnFile =
    (files.inspect('encoding')?.languageIds ?? []).length > 0 || files.get('autoGuessEncoding') === true;
  const document =
    vscode.workspace.textDocuments.find(candidate => candidate.uri.toString() === key) ??
    (dependsOnFile ? await openIfText(uri) : undefined);
  return (await encodingNamed(document?.encoding ?? files.get('encoding', 'utf8'))) ?? defaultEncoding;
}

/** The encoding that settings give the files of an open folder. To ask about each of thousands of files would take too long. */
export async function encodingIn({ fsPath }: FolderRoot): Promise<TextEncoding> {
  const files = vscode.workspace.getConfiguration('files', vscode.Uri.file(fsPath));
  return (await encodingNamed(files.get('encoding', 'utf8'))) ?? defaultEncoding;
}

/** `undefined` for a file that does not exist or is not text. */
async function openIfText(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}
