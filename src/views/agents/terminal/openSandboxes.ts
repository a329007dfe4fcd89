import * as vscode from 'vscode';
import type { Logger } from '../../../agent/base/logger.ts';
import type { Sandboxes } from '../../../agent/sandbox/commands/sandbox.ts';
import { createSandboxes } from '../../../agent/sandbox/view/sandboxes.ts';
import type { Settings } from '../../settings.ts';
import { withCancel } from '../../toast.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';

/**
 * The sandboxes of the workspace, as the settings say.
 * @param storage a folder for their state, which this window alone uses
 */
export function openSandboxes(
  storage: string,
  workspace: VsCodeWorkspace,
  settings: Settings,
  logger: Logger,
): Sandboxes {
  return createSandboxes({
    folders: () => workspace.folders(),
    storage,
    engine: () => settings.sandboxEngine,
    limits: () => settings.copyLimits,
    variables: () => settings.sandboxVariables,
    readable: () => settings.sandboxReadable,
    progress: async (total, copy) => {
      const title = vscode.l10n.t('Redline: copying the workspace for the sandbox');
      await withCancel(title, (signal, report) => copy(signal, done => report(done, total)));
    },
    logger,
  });
}
