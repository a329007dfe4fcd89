/**
 * Runs one command after another in the sandbox, each as a preview that is applied, until it is killed. Arguments: the folder
 * that {@link killSandbox} filled, and the engine.
 */
import * as path from 'node:path';
import { english } from '../../src/agent/base/localiser.ts';
import { CommandRuns } from '../../src/agent/sandbox/commands/commandRuns.ts';
import type { SandboxEngine } from '../../src/agent/sandbox/commands/sandbox.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { runInSandbox } from '../../src/agent/session/tools/command/runInSandbox.ts';
import { openWorkbench } from './killApplyWork.ts';
import { COMMANDS, sandboxesIn } from './killSandboxWork.ts';

const [, , folder = '', engine] = process.argv;
const { store, workspace } = await openWorkbench(folder);
const invoker = new Invoker(store, workspace, () => 'apply');
const host = { store, invoker, overlay: new Overlay(store), l10n: english };
const origin = { sessionId: 's1', asksModel: true };
const runs = new CommandRuns();
const sandboxes = sandboxesIn(folder, engine as SandboxEngine);
const stage = (action: PendingAction) => queueResolveHandler(host, action, origin);
for (let n = 0; ; n++) {
  const command = COMMANDS[n % COMMANDS.length] ?? '';
  const plan = {
    command,
    folder: path.join(folder, 'workspace'),
    shell: '/bin/sh',
    arguments: [],
    environment: {},
    timeLimit: 900,
  };
  const { preview, stored } = stage({
    label: `Run ${n}`,
    sourceToolName: 'run_command',
    purpose: 'command',
    humanOnly: true,
    apply: async () => {
      const sandbox = await sandboxes.of('s1');
      if (!sandbox) throw new Error('There is no sandbox.');
      const run = runs.start(preview.id, 900_000);
      const followUp = (action: PendingAction) => stage(action).preview;
      try {
        return await runInSandbox(sandbox, plan, run, {
          pending: host.overlay.of('s1'),
          workspace,
          followUp,
        });
      } finally {
        run.end();
      }
    },
  });
  await stored;
  process.stdout.write('run\n');
  await invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
  await Promise.all(
    store
      .list('oldestFirst')
      .map(({ id }) => invoker.resolve({ id, action: 'discard', reason: 'no', actor: 'human' })),
  );
}
