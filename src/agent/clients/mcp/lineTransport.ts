import type { Duplex } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MAX_MESSAGE_BYTES, parseMessage } from './message.ts';

/** MCP over a connection that both sides have proved: one message a line, as over standard input and output. */
export class LineTransport implements Transport {
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #socket: Duplex;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  start(): Promise<void> {
    this.#socket.on('error', error => this.onerror?.(error));
    this.#socket.on('close', () => this.onclose?.());
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.resume();
    if (this.#socket.destroyed) this.onclose?.();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(`${JSON.stringify(message)}\n`, error => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#socket.destroy();
    return Promise.resolve();
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#chunks.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#length = 0;
      start = end + 1;
      this.#read(line);
    }
    this.#chunks.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    // The other side is no agent of ours: `redline-mcp` sends no longer ones.
    if (this.#length > MAX_MESSAGE_BYTES) this.#socket.destroy();
  }

  #read(line: Buffer): void {
    try {
      this.onmessage?.(parseMessage(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
