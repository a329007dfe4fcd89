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
  const { name, dependsOnFile } = settingsOf(uri);
  const document =
    vscode.workspace.textDocuments.find(candidate => candidate.uri.toString() === key) ??
    (dependsOnFile ? await openIfText(uri) : undefined);
  return (await encodingNamed(document?.encoding ?? name)) ?? defaultEncoding;
}

/** The encoding that settings give the files of an open folder. To ask about each of thousands of files would take too long. */
export async function encodingIn({ fsPath }: FolderRoot): Promise<TextEncoding> {
  return (await encodingNamed(settingsOf(vscode.Uri.file(fsPath)).name)) ?? defaultEncoding;
}

interface EncodingSettings {
  readonly name: string;
  /** Whether VS Code chooses by language or content. */
  readonly dependsOnFile: boolean;
}

/** By open folder, until any setting changes: VS Code copies a section on each read, and a rewrite asks about thousands of files. */
let known: Map<string | undefined, EncodingSettings> | undefined;

function settingsOf(uri: vscode.Uri): EncodingSettings {
  if (!known) {
    known = new Map();
    const following = vscode.workspace.onDidChangeConfiguration(() => {
      known = undefined;
      following.dispose();
    });
  }
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.toString();
  const found = known.get(folder);
  if (found) return found;
  const files = vscode.workspace.getConfiguration('files', uri);
  const byLanguage = (files.inspect('encoding')?.languageIds ?? []).length > 0;
  const dependsOnFile = byLanguage || files.get('autoGuessEncoding') === true;
  const settings = { name: files.get('encoding', 'utf8'), dependsOnFile };
  known.set(folder, settings);
  return settings;
}

/** `undefined` for a file that does not exist or is not text. */
async function openIfText(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}
