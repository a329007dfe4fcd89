import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { WebSocket } from 'ws';
import { isDeeperThan } from '../../../base/json.ts';
import { JSONRPCMessageSchema } from '../../mcp/sdk.ts';

/** The deepest nesting of lists and objects of a message. */
const MAX_LEVELS = 200;

/** MCP over a WebSocket: one message is one text. What is no message is answered with an error, and changes nothing. */
export class SocketTransport implements Transport {
  readonly #socket: WebSocket;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  async start(): Promise<void> {
    this.#socket.on('message', data => this.#receive(data));
    this.#socket.on('error', error => this.onerror?.(error));
    this.#socket.on('close', () => this.onclose?.());
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(JSON.stringify(message), error => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    this.#socket.close();
  }

  #receive(data: { toString(): string }): void {
    const message = parsed(data.toString());
    if (message) return this.onmessage?.(message);
    const error = { code: -32700, message: 'This is no message of JSON-RPC 2.0.' };
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  }
}

function parsed(text: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeperThan(MAX_LEVELS, value) ? undefined : JSONRPCMessageSchema.safeParse(value).data;
  } catch {
    return undefined;
  }
}
