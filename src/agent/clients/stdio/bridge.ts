import { Duplex } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isAlive } from '../../base/lockOwner.ts';
import { agentNameOf } from '../agentName.ts';
import { LineTransport } from '../mcp/lineTransport.ts';
import { MAX_MESSAGE_BYTES } from '../mcp/message.ts';
import { toolServer, type ClientInfo } from '../mcp/toolServer.ts';
import { allClientTools } from '../clientTools.ts';
import { WindowConnection } from './windowConnection.ts';

/** The surroundings of the bridge. */
export interface BridgeOptions {
  /** The folder that the agent works in, as a real path. */
  readonly cwd: string;
  /** See `windowsFolder`. */
  readonly windows: string;
  readonly version: string;
}

/** Messages over the limit are answered as too large up to this length, in bytes; longer ones end the program. */
const READ_BYTES = 16 * MAX_MESSAGE_BYTES;

/**
 * Serves an agent that starts its MCP servers as programs, over standard input and output, whichever protocol it begins with. It
 * offers the tools whether or not a window is open, so that the agent has them when one is opened later, and passes each call on to
 * the window for the agent's folder. Settles when the agent closes its end or has ended; calls under way are then given up.
 */
export async function runBridge({ cwd, windows, version }: BridgeOptions): Promise<void> {
  let agent: ClientInfo;
  const connection = new WindowConnection(cwd, windows, () => agentNameOf(agent));
  const stdio = Duplex.from({ readable: process.stdin, writable: process.stdout });
  const closed = new Promise<void>(resolve => stdio.once('close', () => resolve()));
  serveStdio(
    () =>
      toolServer(version, {
        tools: allClientTools,
        call: ({ client, ...call }) => {
          agent = client;
          return connection.call(call);
        },
      }),
    { transport: new LineTransport(stdio, READ_BYTES) },
  );
  await Promise.race([closed, untilOrphaned()]);
  connection.close();
}

/** How often the program checks whether the agent is still there, in milliseconds. */
const LOOK_MS = 500;

/**
 * Settles when the agent has ended. The pipe does not show that: it stays open while another process that the agent has started
 * also holds it.
 */
function untilOrphaned(): Promise<void> {
  const agent = process.ppid;
  return new Promise(resolve => {
    const timer = setInterval(() => {
      // Windows does not reparent a program whose parent has ended.
      if (process.ppid === agent && isAlive(agent)) return;
      clearInterval(timer);
      resolve();
    }, LOOK_MS).unref();
  });
}
