import * as vscode from 'vscode';
import type { FolderRoot } from '../../agent/preview/workspace.ts';
import { defaultEncoding, type TextEncoding } from '../../agent/text/encodings.ts';
import { encodingNamed } from '../workspace/fileEncoding.ts';

/** The encoding that settings give the files of an open folder. To ask about each of thousands of files would take too long. */
export async function encodingIn({ fsPath }: FolderRoot): Promise<TextEncoding> {
  const files = vscode.workspace.getConfiguration('files', vscode.Uri.file(fsPath));
  return (await encodingNamed(files.get('encoding', 'utf8'))) ?? defaultEncoding;
}
