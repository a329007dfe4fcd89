import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { agentNameOf } from '../agentName.ts';
import { INSTRUCTIONS } from '../clientTools.ts';
import { mcpToolOf } from '../mcp/mcpTool.ts';
import { CallToolRequestSchema, ListToolsRequestSchema, Server } from '../mcp/sdk.ts';
import { allClientTools } from './allClientTools.ts';
import { WindowConnection } from './windowConnection.ts';

/** What the bridge needs to know of its surroundings. */
export interface BridgeOptions {
  /** The folder that the agent works in, as a real path. */
  readonly cwd: string;
  /** See `windowsFolder`. */
  readonly windows: string;
  readonly version: string;
}

/**
 * Serves an agent that starts its MCP servers as programs, over standard input and output. It offers the tools whether or not a
 * window is open, so that the agent has them when one is opened later, and passes each call on to the window for the agent's
 * folder. Settles when the agent closes its end.
 */
export async function runBridge({ cwd, windows, version }: BridgeOptions): Promise<void> {
  const server = new Server(
    { name: 'redline', title: 'Redline', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const connection = new WindowConnection(cwd, windows, () => agentNameOf(server.getClientVersion()));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: allClientTools().map(mcpToolOf) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const progressToken = extra._meta?.progressToken;
    return connection.call({
      name: params.name,
      args: params.arguments,
      signal: extra.signal,
      ...(progressToken === undefined
        ? {}
        : {
            onProgress: progress =>
              void extra.sendNotification({
                method: 'notifications/progress',
                params: { ...progress, progressToken },
              }),
          }),
    });
  });
  const closed = new Promise<void>(resolve => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await connection.close();
}
