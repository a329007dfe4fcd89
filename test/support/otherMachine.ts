import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SandboxEngine, SandboxStatus } from '../../src/agent/commands/sandbox.ts';
import type { Asked, Told } from './otherMachineChild.ts';
import { TempFolder } from './tempFolder.ts';

/**
 * Runs commands in the sandbox as on another machine: in user and mount namespaces, where everyone may mount. The state of the
 * sandbox is in an empty folder.
 * @param make a shell script that makes this machine the other one; `$1` is that folder, `$2` another empty one
 */
export async function onOtherMachine(
  t: TestContext,
  make: string,
  engine: SandboxEngine | 'auto',
  commands: readonly (string | Asked)[],
): Promise<{ readonly status: SandboxStatus; readonly told: readonly Told[] }> {
  const [temp, more] = [await TempFolder.create(), await TempFolder.create()];
  for (const each of [temp, more]) t.after(() => each.remove());
  const asked = commands.map(each => (typeof each === 'string' ? { command: each } : each));
  const child = fileURLToPath(new URL('otherMachineChild.ts', import.meta.url));
  const { stdout, stderr, status } = spawnSync(
    'unshare',
    [
      ...['--user', '--map-root-user', '--mount', '--', 'sh', '-ec', `${make}\nshift 2; exec "$@"`, 'sh'],
      ...[temp.root, more.root, process.execPath, '--disable-warning=ExperimentalWarning', child],
      ...[engine, temp.at('state'), JSON.stringify(asked)],
    ],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const [first, ...told] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);
  return { status: first as SandboxStatus, told: told as Told[] };
}
