import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A server on 127.0.0.1 that nobody has a reason to connect to. It closes each connection. */
export interface Stranger {
  readonly port: number;
  /** How many connections came in. */
  readonly visits: number;
  close(): void;
}

/** Starts a {@link Stranger}. */
export async function openStranger(): Promise<Stranger> {
  let visits = 0;
  const server = createServer(socket => {
    visits += 1;
    socket.on('error', () => undefined); // the other side may be gone before
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get visits() {
      return visits;
    },
    close: () => void server.close(),
  };
}
