import type { Duplex } from 'node:stream';
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/server';
import { isRecord } from '../../base/json.ts';
import type { AgentName } from '../../hold/preview/preview.ts';
import { LineTransport } from '../mcp/lineTransport.ts';
import type { CallProgress } from '../mcp/toolServer.ts';

/** The protocol between `redline-mcp` and a window, the same in all versions of Redline. */
const PROTOCOL = '2025-06-18';

/** The connection ended, or there was no answer in time. Whether the window carried out the request is unknown. */
export class ClosedError extends Error {}
/** The window answered that it cannot do this. */
export class AnsweredError extends Error {}

/** Options of a request: its timeout in milliseconds, and more. */
interface Asking {
  /** For a call: the time until the window is asked whether it is still there, and the time that it may take to say so. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

interface Waiting {
  readonly onProgress: Asking['onProgress'];
  /** @param error if there is no result. */
  end(result: unknown, error?: Error): void;
}

/** The side of `redline-mcp` in its connection to a window: it calls tools, and is asked nothing. */
export class LineClient {
  readonly #transport: LineTransport;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isOpen = true;

  private constructor(socket: Duplex) {
    this.#transport = new LineTransport(socket, Infinity);
    this.#transport.onclose = () => this.#closed();
    this.#transport.onmessage = message => this.#take(message);
  }

  /** @param timeout how long the window may take to answer, in milliseconds. @throws ClosedError */
  static async connect(socket: Duplex, agent: AgentName, timeout: number): Promise<LineClient> {
    const client = new LineClient(socket);
    await client.#transport.start();
    const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: agent };
    try {
      await client.#ask('initialize', params, { timeout });
      await client.#send({ method: 'notifications/initialized' });
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * @throws ClosedError, after which the connection is closed
   * @throws AnsweredError
   * @throws the reason of the signal
   */
  async callTool(name: string, args: unknown, asking: Asking): Promise<CallToolResult> {
    const params = { name, arguments: args };
    // Checks may take hours.
    return (await this.#ask('tools/call', params, asking, async () => {
      await this.#ask('ping', {}, { timeout: asking.timeout });
    })) as CallToolResult;
  }

  close(): Promise<void> {
    this.#closed();
    return this.#transport.close();
  }

  /** @param isThere resolves if there may still be an answer though none came in time; else rejects */
  #ask(
    method: string,
    params: object,
    { timeout, signal, onProgress }: Asking,
    isThere = (): Promise<void> => Promise.reject(new ClosedError('no answer in time')),
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const meta = onProgress ? { _meta: { progressToken: id } } : {};
    return new Promise((resolve, reject) => {
      const end: Waiting['end'] = (result, error) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        this.#waiting.delete(id);
        if (error) reject(error);
        else resolve(result);
      };
      const cancel = (): void => {
        const told = { method: 'notifications/cancelled', params: { requestId: id } };
        void this.#send(told).catch(() => undefined);
        end(undefined, signal?.reason as Error);
      };
      const lost = (why: string): void => {
        end(undefined, new ClosedError(why));
        void this.close();
      };
      const wait = (): NodeJS.Timeout =>
        setTimeout(
          () =>
            void isThere().then(
              () => this.#waiting.has(id) && (timer = wait()),
              () => lost('no answer in time'),
            ),
          timeout,
        );
      let timer = wait();
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting.set(id, { onProgress, end });
      this.#send({ id, method, params: { ...params, ...meta } }).catch(() => lost('not sent'));
    });
  }

  #send(message: object): Promise<void> {
    if (!this.#isOpen) return Promise.reject(new ClosedError('closed'));
    return this.#transport.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  }

  #take(message: object): void {
    const { id, result, error, params } = message as Record<string, unknown>;
    if (isRecord(params) && 'progressToken' in params) {
      const { progressToken, ...progress } = params;
      return this.#waiting.get(Number(progressToken))?.onProgress?.(progress as unknown as CallProgress);
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (!isRecord(error)) return waiting?.end(result);
    waiting?.end(undefined, new AnsweredError(String(error['message'])));
  }

  #closed(): void {
    this.#isOpen = false;
    for (const { end } of [...this.#waiting.values()]) end(undefined, new ClosedError('closed'));
  }
}
