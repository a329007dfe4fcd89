/** Runs a command that does not end in the sandbox of a folder, until it is killed: `node sandboxChild.ts <folder> <storage>`. */
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { createSandboxes } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { nothingPending } from '../../../support/pendingSides.ts';

const [, , root = '', storage = ''] = process.argv;
const sandboxes = createSandboxes({
  folders: () => [{ name: 'folder', fsPath: root }],
  storage,
  engine: () => 'overlay',
  limits: () => ({ bytes: 1e9, files: 1e5 }),
  variables: () => [],
  readable: () => [],
  logger: silentLogger,
});
const sandbox = await sandboxes.of('s1');
if (!sandbox) throw new Error('There is no sandbox.');
await sandbox.run(
  {
    command:
      ': redline-kill-test; (setsid sh -c ": redline-kill-test; sleep 900" &); echo started; sleep 900',
    folder: root,
    shell: '/bin/sh',
    arguments: [],
    environment: {},
    timeLimit: 900,
  },
  nothingPending,
  { signal: new AbortController().signal, add: chunk => process.stdout.write(chunk) },
);
