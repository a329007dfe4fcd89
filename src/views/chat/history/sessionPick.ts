import * as vscode from 'vscode';
import { DisposableStore } from '../../../agent/base/disposable.ts';
import type { SessionFile, SessionLogs } from '../../../agent/session/conversation/storage/sessionLogs.ts';
import type { SessionSummary } from '../../../agent/session/conversation/storage/sessionSummary.ts';
import type { Session } from '../../../agent/session/session.ts';
import { plural, withoutIcons } from '../../plainText.ts';

/** The user's choice: a session, and the action on it. */
export interface SessionChoice {
  readonly action: 'open' | 'rename' | 'export' | 'delete';
  readonly id: string;
}

interface Row extends vscode.QuickPickItem {
  readonly id: string;
}
interface Button extends vscode.QuickInputButton {
  readonly action: SessionChoice['action'];
}

/** How many rows are added at a time while the logs are read. */
const BATCH = 20;
const MAX_LABEL = 80;

/** Lists the stored sessions, most recently used first. `undefined` if the user chose none. @throws as `list` does. */
export async function pickSession(
  sessions: SessionLogs,
  session: Session,
): Promise<SessionChoice | undefined> {
  const files = await sessions.list();
  return new Promise(resolve => {
    const owned = new DisposableStore();
    const pick = owned.add(vscode.window.createQuickPick<Row>());
    let isOpen = true;
    const end = (choice?: SessionChoice): void => {
      if (!isOpen) return;
      isOpen = false;
      owned.dispose();
      resolve(choice);
    };
    pick.placeholder = vscode.l10n.t('Open a session');
    pick.matchOnDescription = true;
    pick.busy = true;
    owned.add(
      pick.onDidAccept(() => {
        const [row] = pick.selectedItems;
        end(row && { action: 'open', id: row.id });
      }),
    );
    owned.add(
      pick.onDidTriggerItemButton(({ item, button }) => {
        end({ action: (button as Button).action, id: item.id });
      }),
    );
    owned.add(pick.onDidHide(() => end()));
    pick.show();
    const fill = async (): Promise<void> => {
      const rows: Row[] = [];
      for (const [at, file] of files.entries()) {
        // A session that was deleted meanwhile is left out.
        const summary = await sessions.summarize(file.id).catch(() => undefined);
        if (!isOpen) return;
        if (summary) rows.push(rowOf(file, summary, file.id === session.id));
        if (at % BATCH === BATCH - 1 || at === files.length - 1) pick.items = [...rows];
      }
      pick.busy = false;
      if (rows.length === 0) pick.placeholder = vscode.l10n.t('There are no stored sessions yet.');
    };
    void fill();
  });
}

function rowOf({ id, usedAt }: SessionFile, summary: SessionSummary, isCurrent: boolean): Row {
  const { title, firstWords, messages } = summary;
  const name = withoutIcons(title ?? firstWords, MAX_LABEL) || vscode.l10n.t('Empty session');
  const time = usedAt.toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
  const count = plural(vscode.l10n.t('1 message|{0} messages'), messages);
  const state = isCurrent ? [vscode.l10n.t('current')] : [];
  return {
    id,
    label: name,
    description: [...state, count, time].join(' · '),
    iconPath: new vscode.ThemeIcon(isCurrent ? 'comment-discussion' : 'comment'),
    buttons: buttons(),
  };
}

function buttons(): readonly Button[] {
  const button = (action: Button['action'], icon: string, tooltip: string): Button => ({
    action,
    tooltip,
    iconPath: new vscode.ThemeIcon(icon),
  });
  return [
    button('rename', 'edit', vscode.l10n.t('Rename')),
    button('export', 'export', vscode.l10n.t('Export')),
    button('delete', 'trash', vscode.l10n.t('Delete')),
  ];
}
