import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../../agent/base/errors.ts';
import { ledgerJsonLines, type KnownConversation } from '../../../agent/session/conversation/ledgerExport.ts';
import type { Agent } from '../../agent.ts';
import { showInfo } from '../../toast.ts';

/**
 * Writes the ledger as JSON Lines.
 * @param given the file; without one it asks where.
 */
export async function exportLedger(agent: Agent, given: unknown): Promise<void> {
  const { store } = agent;
  if (store.ledger().length === 0) {
    void showInfo(vscode.l10n.t('Nothing has been applied or discarded yet.'));
    return;
  }
  const file = given instanceof vscode.Uri ? given : await askFile();
  if (!file) return;
  const files = await agent.sessions.list().catch((error: unknown) => {
    agent.logger.warn(`The exported ledger has no prompts of stored sessions: ${detailOf(error)}`);
    return [];
  });
  const stored = new Set(files.map(({ id }) => id));
  const lines = await ledgerJsonLines(store, id => readConversation(agent, stored, id));
  await vscode.workspace.fs.writeFile(file, Buffer.from(lines));
  if (file === given) return;
  const open = vscode.l10n.t('Open');
  const text = vscode.l10n.t('Exported the ledger to {0}.', path.posix.basename(file.path));
  if ((await showInfo(text, open)) === open) await vscode.window.showTextDocument(file);
}

/** If a conversation cannot be read, the export lacks its prompts, but does not fail. */
async function readConversation(
  { session, sessions, logger }: Agent,
  stored: ReadonlySet<string>,
  id: string,
): Promise<KnownConversation | undefined> {
  if (id === session.id) return session;
  if (!stored.has(id)) return undefined;
  try {
    if (!(await session.logs.drain(id)))
      logger.warn(`The exported ledger may lack prompts of session ${id}, which is not all saved`);
    return await sessions.read(id, logger);
  } catch (error) {
    logger.warn(`The exported ledger has no prompts of session ${id}: ${detailOf(error)}`);
    return undefined;
  }
}

async function askFile(): Promise<vscode.Uri | undefined> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder.uri, 'redline-ledger.jsonl') } : {}),
    title: vscode.l10n.t('Export Ledger'),
  });
}
