import { Duplex } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { agentNameOf } from '../agentName.ts';
import { LineTransport } from '../mcp/lineTransport.ts';
import { MAX_MESSAGE_BYTES } from '../mcp/message.ts';
import { toolServer, type ClientInfo } from '../mcp/toolServer.ts';
import { allClientTools } from '../clientTools.ts';
import { WindowConnection } from './windowConnection.ts';

/** What the bridge needs to know of its surroundings. */
export interface BridgeOptions {
  /** The folder that the agent works in, as a real path. */
  readonly cwd: string;
  /** See `windowsFolder`. */
  readonly windows: string;
  readonly version: string;
}

/** Of messages up to this length the agent is told that they are too large, in bytes; longer ones end the program. */
const READ_BYTES = 16 * MAX_MESSAGE_BYTES;

/**
 * Serves an agent that starts its MCP servers as programs, over standard input and output, whichever protocol it begins with. It
 * offers the tools whether or not a window is open, so that the agent has them when one is opened later, and passes each call on to
 * the window for the agent's folder. Settles when the agent closes its end.
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
  await closed;
  await connection.close();
}
