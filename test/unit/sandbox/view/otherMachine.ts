import assert from 'node:assert/strict';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SandboxEngine, SandboxStatus } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import type { Asked, Told } from './otherMachineChild.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/**
 * Makes a user namespace with the usual users, which only root may: the program waits in it until they are mapped, and gets
 * the powers of its root by starting the next one. Arguments: a path for a pipe, and the next program.
 */
const USUAL_USERS = `
mkfifo "$1"
unshare --user --mount -- sh -c 'read _ <"$1"; shift; exec "$@"' sh "$@" &
here=$(readlink /proc/self/ns/user)
while [ "$(readlink /proc/$!/ns/user)" = "$here" ]; do :; done
for map in uid_map gid_map; do echo 0 0 65536 >"/proc/$!/$map"; done
echo >"$1"
wait $!
`;

/**
 * Runs commands in the sandbox as on another machine. The state of the sandbox is in an empty folder.
 * @param make a shell script that makes this machine the other one; `$1` is that folder, `$2` another empty one
 */
export async function onOtherMachine(
  t: TestContext,
  make: string,
  engine: SandboxEngine | 'auto',
  commands: readonly (string | Asked)[],
): Promise<{ readonly status: SandboxStatus; readonly told: readonly Told[] }> {
  const asked = commands.map(each => (typeof each === 'string' ? { command: each } : each));
  const child = fileURLToPath(new URL('otherMachineChild.ts', import.meta.url));
  const { stdout, stderr, status } = await runThere(t, make, folder => [
    ...[process.execPath, '--disable-warning=ExperimentalWarning', child],
    ...[engine, path.join(folder, 'state'), JSON.stringify(asked)],
  ]);
  assert.equal(status, 0, stderr);
  const [found, ...told] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);
  return { status: found as SandboxStatus, told: told as Told[] };
}

/**
 * Runs a program as on another machine: in user and mount namespaces, where everyone may mount.
 * @param make see {@link onOtherMachine}
 * @param program of the first folder
 */
export async function runThere(
  t: TestContext,
  make: string,
  program: (folder: string) => readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<SpawnSyncReturns<string>> {
  const [temp, more] = [await TempFolder.create(), await TempFolder.create()];
  for (const each of [temp, more]) t.after(() => each.remove());
  const [file = '', ...first] =
    process.getuid?.() === 0
      ? ['sh', '-ec', USUAL_USERS, 'sh', more.at('mapped')]
      : ['unshare', '--user', '--map-root-user', '--mount', '--'];
  const inside = ['sh', '-ec', `${make}\nshift 2; exec "$@"`, 'sh', temp.root, more.root];
  return spawnSync(file, [...first, ...inside, ...program(temp.root)], { encoding: 'utf8', env });
}
