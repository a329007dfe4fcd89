import * as vscode from 'vscode';
import { changeOf } from '../../agent/hold/preview/fileChange.ts';
import { inLineEndingsOf } from '../../agent/hold/text/lineEndings.ts';
import { proposedSide, readText } from '../../agent/hold/preview/textFile.ts';
import type { Ctx } from '../ctx.ts';
import { oneLine } from '../plainText.ts';
import { showInfo } from '../toast.ts';

/**
 * Stages a code block of an answer, which names a file, as that file's whole content, and opens the preview.
 * @returns the new preview's id
 * @throws ToolError for a path outside the workspace, and a file that is not text
 */
export async function proposeCode(
  { workspace, session, opener }: Ctx,
  [named, code]: readonly unknown[],
): Promise<string | undefined> {
  if (typeof named !== 'string' || typeof code !== 'string') return undefined;
  const { id: sessionId } = session;
  const path = await workspace.resolvePath(named);
  const before = await readText(workspace, path);
  const text = before?.text.endsWith('\n') === false ? code : `${code}\n`;
  const content = before ? await inLineEndingsOf(before.text, text) : text;
  const change = changeOf(path, before, await proposedSide(workspace, path, before, content));
  if (!change) return void showInfo(vscode.l10n.t('{0} already contains this.', oneLine(path)));
  const label = `${before ? 'Rewrite' : 'Create'} ${path}`;
  const title = before ? vscode.l10n.t('Rewrite {0}', path) : vscode.l10n.t('Create {0}', path);
  const { preview, stored } = session.stageForUser({
    label,
    title,
    sourceToolName: 'chat',
    changes: [change],
    sessionId,
  });
  await stored;
  await opener.open(preview);
  return preview.id;
}
