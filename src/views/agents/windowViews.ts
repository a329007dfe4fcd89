import { rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { AgentViews } from '../../agent/clients/view/agentViews.ts';
import { viewPace } from '../../agent/clients/view/liveView.ts';
import { stayedText } from '../../agent/clients/view/terminalWords.ts';
import { mountFor } from '../../agent/sandbox/view/sandboxes.ts';
import type { Agent } from '../agent.ts';
import { reportLeftOut } from '../review/external/report.ts';
import { storageAdvice } from '../texts/errorSentence.ts';
import { whySentence } from '../texts/sandboxWords.ts';
import { showInfo, showWarning, withCancel } from '../toast.ts';

/** Dependencies of the agents' views. */
export interface WindowViewsParts extends Agent {
  readonly context: vscode.ExtensionContext;
}

/** Folder of the views of this workspace while agents work in them. */
export function viewsFolder({ context }: WindowViewsParts): string {
  return path.join((context.storageUri ?? context.globalStorageUri).fsPath, 'views');
}

/** The views of agents in this window. */
export function windowViews(parts: WindowViewsParts): AgentViews {
  const { workspace, settings } = parts;
  const storage = viewsFolder(parts);
  const worker = path.join(parts.context.extensionPath, 'dist', 'freezeWorker.js');
  const views = new AgentViews({
    ...parts,
    storage,
    pace: viewPace,
    folders: () => workspace.folders(),
    limits: () => ({ ...settings.copyLimits, worker }),
    readable: () => settings.agentsReadable,
    mount: () => mountFor(workspace.folders(), storage, settings.sandboxEngine),
    progress: async (total, copy) => {
      const title = vscode.l10n.t('Redline: copying the workspace for the agent');
      await withCancel(title, (signal, report) => copy(signal, done => report(done, total)));
    },
    sentenceOf: whySentence,
    onTrouble: ({ name }, error) => {
      const what = vscode.l10n.t(
        'What {0} writes cannot become previews. Nothing of it is lost, and it is tried again.',
        name,
      );
      void showWarning(`${what} ${storageAdvice(error, vscode.l10n)}`);
    },
    onNotTaken: ({ name }, { leftOut, isTooMuch, stayed }) => {
      reportLeftOut(leftOut);
      if (stayed.length > 0)
        void showInfo(
          vscode.l10n.t(
            '{0} has ended. Git ignores what stayed in its view: {1}',
            name,
            stayedText(stayed, vscode.l10n),
          ),
        );
      if (isTooMuch)
        void showWarning(
          vscode.l10n.t(
            '{0} has changed more than Redline brings into review at once: 2,000 files, or 50 MB. It stays in the view of the agent until there is less.',
            name,
          ),
        );
    },
  });
  void parts.takingOver?.then(isStored => (isStored ? views.keepRecord() : undefined));
  return views;
}

/**
 * Recovers the writes of agents that ended while no window was open, and lets those at work come back.
 * @param isOwner if several windows have the folder open, only the storage's owner recovers the changes
 */
export async function recoverViews(views: AgentViews, folder: string, isOwner: boolean): Promise<void> {
  if (!isOwner) return views.goOn();
  // If nothing is left, the next start need not look.
  if (!(await views.recover())) await rmdir(folder).catch(() => undefined);
}
