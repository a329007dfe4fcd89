import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { WebSocket } from 'ws';

interface Note {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** Notes what comes, and lets tests wait for it. */
class Inbox<T> {
  readonly all: T[] = [];
  #waiting: { fits: (item: T) => boolean; resolve: (item: T) => void }[] = [];

  add(item: T): void {
    this.all.push(item);
    for (const each of this.#waiting.filter(({ fits }) => fits(item))) each.resolve(item);
    this.#waiting = this.#waiting.filter(({ fits }) => !fits(item));
  }

  /** The first one that fits, also of those that came before. */
  first(fits: (item: T) => boolean): Promise<T> {
    const found = this.all.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise(resolve => this.#waiting.push({ fits, resolve }));
  }
}

/** Speaks to the companion as Gemini CLI and Qwen Code do: with the official SDK over HTTP. */
export class GeminiClient {
  readonly #client = new Client({ name: 'streamable-http-client', version: '1.0.0' }, { capabilities: {} });
  readonly notes = new Inbox<Note>();

  static async to(port: number, token: string): Promise<GeminiClient> {
    const agent = new GeminiClient();
    agent.#client.fallbackNotificationHandler = async ({ method, params = {} }) =>
      agent.notes.add({ method, params });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    await agent.#client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    // Its stream is open: from now on it can be told answers.
    await agent.note('ide/contextUpdate');
    return agent;
  }

  async openDiff(filePath: string, newContent: string): Promise<CallToolResult> {
    return this.call('openDiff', { filePath, newContent });
  }

  /** What the terminal does when it is answered there. @returns the content that the diff showed. */
  async answeredInTerminal(filePath: string): Promise<string | null> {
    const { content } = await this.call('closeDiff', { filePath, suppressNotification: true });
    const [part] = content;
    const { content: shown } = JSON.parse(part?.type === 'text' ? part.text : '') as {
      content: string | null;
    };
    return shown;
  }

  async call(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
    return (await this.#client.callTool({ name, arguments: args })) as CallToolResult;
  }

  async tools(): Promise<string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  /** The first notification with this method. */
  async note(method: string): Promise<Record<string, unknown>> {
    return (await this.notes.first(note => note.method === method)).params;
  }

  /** The content of the first accept. */
  async accepted(): Promise<unknown> {
    return (await this.note('ide/diffAccepted'))['content'];
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

interface Answer {
  readonly id?: unknown;
  readonly result?: CallToolResult & { readonly tools?: readonly { readonly name: string }[] };
  readonly error?: { readonly code: number };
}

/** Speaks to the companion as Claude Code does: JSON-RPC over a WebSocket. */
export class ClaudeClient {
  readonly #socket: WebSocket;
  readonly answers = new Inbox<Answer>();
  readonly closed: Promise<void>;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', data => this.answers.add(JSON.parse((data as Buffer).toString('utf8')) as Answer));
    this.closed = new Promise(resolve => socket.once('close', () => resolve()));
  }

  /** Connects and introduces itself. @throws the error of the handshake. */
  static async to(port: number, token: string, headers: Record<string, string> = {}): Promise<ClaudeClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, ['mcp'], {
      headers: { 'x-claude-code-ide-authorization': token, ...headers },
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const agent = new ClaudeClient(socket);
    await agent.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'claude-code', version: '2.0.1' },
    });
    agent.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    agent.send({ jsonrpc: '2.0', method: 'ide_connected', params: { pid: process.pid } });
    return agent;
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async request(method: string, params: object): Promise<Answer> {
    const id = ++this.#lastId;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.answers.first(answer => answer.id === id);
  }

  /** The texts that a call answers with. */
  async call(name: string, args: object = {}): Promise<string[]> {
    const { result } = await this.request('tools/call', { name, arguments: args });
    return (result ?? assert.fail('an error')).content.map(part => (part.type === 'text' ? part.text : ''));
  }

  openDiff(file: string, contents: string, tab = `[Claude Code] ${file}`): Promise<string[]> {
    return this.call('openDiff', {
      old_file_path: file,
      new_file_path: file,
      new_file_contents: contents,
      tab_name: tab,
    });
  }

  /** Cancels the last request, as an agent does that no longer wants the answer. */
  cancelLast(): void {
    this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: this.#lastId } });
  }

  end(): Promise<void> {
    this.#socket.close();
    return this.closed;
  }

  /** As when its process is killed. */
  vanish(): void {
    this.#socket.terminate();
  }
}
