import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Logger } from '../../../agent/base/logger.ts';
import {
  nativeFilesIn,
  platformName,
  thisMachine,
} from '../../../agent/session/tools/ast/engine/nativeFolder.ts';
import { WorkerAstEngine } from '../../../agent/session/tools/ast/worker/client.ts';
import { showWarning } from '../../toast.ts';

/**
 * The packaged structural engine: the worker's script, and the native files for this machine. If the engine is not among
 * them or cannot be loaded, the first search says so to the user and the log; nothing else needs it.
 */
export function createStructuralEngine(extensionPath: string, logger: Logger): WorkerAstEngine {
  const dist = path.join(extensionPath, 'dist');
  const platform = platformName(thisMachine());
  const files = nativeFilesIn(path.join(dist, 'native'), platform);
  let isTold = false;
  return new WorkerAstEngine(path.join(dist, 'astWorker.js'), files, reason => {
    if (isTold) return;
    isTold = true;
    logger.error(`The structural engine for ${platform} cannot be loaded: ${reason}`);
    void showWarning(
      vscode.l10n.t(
        'Structural search is not available: this package has no engine for {0}. The agent is told to search and edit text instead; everything else works. The log has the reason.',
        platform,
      ),
    );
  });
}
