import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AgentName } from '../../hold/preview/preview.ts';
import { MAX_MESSAGE_BYTES, TOO_LARGE } from '../mcp/message.ts';
import { HEARD, proveWindow, type ProvenWindow } from '../mcp/proof.ts';
import type { ServedCall } from '../mcp/toolServer.ts';
import { openWindows, windowsFor, type OpenWindow } from '../windowFiles.ts';
import { AnsweredError, ClosedError, LineClient } from './lineClient.ts';

/** After how long a window is asked whether it is still there, in milliseconds. Only checks take longer. */
const CALL_TIMEOUT = 10 * 60_000;
/** How long a window may take to answer at first, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** How long the best window may take to answer after another one has, in milliseconds. */
const GRACE_MS = 3_000;

/** An upper bound for the rest of a message, without the arguments of a call, in bytes. */
const ENVELOPE_BYTES = 1_024;

/** The call of an agent, to be passed on. */
export type PassedCall = Omit<ServedCall, 'client'>;

/**
 * The connection of one agent to the window for its folder. It is made with the first call, and made again when that window is
 * gone or was reloaded: the agent goes on with its previews.
 */
export class WindowConnection {
  readonly #cwd: string;
  readonly #windows: string;
  readonly #agent: () => AgentName;
  /** Unique to this agent, for as long as its program runs. */
  readonly #id = randomUUID();
  #client: LineClient | undefined;
  #connecting: Promise<LineClient | undefined> | undefined;
  /** How much it has heard of the ledger of each storage. */
  readonly #heard = new Map<string, number>();
  readonly #storages = new WeakMap<LineClient, string>();

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
    const bytes = Buffer.byteLength(JSON.stringify(call.args ?? {}));
    if (bytes > MAX_MESSAGE_BYTES - ENVELOPE_BYTES) return failure(TOO_LARGE);
    // A closed window may show only when something is sent to it; `status` changes nothing, so it can be repeated.
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
      if (error instanceof AnsweredError) return failure(error.message);
      if (error instanceof ClosedError) return undefined;
      throw error;
    }
  }

  /** Ends the connection, even one that is still being made. */
  close(): void {
    void this.#open?.close();
    void this.#connecting?.then(client => client?.close());
  }

  /** The client, unless its connection has ended. */
  get #open(): LineClient | undefined {
    return this.#client?.isOpen ? this.#client : undefined;
  }

  async #pass(client: LineClient, call: PassedCall): Promise<CallToolResult> {
    const { name, args, signal, onProgress } = call;
    const result = await client.callTool(name, args, { signal, timeout: CALL_TIMEOUT, onProgress });
    const { _meta, ...told } = result;
    const heard = _meta?.[HEARD];
    const storage = this.#storages.get(client);
    if (typeof heard === 'number' && storage !== undefined) this.#heard.set(storage, heard);
    return told;
  }

  /** Connects to the best window that proves itself; `undefined` if none does. */
  async #connect(): Promise<LineClient | undefined> {
    const windows = windowsFor(this.#cwd, await openWindows(this.#windows));
    const asked = windows.map(each => proveWindow(each));
    // A window that does not answer is waited for, but not for long once another one has answered.
    const late = Promise.any(asked).then(
      () => delay(GRACE_MS, undefined, { ref: false }),
      () => undefined,
    );
    this.#client = undefined;
    for (const [at, each] of asked.entries()) {
      const window: ProvenWindow | undefined = this.#client
        ? undefined
        : await Promise.race([each, late]).catch(() => undefined);
      if (window) this.#client = await this.#greet(window, storageOf(windows[at])).catch(() => undefined);
      else void each.then(unused => unused.close()).catch(() => undefined);
    }
    this.#connecting = undefined;
    return this.#client;
  }

  async #greet(window: ProvenWindow, storage: string): Promise<LineClient> {
    const heard = this.#heard.get(storage);
    const socket = window.greet({ id: this.#id, heard, cwd: this.#cwd });
    const client = await LineClient.connect(socket, this.#agent(), CONNECT_TIMEOUT);
    this.#storages.set(client, storage);
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

function storageOf(window: OpenWindow | undefined): string {
  return window?.storage ?? JSON.stringify(window?.folders);
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
