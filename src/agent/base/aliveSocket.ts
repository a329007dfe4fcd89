import { randomUUID } from 'node:crypto';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Disposable } from './disposable.ts';

/** A place where this process listens as long as it lives. */
export interface Alive extends Disposable {
  readonly address: string;
}

/** The most bytes of the path of a socket on macOS; Linux takes a few more. */
const MAX_SOCKET = 103;

/**
 * A new address to listen at: a pipe on Windows, elsewhere a socket in the temporary folder, or in `/tmp` if its path would be too
 * long for the system.
 */
export function listenAddress(temporary: string, platform: NodeJS.Platform = process.platform): string {
  const name = `redline-${randomUUID()}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const address = path.posix.join(temporary, `${name}.sock`);
  return Buffer.byteLength(address) > MAX_SOCKET ? path.posix.join('/tmp', `${name}.sock`) : address;
}

/** Listens until it is disposed or the process ends; `undefined` where that is not possible. */
export function listen(): Promise<Alive | undefined> {
  const address = listenAddress(os.tmpdir());
  const server = net.createServer(socket => socket.destroy());
  server.unref();
  return new Promise(resolve => {
    server.on('error', () => resolve(undefined)); // a later one must not be thrown either
    server.listen(address, () => resolve({ address, dispose: () => void server.close() }));
  });
}

/** Whether a process listens there; `undefined` if that is not known. */
export function answers(address: string): Promise<boolean | undefined> {
  return new Promise(resolve => {
    const socket = net.connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // A pipe ends with its process. A socket's file stays, but something may have cleaned the temporary folder.
      const dead = process.platform === 'win32' ? 'ENOENT' : 'ECONNREFUSED';
      resolve(error.code === dead ? false : undefined);
    });
  });
}
