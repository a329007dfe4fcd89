import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Logger } from '../../../agent/base/logger.ts';
import { platformName, thisMachine } from '../../../agent/session/tools/ast/engine/machine.ts';
import { WorkerAstEngine } from '../../../agent/session/tools/ast/worker/client.ts';
import { showWarning } from '../../toast.ts';

/** Where the extension and its storage are. */
export interface EngineFolders {
  readonly extensionPath: string;
  readonly globalStorageUri: Pick<vscode.Uri, 'fsPath'>;
}

/**
 * The packaged structural engine: the worker's script, and the native files for this machine, which are unpacked into the
 * extension's storage. If they cannot be unpacked or loaded, the first search says so to the user and the log; nothing else
 * needs them.
 */
export function createStructuralEngine(
  { extensionPath, globalStorageUri }: EngineFolders,
  logger: Logger,
): WorkerAstEngine {
  const dist = path.join(extensionPath, 'dist');
  const platform = platformName(thisMachine());
  const packed = path.join(dist, 'native', platform);
  const unpacked = path.join(globalStorageUri.fsPath, 'native', platform);
  let isTold = false;
  return new WorkerAstEngine(path.join(dist, 'astWorker.js'), { packed, unpacked }, reason => {
    if (isTold) return;
    isTold = true;
    logger.error(`The structural engine for ${platform} cannot be loaded: ${reason}`);
    void showWarning(
      vscode.l10n.t(
        'Structural search is not available: its engine for {0} cannot be loaded. The agent is told to search and edit text instead; everything else works. The log has the reason.',
        platform,
      ),
    );
  });
}
