import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { LineSplitter } from '../../base/lineSplitter.ts';

/** The longest message, in bytes. */
const MAX_BYTES = 1_000_000;

const mount = z.object({ root: z.string(), state: z.string() });
const processes = z.object({ mark: z.string().check(z.minLength(8)), pid: z.int(), started: z.number() });

/** A message of `redline-run`. */
export const programSchema = z.discriminatedUnion('kind', [
  /** Asks for a view. The folder is a real path. */
  z.object({ kind: z.literal('open'), agent: z.string(), cwd: z.string() }),
  /** Comes back to its view after a reload. */
  z.object({ kind: z.literal('again'), agent: z.string(), view: z.string() }),
  /**
   * The program runs; `view` leads to the root of its view. If it works in copies, it answers at `view` instead, and names its
   * processes.
   */
  z.object({ kind: z.literal('entered'), view: z.string(), processes: z.optional(processes) }),
  /** The program has ended; the view is there until this is answered. */
  z.object({ kind: z.literal('ended') }),
]);
export type ProgramMessage = z.infer<typeof programSchema>;

/** A message of the window. */
export const windowSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('mounts'),
    storage: z.string(),
    folders: z.array(mount),
    links: z.array(z.tuple([z.string(), z.string()])),
    shown: z.array(z.object({ state: z.string(), at: z.string() })),
    readable: z.array(z.string()),
    /** The program works in these copies of folders; if there are any, nothing is mounted. */
    copies: z.array(z.object({ root: z.string(), copy: z.string() })),
    /** The beginning of the command line that keeps the program from writing into the folders themselves. */
    wall: z.array(z.string()),
    /** The file in which the program reads the decisions: absolute, or from `~`. */
    status: z.string(),
    /** The PATH of VS Code: that of a terminal may come from the settings of a workspace. */
    searchPath: z.string(),
    /** For the person at the terminal. */
    lines: z.readonly(z.array(z.string())),
  }),
  /** The window looks at the view. */
  z.object({ kind: z.literal('watching') }),
  /** There is no view, or it can no longer be looked at: nothing may run in it. */
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  /** All changes have been taken. */
  z.object({ kind: z.literal('taken'), lines: z.readonly(z.array(z.string())) }),
]);
export type WindowMessage = z.infer<typeof windowSchema>;

/** Messages of one side of a connection, one on each line. Any other line ends the connection. */
export class Lines<In, Out> {
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #parse: (value: unknown) => In;
  readonly #waiting: In[] = [];
  #taker: ((message: In | undefined) => void) | undefined;
  readonly #lines = new LineSplitter();

  constructor(socket: Duplex, schema: { parse(value: unknown): In }) {
    this.#socket = socket;
    this.#parse = value => schema.parse(value);
    socket.on('error', () => undefined);
    // The sockets of a server stay half open otherwise.
    socket.once('end', () => socket.destroy());
    this.closed = new Promise(resolve => {
      if (socket.destroyed) resolve();
      socket.once('close', resolve);
    });
    void this.closed.then(() => this.#taker?.(undefined));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.resume();
  }

  send(message: Out): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message; `undefined` once the connection is closed. One caller at a time. */
  next(): Promise<In | undefined> {
    const first = this.#waiting.shift();
    if (first !== undefined) return Promise.resolve(first);
    if (this.#socket.destroyed) return Promise.resolve(undefined);
    return new Promise(resolve => {
      this.#taker = message => {
        this.#taker = undefined;
        resolve(message);
      };
    });
  }

  close(): void {
    this.#socket.end(() => this.#socket.destroy());
  }

  #take(chunk: Buffer): void {
    const lines = this.#lines.take(chunk);
    try {
      if (this.#lines.length > MAX_BYTES) throw new Error('too long');
      for (const line of lines) {
        const message = this.#parse(JSON.parse(line.toString()));
        if (this.#taker) this.#taker(message);
        else this.#waiting.push(message);
      }
    } catch {
      this.#socket.destroy();
    }
  }
}
