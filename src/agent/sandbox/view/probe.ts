import { noOverlay } from '../../hold/preview/overlay.ts';
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { readProcesses, type SeenProcess } from '../../base/system/processTable.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import type { NoSandboxReason } from '../commands/sandbox.ts';
import { callFilter } from './callFilter.ts';
import { kill } from './firstProcess.ts';
import { SYSTEM_FOLDERS, systemTool } from './namespace.ts';
import { OverlayMount } from './overlayEngine.ts';
import { removeTree } from './entries.ts';
import { View } from './view.ts';

/** How long the probe may take, in milliseconds. */
const LIMIT_MS = 20_000;

/** The name of the folder that is written to: no folder of the workspace has it. */
const PROBED = '\0probe';
/** Namespaces that a command must not share with the host. */
const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];

/** The folder of a probe's sandbox, in the one that the probe makes. */
export const PROBE_STATE = 'state';

/** Why there is no isolated overlay. */
export interface NoOverlay {
  readonly reason: NoSandboxReason;
  readonly detail?: string;
}

/**
 * Tries the overlay engine on a small folder beside its state: a write must come out as an effect and change nothing, and nothing
 * outside may be read, written or reached. The folders of the workspace are mounted with it, since their file systems may not allow
 * it.
 * @returns `undefined` if it works and is isolated
 */
export async function probeOverlay(
  storage: string,
  folders: readonly FolderRoot[],
): Promise<NoOverlay | undefined> {
  if (process.platform !== 'linux') return { reason: 'system' };
  const missing = ['unshare', 'mount', 'setpriv'].find(name => !systemTool(name));
  if (missing !== undefined) return { reason: 'namespaces', detail: `${missing} is not installed` };
  if (!callFilter()) return { reason: 'leaks', detail: `no filter of system calls for ${process.arch}` };
  if (!systemTool('bwrap')) return { reason: 'bubblewrap' };
  const base = path.join(storage, `probe-${randomUUID()}`);
  const server = createServer(socket => socket.end('REACHED'));
  try {
    return await probe(base, server, folders);
  } catch (error) {
    const detail = messageOf(error)
      .replace(/^The sandbox cannot be entered: /, '')
      .replace(/ Nothing was run\.$/, '');
    // If bubblewrap may not mount something, the kernel's policy forbids it.
    const isOverlay = /mount|overlay/i.test(detail) && !detail.startsWith('bwrap: ');
    return { reason: isOverlay ? 'mount' : 'namespaces', detail };
  } finally {
    server.close();
    await removeTree(base);
  }
}

async function probe(
  base: string,
  server: Server,
  folders: readonly FolderRoot[],
): Promise<NoOverlay | undefined> {
  const root = path.join(base, 'folder');
  const outside = path.join(base, 'outside');
  await fs.mkdir(root, { recursive: true });
  await fs.writeFile(path.join(root, 'file'), 'old');
  await fs.writeFile(outside, 'SECRET', { mode: 0o600 });
  await fs.symlink(outside, path.join(root, 'link'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(`\0redline-${path.basename(base)}`, resolve);
  });
  const mount = new OverlayMount({
    folders: [{ name: PROBED, fsPath: root }, ...folders],
    storage: path.join(base, PROBE_STATE),
    variables: () => [],
  });
  const quoted = [outside, homedir()].map(each => `'${each.replaceAll("'", `'\\''`)}'`);
  const ids = await Promise.all(NAMESPACES.map(name => fs.readlink(`/proc/self/ns/${name}`).catch(() => '')));
  const namespaces = NAMESPACES.map((name, n) => [name, ids[n] ?? ''] as const);
  const left = path.basename(base).slice(0, 15);
  const command = [
    `PATH=${SYSTEM_FOLDERS.join(':')}`,
    // Each command that reaches something prints the name of its way out.
    `cat ${quoted[0]} link 2>/dev/null && echo LEAK read`,
    // In the view, it may write to that path, where it makes a file in memory.
    `(echo x > ${quoted[0]}) 2>/dev/null`,
    `[ "$(ls -A ${quoted[1]} 2>/dev/null | grep -c '^\\.\\(ssh\\|bash_history\\|config\\|gnupg\\)$')" = 0 ] || echo LEAK home`,
    `grep -q redline- /proc/net/unix && echo LEAK sockets`,
    `sed 1,2d /proc/net/dev | grep -qv '^ *lo:' && echo LEAK network`,
    `(echo x > /etc/redline-probe) 2>/dev/null && echo LEAK etc`,
    '[ -e /run/dbus ] && echo LEAK run',
    // Abstract sockets and ports belong to a network, processes to a pid namespace.
    ...namespaces.map(
      ([name, id]) => `[ "$(readlink /proc/self/ns/${name})" = '${id}' ] && echo LEAK ${name}`,
    ),
    'unshare --user true 2>/dev/null && echo LEAK namespaces',
    '(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo LEAK kernel',
    // Checked for root only: an ordinary user may be in the group of a private file.
    '[ "$(id -u)" != 0 ] || [ -z "$(find /etc -maxdepth 1 -type f ! -perm -004 -exec cat {} + 2>/dev/null)" ] || echo LEAK private',
    '(echo x > /redline-probe) 2>/dev/null && echo LEAK memory',
    'echo new > file',
    // Starts a process with a name of its own that leaves the session, ignores signals and waits forever; then the command ends.
    `cd /tmp; mkfifo begun never; printf '#!/bin/sh\\ntrap "" HUP INT TERM; echo >&3; read -r _ <never' >${left}`,
    `exec 3<>begun; chmod +x ${left}; (setsid ./${left} || echo >&3) >/dev/null 2>&1 & read -r _ <&3`,
  ].join('; ');
  let output = '';
  let alive: readonly SeenProcess[] = [];
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), LIMIT_MS);
  const plan = { command, folder: root, shell: '/bin/sh', arguments: [], environment: {}, timeLimit: 5 };
  const end = await new View(mount)
    .run(plan, noOverlay, { signal: controller.signal, add: chunk => (output += chunk) })
    .finally(async () => {
      clearTimeout(timer);
      alive = (await readProcesses()).filter(({ name }) => name === left);
      alive.forEach(kill);
    });
  if (alive.length > 0) return { reason: 'leaks', detail: 'a process went on after its command' };
  if (output !== '') return { reason: 'leaks', detail: output.trim().replaceAll('\n', ', ') };
  const [effect] = end.effects;
  const isRight =
    effect?.path === (folders.length > 0 ? `${PROBED}/file` : 'file') &&
    effect.theirs instanceof Uint8Array &&
    Buffer.from(effect.theirs).toString() === 'new\n';
  if (end.exitCode !== 0 || !isRight || end.effects.length !== 1)
    return { reason: 'mount', detail: 'what was written did not come out' };
  if ((await fs.readFile(path.join(root, 'file'), 'utf8')) !== 'old')
    return { reason: 'leaks', detail: 'the folder was changed' };
  if ((await fs.readFile(outside, 'utf8')) !== 'SECRET')
    return { reason: 'leaks', detail: 'a file outside was changed' };
  return undefined;
}
