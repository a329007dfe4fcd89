import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, type CallToolResult, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { isAbortError } from '../../base/errors.ts';
import type { AgentName } from '../../preview/preview.ts';
import { LineTransport } from '../mcp/lineTransport.ts';
import { MAX_MESSAGE_BYTES, TOO_LARGE } from '../mcp/message.ts';
import { HEARD } from '../mcp/names.ts';
import { proveWindow, type ProvenWindow } from '../mcp/proof.ts';
import { openWindows, windowsFor } from '../windowFiles.ts';

/** In milliseconds. Longer than any call takes: a search of a large workspace, or `wait`. */
const CALL_TIMEOUT = 10 * 60_000;
/** How long a window may take to answer at first, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** How long the best window may take to answer after another one has, in milliseconds. */
const GRACE_MS = 3_000;

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
  #client: Client | undefined;
  #connecting: Promise<Client | undefined> | undefined;
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
    if (JSON.stringify(call.args ?? {}).length > MAX_MESSAGE_BYTES) return failure(TOO_LARGE);
    // That a window has closed may show only when something is sent to it; `status` changes nothing, and can be asked again.
    return (
      (call.name === 'status' ? await this.#try(call) : undefined) ??
      (await this.#try(call)) ??
      failure(CLOSED)
    );
  }

  /** The result of a call; `undefined` if the window closed during it. */
  async #try(call: PassedCall): Promise<CallToolResult | undefined> {
    // Calls side by side share one connection.
    const client = this.#open ?? (await (this.#connecting ??= this.#connect()));
    if (!client) return failure(this.#noWindow());
    try {
      return await this.#pass(client, call);
    } catch (error) {
      if (call.signal.aborted || isAbortError(error)) throw error;
      // What could not be sent, or had no answer, ends the connection; what the window itself answered does not.
      const { code } = error as { readonly code?: unknown };
      if (code === ErrorCode.RequestTimeout || typeof code !== 'number') {
        if (this.#client === client) this.#client = undefined;
        await client.close();
      }
      return undefined;
    }
  }

  async close(): Promise<void> {
    const client = this.#open ?? (await this.#connecting);
    await client?.close();
  }

  /** The client, unless its connection has ended. */
  get #open(): Client | undefined {
    return this.#client?.transport ? this.#client : undefined;
  }

  async #pass(client: Client, { name, args, signal, onProgress }: PassedCall): Promise<CallToolResult> {
    const result = await client.callTool({ name, ...(args ? { arguments: args } : {}) }, undefined, {
      signal,
      timeout: CALL_TIMEOUT,
      ...(onProgress ? { onprogress: onProgress } : {}),
    });
    const { _meta, ...told } = result as CallToolResult;
    const heard = _meta?.[HEARD];
    if (typeof heard === 'number') this.#heard = heard;
    return told;
  }

  /** Connects to the best window of those that prove to be one; `undefined` if none does. */
  async #connect(): Promise<Client | undefined> {
    const windows = windowsFor(this.#cwd, await openWindows(this.#windows));
    const asked = windows.map(each => proveWindow(each));
    // One that does not answer is waited for, but not for long once another one has.
    const late = Promise.any(asked).then(
      () => delay(GRACE_MS, undefined, { ref: false }),
      () => undefined,
    );
    this.#client = undefined;
    for (const each of asked) {
      const window: ProvenWindow | undefined = this.#client
        ? undefined
        : await Promise.race([each, late]).catch(() => undefined);
      if (window) this.#client = await this.#greet(window).catch(() => undefined);
      else void each.then(unused => unused.close()).catch(() => undefined);
    }
    this.#connecting = undefined;
    return this.#client;
  }

  async #greet(window: ProvenWindow): Promise<Client> {
    const client = new Client(this.#agent(), { capabilities: {} });
    const socket = window.greet({
      id: this.#id,
      ...(this.#heard === undefined ? {} : { heard: this.#heard }),
    });
    await client.connect(new LineTransport(socket), { timeout: CONNECT_TIMEOUT });
    return client;
  }

  #noWindow(): string {
    return (
      `No window of VS Code with Redline has ${this.#cwd} open, or agents may not connect to it. Nothing was changed. ` +
      'Ask the user to open this folder in VS Code and to run "Redline: Connect an Agent…" there, then call again.'
    );
  }
}

/** The call is not repeated: it may have run. */
const CLOSED = 'The window of VS Code closed during this call. Call status to see what it did.';

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
