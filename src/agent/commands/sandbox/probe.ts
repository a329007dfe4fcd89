import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { NoSandboxReason } from '../sandbox.ts';
import { systemTool } from './namespace.ts';
import { OverlaySandbox } from './overlayEngine.ts';
import { removeTree } from './upperTree.ts';

/** How long the probe may take, in milliseconds. */
const LIMIT_MS = 5_000;

/** Why there is no isolated overlay. */
export interface NoOverlay {
  readonly reason: NoSandboxReason;
  readonly detail?: string;
}

/**
 * Tries the overlay engine on a small folder beside its state, by doing: what is written must come out as an effect and change
 * nothing, and what is outside must neither be read, written nor reached.
 * @returns `undefined` if it works and is isolated
 */
export async function probeOverlay(storage: string): Promise<NoOverlay | undefined> {
  if (process.platform !== 'linux') return { reason: 'system' };
  if (!systemTool('unshare') || !systemTool('mount'))
    return { reason: 'namespaces', detail: 'unshare is not installed' };
  if (!systemTool('bwrap')) return { reason: 'bubblewrap' };
  const base = path.join(storage, `probe-${randomUUID()}`);
  const server = createServer(socket => socket.end('REACHED'));
  try {
    return await probe(base, server);
  } catch (error) {
    const detail = messageOf(error)
      .replace(/^The sandbox cannot be entered: /, '')
      .replace(/ Nothing was run\.$/, '');
    return { reason: /mount|overlay/i.test(detail) ? 'mount' : 'namespaces', detail };
  } finally {
    server.close();
    await removeTree(base);
  }
}

async function probe(base: string, server: Server): Promise<NoOverlay | undefined> {
  const root = path.join(base, 'folder');
  const outside = path.join(base, 'outside');
  await fs.mkdir(root, { recursive: true });
  await fs.writeFile(path.join(root, 'file'), 'old');
  await fs.writeFile(outside, 'SECRET');
  await fs.symlink(outside, path.join(root, 'link'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(`\0redline-${path.basename(base)}`, resolve);
  });
  const sandbox = new OverlaySandbox({
    folders: [{ name: 'probe', fsPath: root }],
    storage: path.join(base, 'state'),
    variables: () => [],
  });
  const quoted = [outside, homedir()].map(each => `'${each.replaceAll("'", `'\\''`)}'`);
  const command = [
    // What reaches something writes the name of its way out.
    `cat ${quoted[0]} link 2>/dev/null && echo LEAK read`,
    // In the view it may write where that stands: a file in memory.
    `(echo x > ${quoted[0]}) 2>/dev/null`,
    `[ "$(ls -A ${quoted[1]} 2>/dev/null | grep -c '^\\.\\(ssh\\|bash_history\\|config\\|gnupg\\)$')" = 0 ] || echo LEAK home`,
    `grep -q redline- /proc/net/unix && echo LEAK sockets`,
    `sed 1,2d /proc/net/dev | grep -qv '^ *lo:' && echo LEAK network`,
    `(echo x > /etc/redline-probe) 2>/dev/null && echo LEAK etc`,
    '[ -e /run/dbus ] && echo LEAK run',
    'echo new > file',
  ].join('; ');
  let output = '';
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), LIMIT_MS);
  const nothing = { at: () => undefined, paths: () => [] };
  const plan = { command, folder: root, shell: '/bin/sh', arguments: [], environment: {}, timeLimit: 5 };
  const end = await sandbox
    .run(plan, nothing, { signal: controller.signal, add: chunk => (output += chunk) })
    .finally(() => clearTimeout(timer));
  if (output !== '') return { reason: 'leaks', detail: output.trim().replaceAll('\n', ', ') };
  const [effect] = end.effects;
  const isRight = effect?.path === 'file' && Buffer.from(effect.theirs ?? []).toString() === 'new\n';
  if (end.exitCode !== 0 || !isRight || end.effects.length !== 1)
    return { reason: 'mount', detail: 'what was written did not come out' };
  if ((await fs.readFile(path.join(root, 'file'), 'utf8')) !== 'old')
    return { reason: 'leaks', detail: 'the folder was changed' };
  if ((await fs.readFile(outside, 'utf8')) !== 'SECRET')
    return { reason: 'leaks', detail: 'a file outside was changed' };
  return undefined;
}
