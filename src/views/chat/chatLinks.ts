import * as vscode from 'vscode';
import type { Logger } from '../../agent/base/logger.ts';
import type { Workspace } from '../../agent/hold/preview/workspace.ts';
import { oneLine } from '../plainText.ts';
import type { FileUris } from '../workspace/previewUri.ts';
import { showInfo } from '../toast.ts';

/** Opens a link of an answer, if it is a web link. */
export async function openLink(url: string, logger: Logger): Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    logger.warn('The chat panel asked to open a link that is not a web link; it was not opened.');
    return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(parsed.href, true));
}

/** Opens a file of the workspace that an answer or a call names, with the cursor in a line, counted from 1. */
export async function openNamedFile(
  { workspace, files }: { readonly workspace: Workspace; readonly files: FileUris },
  named: string,
  line: number | undefined,
): Promise<void> {
  const path = await workspace.resolvePath(named).catch(() => undefined);
  const uri = path === undefined ? undefined : files(path);
  const document =
    uri && (await Promise.resolve(vscode.workspace.openTextDocument(uri)).catch(() => undefined));
  if (!document) {
    void showInfo(vscode.l10n.t('{0} is not a text file in this workspace.', oneLine(named)));
    return;
  }
  const at = new vscode.Position(Math.min((line ?? 1) - 1, document.lineCount - 1), 0);
  await vscode.window.showTextDocument(
    document,
    line === undefined ? {} : { selection: new vscode.Range(at, at) },
  );
}
