import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ServerAddress } from '../../src/agent/clients/mcp/httpServer.ts';

/** An agent that speaks MCP with the official SDK. */
export class McpAgent {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  /** Connects over a transport. */
  static async over(transport: Transport, name = 'tester'): Promise<McpAgent> {
    const client = new Client({ name, version: '1.0' }, { capabilities: {} });
    await client.connect(transport);
    return new McpAgent(client);
  }

  /** Connects to a server at this address. */
  static to({ port, token }: ServerAddress, name?: string): Promise<McpAgent> {
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    return McpAgent.over(new StreamableHTTPClientTransport(url, { requestInit }), name);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    return (await this.client.callTool({ name, arguments: args })) as CallToolResult;
  }

  /** The text of a call that must succeed. */
  async ok(name: string, args?: Record<string, unknown>): Promise<string> {
    const result = await this.call(name, args);
    assert.notEqual(result.isError, true, textOf(result));
    return textOf(result);
  }

  /** The text of a call that must be refused. */
  async refused(name: string, args?: Record<string, unknown>): Promise<string> {
    const result = await this.call(name, args);
    assert.equal(result.isError, true, textOf(result));
    return textOf(result);
  }

  edit(old: string, replacement: string, path = 'a.txt'): Promise<string> {
    return this.ok('propose_edit', { path, edits: [{ old, new: replacement }] });
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map(part => (part.type === 'text' ? part.text : '')).join('\n');
}
