import type { Duplex } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { LineSplitter } from '../../base/lineSplitter.ts';
import { MAX_MESSAGE_BYTES, parseMessage } from './message.ts';

/**
 * MCP with one message a line: over standard input and output, and over a connection that both sides have proved. It ends when either
 * side ends.
 */
export class LineTransport implements Transport {
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #lines = new LineSplitter();

  /** @param maxBytes the longest message; a longer one closes the connection. */
  constructor(socket: Duplex, maxBytes = MAX_MESSAGE_BYTES) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
  }

  start(): Promise<void> {
    this.#socket.on('error', error => this.onerror?.(error));
    this.#socket.on('close', () => this.onclose?.());
    // Otherwise the sockets of a server stay half open, and the end of an agent goes unnoticed.
    this.#socket.once('end', () => this.#socket.destroy());
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
    for (const line of this.#lines.take(chunk)) this.#read(line);
    if (this.#lines.length > this.#maxBytes) this.#socket.destroy();
  }

  #read(line: Buffer): void {
    try {
      this.onmessage?.(parseMessage(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
