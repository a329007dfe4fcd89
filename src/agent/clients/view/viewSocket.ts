import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Duplex } from 'node:stream';
import { listenAddress } from '../../base/aliveSocket.ts';
import { firstLine } from '../mcp/proof.ts';

const IS_PIPE = process.platform === 'win32';
/** Not the name of a folder with copies, in which a program could make a view of its own. */
const ID = /^(?!copies-)[\w-]{8,64}$/;

/** The socket where the terminals of a window reach its views. Nobody else can enter its folder, so it needs no token. */
export class ViewSocket {
  /** Absolute. */
  readonly path: string;
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();

  private constructor(at: string, serve: (socket: Duplex, id: string) => void) {
    this.path = at;
    this.#server = net.createServer(socket => {
      this.#open.add(socket.on('error', () => undefined)); // the program is gone
      socket.once('close', () => this.#open.delete(socket));
      void firstLine(socket).then(id => (ID.test(id) ? serve(socket, id) : socket.destroy()));
    });
  }

  /** @throws the error of the system if it cannot listen */
  static async listen(serve: (socket: Duplex, id: string) => void): Promise<ViewSocket> {
    // Socket paths must be short, and storage paths are not. On Windows, only its owner can write to a pipe.
    const at = IS_PIPE
      ? listenAddress(tmpdir())
      : path.join(await mkdtemp(path.join(tmpdir(), 'redline-')), 'views');
    const made = new ViewSocket(at, serve);
    made.#server.listen(made.path);
    await once(made.#server, 'listening');
    return made;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
    if (!IS_PIPE) await rm(path.dirname(this.path), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** @returns `undefined` if no window listens there */
export async function connectToViews(at: string, id: string): Promise<Duplex | undefined> {
  const socket = net.connect(at);
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  socket.write(`${id}\n`);
  return socket;
}
