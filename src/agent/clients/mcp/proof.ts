import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as http from 'node:http';
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { parsedJson } from '../../base/json.ts';
import { MCP_PATH, refusalOf } from './access.ts';

/**
 * The protocols of a connection on which a window and `redline-mcp` prove to each other that they know the token of the window. The
 * token itself is never sent: another program may have the port by now. `redline-mcp` asks for an upgrade with a nonce; the window
 * answers with a nonce of its own and its proof over both; the first line after that is the proof of the other side. From then on
 * the connection carries messages, and no one can take it over.
 */
const PROTOCOLS = ['redline', 'redline-view'] as const;
/** The protocol after the proof: MCP, or that of `redline-run`. */
export type Protocol = (typeof PROTOCOLS)[number];
const NONCE = 'redline-nonce';
const PROOF = 'redline-proof';
/** How long each side waits for the other's proof, in milliseconds. */
const TIMEOUT_MS = 10_000;
const MAX_HELLO_CHARS = 10_000;

/** Where a server listens, and the token that requests must carry. */
export interface ServerAddress {
  readonly port: number;
  readonly token: string;
}

const helloSchema = z.object({
  proof: z.string(),
  /** The agent's identity, by which it finds its previews after connecting again. */
  id: z.string().check(z.regex(/^[\w-]{8,64}$/)),
  /** How much of the ledger it has heard, see `ClientIdentity.heard`. */
  heard: z.optional(z.int().check(z.minimum(0))),
  /** The folder in which it works, as a real path; older programs do not send it. */
  cwd: z.optional(z.string()),
});

/** An agent's introduction, after its proof. */
export type Hello = Omit<z.infer<typeof helloSchema>, 'proof'>;

/** A client that has proved itself, and its protocol. */
export interface Accepted extends Hello {
  readonly protocol: Protocol;
}

/** A window that has proved that it knows the token. */
export interface ProvenWindow {
  /** Sends the agent's proof and its introduction. */
  greet(hello: Hello): Duplex;
  close(): void;
}

/** @throws Error if the listener is not the window with this token, or does not answer in time. */
export function proveWindow(
  { port, token }: ServerAddress,
  protocol: Protocol = 'redline',
): Promise<ProvenWindow> {
  const nonce = newNonce();
  const headers = { Connection: 'Upgrade', Upgrade: protocol, [NONCE]: nonce };
  const request = http.request({ host: '127.0.0.1', port, path: MCP_PATH, headers, agent: false });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(new Error('no answer')), TIMEOUT_MS);
    request.once('close', () => clearTimeout(timer));
    request.once('error', reject);
    request.once('response', () => request.destroy(new Error('no upgrade')));
    request.once('upgrade', (response: IncomingMessage, socket: Duplex) => {
      clearTimeout(timer);
      const other = headerOf(response, NONCE);
      if (!isSame(headerOf(response, PROOF), proofOf('window', token, nonce, other))) {
        socket.destroy();
        return reject(new Error('not the window'));
      }
      const proof = proofOf('agent', token, nonce, other);
      resolve({
        greet: hello => {
          socket.write(`${JSON.stringify({ ...hello, proof })}\n`);
          return socket;
        },
        close: () => void socket.destroy(),
      });
    });
    request.end();
  });
}

/**
 * The window's side of {@link proveWindow}.
 * @returns the agent's introduction; `undefined` if it could not prove itself: then the connection is closed.
 */
export async function acceptAgent(
  request: IncomingMessage,
  socket: Duplex,
  { port, token }: ServerAddress,
): Promise<Accepted | undefined> {
  const nonce = headerOf(request, NONCE);
  const protocol = PROTOCOLS.find(each => each === request.headers.upgrade);
  if (!protocol || request.url !== MCP_PATH || nonce === '' || refusalOf(request.headers, port)) {
    socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    return undefined;
  }
  const own = newNonce();
  const lines = ['HTTP/1.1 101 Switching Protocols', `Upgrade: ${protocol}`, 'Connection: Upgrade'];
  lines.push(`${NONCE}: ${own}`, `${PROOF}: ${proofOf('window', token, nonce, own)}`, '', '');
  socket.write(lines.join('\r\n'));
  const hello = helloSchema.safeParse(parsedJson(await firstLine(socket))).data;
  if (hello && isSame(hello.proof, proofOf('agent', token, nonce, own))) return { ...hello, protocol };
  socket.destroy();
  return undefined;
}

/** The first line that comes; empty if none does in time. The rest stays readable. */
export function firstLine(socket: Duplex): Promise<string> {
  let text = Buffer.alloc(0);
  return new Promise(resolve => {
    const end = (line: string): void => {
      clearTimeout(timer);
      socket.off('data', take).off('close', none).off('error', none).pause();
      resolve(line);
    };
    const none = (): void => end('');
    const take = (chunk: Buffer): void => {
      text = Buffer.concat([text, chunk]);
      const at = text.indexOf('\n');
      if (at < 0) return void (text.length > MAX_HELLO_CHARS && none());
      end(text.subarray(0, at).toString('utf8'));
      if (at + 1 < text.length) socket.unshift(text.subarray(at + 1));
    };
    const timer = setTimeout(none, TIMEOUT_MS);
    socket.on('data', take).on('close', none).on('error', none);
  });
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function newNonce(): string {
  return randomBytes(32).toString('base64url');
}

function proofOf(of: 'window' | 'agent', token: string, asked: string, answered: string): string {
  return createHmac('sha256', token).update([of, asked, answered].join('\n')).digest('base64url');
}

function isSame(given: string, proof: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(proof)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Key in `_meta` of results: how much of the ledger the agent has heard, for its later connections. */
export const HEARD = 'redline/heard';
