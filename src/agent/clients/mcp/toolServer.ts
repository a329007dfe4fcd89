import type { CallToolResult } from '@modelcontextprotocol/server';
import { toolNameOf } from '../../session/model/messages.ts';
import { INSTRUCTIONS, type ClientTool } from '../clientTools.ts';
import { Server } from './sdk.ts';

/** The name that a program gives itself; `unknown`, because it can send anything. */
export type ClientInfo = { readonly name?: unknown; readonly version?: unknown } | undefined;

/** How far a call has come. */
export interface CallProgress {
  readonly progress: number;
  readonly message?: string;
  readonly total?: number;
}

/** The call of a tool. */
export interface ServedCall {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
  /** The calling program. */
  readonly client: ClientInfo;
  /** Present only if the agent asks for progress. Never rejects. */
  readonly onProgress?: (progress: CallProgress) => void;
}

/** The tools and instructions of a server. */
export interface ServedTools {
  readonly tools: (client: ClientInfo) => readonly ClientTool[];
  readonly call: (call: ServedCall) => Promise<CallToolResult>;
}

/** The key under which each request of the stateless protocol names its sender. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

/**
 * Redline's tools for one connection, or for one request of the stateless protocol. Arguments are checked where the tools run, not by
 * the SDK, so that common mistakes of models can be repaired.
 * @param version that of Redline.
 */
export function toolServer(version: string, { tools, call }: ServedTools): Server {
  const server = new Server(
    { name: 'redline', title: 'Redline', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const clientOf = (envelope: Partial<Record<typeof CLIENT_INFO, ClientInfo>> | undefined): ClientInfo =>
    envelope?.[CLIENT_INFO] ?? server.getClientVersion();
  server.setRequestHandler('tools/list', (_request, { mcpReq }) => ({
    tools: tools(clientOf(mcpReq.envelope)).map(mcpToolOf),
  }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    const onProgress = (progress: CallProgress): void =>
      void mcpReq
        .notify({
          method: 'notifications/progress',
          params: { progressToken: progressToken ?? '', ...progress },
        })
        .catch(() => undefined); // the agent is gone
    return call({
      name: toolNameOf(params.name),
      args: params.arguments,
      signal: mcpReq.signal,
      client: clientOf(mcpReq.envelope),
      ...(progressToken === undefined ? {} : { onProgress }),
    });
  });
  return server;
}

/** A tool as the protocol describes it. */
function mcpToolOf({ name, label, description, parameters, readOnly }: ClientTool) {
  return {
    name,
    title: label,
    description,
    inputSchema: { ...parameters, type: 'object' as const },
    // Proposing changes nothing on disk; whether a vote does is up to the user's settings.
    annotations: { readOnlyHint: readOnly, destructiveHint: name === 'resolve', openWorldHint: false },
  };
}
