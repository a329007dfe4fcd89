import { createVSIX } from '@vscode/vsce';
import * as path from 'node:path';
import { temporaryFolder } from '../../../scripts/lib/cleanup.mjs';
import type { Workbench } from '../../../scripts/lib/workbench.mjs';
import type { ProposedAction } from '../../../src/views/api.ts';

/** Packages a small extension that stages previews through Redline's API, as another extension would. */
export async function pusherExtension(): Promise<string> {
  const packagePath = path.join(temporaryFolder('redline-pusher-'), 'pusher.vsix');
  await createVSIX({
    cwd: path.join(import.meta.dirname, 'pusher'),
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    skipLicense: true,
  });
  return packagePath;
}

/** Stages actions by way of that extension. */
export async function push(workbench: Workbench, actions: readonly ProposedAction[]): Promise<void> {
  workbench.writeFile('push.json', JSON.stringify(actions));
  await workbench.runCommand('Pusher: Push');
}
