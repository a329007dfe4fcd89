import * as path from 'node:path';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { SandboxEngine, Sandboxes } from '../../src/agent/sandbox/commands/sandbox.ts';
import { createSandboxes } from '../../src/agent/sandbox/view/sandboxes.ts';

/** What a kill may interrupt: changes of every kind, much to list, and programs in sessions of their own. */
export const COMMANDS = [
  'echo changed > a.txt; rm b.txt; mkdir -p out; echo x > out/kept',
  'i=0; while [ $i -lt 300 ]; do echo $i > f$i; i=$((i+1)); done',
  'setsid sh -c "sleep 0.2" & rm -rf src; ln -s / src; sleep 0.05',
  'sleep 0.3; echo late > a.txt',
] as const;

/** The sandboxes of a window whose storage is in this folder. */
export function sandboxesIn(folder: string, engine: SandboxEngine): Sandboxes {
  return createSandboxes({
    folders: () => [{ name: 'workspace', fsPath: path.join(folder, 'workspace') }],
    storage: path.join(folder, 'sandbox'),
    engine: () => engine,
    limits: () => ({ bytes: 1e9, files: 1e5 }),
    variables: () => [],
    readable: () => [],
    logger: silentLogger,
  });
}
