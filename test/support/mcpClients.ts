import assert from 'node:assert/strict';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ServerAddress } from '../../src/agent/clients/mcp/proof.ts';

/** The protocol without sessions. */
export const STATELESS = '2026-07-28';

type NewTransport = Parameters<NewClient['connect']>[0];

/** An agent that speaks MCP with the official SDK: by default as programs of 2025 do. */
export class McpAgent<C extends Client | NewClient = Client> {
  readonly client: C;

  private constructor(client: C) {
    this.client = client;
  }

  /** Connects over a transport. */
  static async over(transport: Transport, name = 'tester'): Promise<McpAgent> {
    const client = new Client({ name, version: '1.0' }, { capabilities: {} });
    await client.connect(transport);
    return new McpAgent(client);
  }

  /** Connects to a server at this address. */
  static to(address: ServerAddress, name?: string): Promise<McpAgent> {
    const { url, requestInit } = placeOf(address);
    return McpAgent.over(new StreamableHTTPClientTransport(url, { requestInit }), name);
  }

  /** Connects over a transport as a program that speaks the protocol of 2026-07-28 and no other. */
  static async statelessOver(transport: NewTransport, name = 'tester'): Promise<McpAgent<NewClient>> {
    const client = new NewClient(
      { name, version: '1.0' },
      { capabilities: {}, versionNegotiation: { mode: { pin: STATELESS } } },
    );
    await client.connect(transport);
    return new McpAgent(client);
  }

  /** Connects to a server at this address, likewise. @param headers more that each request carries */
  static stateless(address: ServerAddress, name?: string, headers = {}): Promise<McpAgent<NewClient>> {
    const { url, requestInit } = placeOf(address, headers);
    return McpAgent.statelessOver(new NewHttp(url, { requestInit }), name);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    const call = { name, arguments: args };
    // The two have different signatures, so that their union cannot be called.
    const { client } = this;
    return (await (client instanceof Client
      ? client.callTool(call)
      : client.callTool(call))) as CallToolResult;
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

/** What models write a little differently than the schemas say is understood; a.txt has three lines, of which one is `one`. */
export async function assertUnderstood(agent: McpAgent<Client | NewClient>): Promise<void> {
  const call = async (name: string, args: unknown): Promise<string> =>
    JSON.stringify(await agent.call(name, args as Record<string, unknown>));
  assert.match(await call('read_file<|channel|>commentary', { path: 'a.txt' }), /of 3.*one/);
  assert.match(await call('read_file', JSON.stringify(JSON.stringify({ path: 'a.txt' }))), /of 3.*one/);
  assert.match(await call('read_file', { path: 'a.txt', startLine: null, endLine: '3' }), /of 3.*one/);
  for (const nothing of [null, []])
    assert.match(await call('status', nothing), /Nothing of yours is pending/);
  const edit = { old_string: 'one', new_string: 'two' };
  assert.match(
    await call('propose_edit', { file_path: 'a.txt', edits: JSON.stringify(edit), content: null }),
    /Staged as p1/,
  );
  assert.match(await call('withdraw', { ids: 'p1', reason: 'r' }), /Discarded/);
  assert.match(await call('withdraw', { id: 'p1' }), /already resolved by you/);
  await assert.rejects(call('read_file', 'a.txt'), /arguments/);
}

function placeOf({ port, token }: ServerAddress, more = {}): { url: URL; requestInit: RequestInit } {
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    requestInit: { headers: { Authorization: `Bearer ${token}`, ...more } },
  };
}

function textOf({ content }: CallToolResult): string {
  return content.map(part => (part.type === 'text' ? part.text : '')).join('\n');
}
