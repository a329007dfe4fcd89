import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import { isAbortError } from '../../base/errors.ts';
import type { AgentName } from '../../preview/preview.ts';
import { MCP_PATH } from '../mcp/access.ts';
import { AGENT_HEADER, HEARD, HEARD_HEADER } from '../mcp/names.ts';
import { openWindows, windowsFor, type OpenWindow } from '../windowFiles.ts';

/** In milliseconds. Longer than any call takes: a search of a large workspace, or `wait`. */
const CALL_TIMEOUT = 10 * 60_000;
/** How long a window may take to answer at first, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** The call of an agent, to be passed on. */
export interface PassedCall {
  readonly name: string;
  readonly args: Record<string, unknown> | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * The connection of one agent to the window for its folder. It is made with the first call, and made again when that window is
 * gone or was reloaded: the agent goes on with its previews.
 */
export class WindowConnection {
  readonly #cwd: string;
  readonly #windows: string;
  readonly #agent: () => AgentName;
  /** Tells this agent from all others, for as long as its program runs. */
  readonly #id = randomUUID();
  #client: Promise<Client> | undefined;
  /** How many calls of each client are under way. */
  readonly #underWay = new Map<Client, number>();
  #heard: number | undefined;

  /**
   * @param cwd the folder that the agent works in, as a real path.
   * @param windows see {@link windowsFolder}.
   */
  constructor(cwd: string, windows: string, agent: () => AgentName) {
    this.#cwd = cwd;
    this.#windows = windows;
    this.#agent = agent;
  }

  /** The result of a call. Rejects with the abort error when `signal` fires; other failures are results. */
  async call(call: PassedCall): Promise<CallToolResult> {
    const isNew = this.#client === undefined;
    const connecting = (this.#client ??= this.#newClient());
    const client = await connecting.catch(() => undefined);
    if (!client) {
      this.#forget(connecting);
      return failure(this.#noWindow());
    }
    try {
      return await this.#pass(client, call);
    } catch (error) {
      if (call.signal.aborted || isAbortError(error)) throw error;
      this.#forget(connecting);
      // The window may have been reloaded since the last call. A call that was cut off is not repeated: it may have run.
      if (isNew || !isRefused(error))
        return failure('The window of VS Code closed during this call. Call status to see what it did.');
      return this.call(call);
    } finally {
      // Calls beside this one end by themselves, each as it should.
      if (this.#client !== connecting && !this.#underWay.has(client))
        await client.close().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close();
  }

  async #pass(client: Client, { name, args, signal, onProgress }: PassedCall): Promise<CallToolResult> {
    this.#count(client, 1);
    const calling = client.callTool({ name, ...(args ? { arguments: args } : {}) }, undefined, {
      signal,
      timeout: CALL_TIMEOUT,
      ...(onProgress ? { onprogress: onProgress } : {}),
    });
    const result = await calling.finally(() => this.#count(client, -1));
    const { _meta, ...told } = result as CallToolResult;
    const heard = _meta?.[HEARD];
    if (typeof heard === 'number') this.#heard = heard;
    return told;
  }

  #count(client: Client, more: 1 | -1): void {
    const calls = (this.#underWay.get(client) ?? 0) + more;
    if (calls === 0) this.#underWay.delete(client);
    else this.#underWay.set(client, calls);
  }

  /** Connects again with the next call, unless another call already has. */
  #forget(connecting: Promise<Client>): void {
    if (this.#client === connecting) this.#client = undefined;
  }

  /** @throws Error if no window answers. */
  async #newClient(): Promise<Client> {
    for (const window of windowsFor(this.#cwd, await openWindows(this.#windows))) {
      const client = await this.#tryWindow(window).catch(() => undefined);
      if (client) return client;
    }
    throw new Error('no window answers');
  }

  async #tryWindow({ port, token }: OpenWindow): Promise<Client> {
    const client = new Client(this.#agent(), { capabilities: {} });
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}${MCP_PATH}`), {
      requestInit: {
        headers: {
          Authorization: `Bearer ${token}`,
          [AGENT_HEADER]: this.#id,
          ...(this.#heard === undefined ? {} : { [HEARD_HEADER]: String(this.#heard) }),
        },
      },
    });
    await client.connect(transport, { timeout: CONNECT_TIMEOUT });
    return client;
  }

  #noWindow(): string {
    return (
      `No window of VS Code with Redline has ${this.#cwd} open, or agents may not connect to it. Nothing was changed. ` +
      'Ask the user to open this folder in VS Code and to run "Redline: Connect an Agent…" there, then call again.'
    );
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Whether the window never got the request: nothing listens there any more, or it does not know the session. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  const cause = error.cause as { readonly code?: unknown } | undefined;
  return code === 404 || code === 401 || cause?.code === 'ECONNREFUSED';
}
