import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The path of the server's only address. */
export const MCP_PATH = '/mcp';

/** Why a request is refused: the HTTP status and a sentence. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/** A new random token, which nobody can guess. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Decides whether a request may come in, by its headers alone. A web page can reach a port of this machine, even through a host
 * name of its own that resolves to 127.0.0.1; its requests then carry its Origin, and that name as Host.
 * @param token required in the request, unless it proves itself in another way.
 */
export function refusalOf(
  { host, origin, authorization }: IncomingHttpHeaders,
  port: number,
  token?: string,
): Refusal | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host))
    return { status: 403, reason: 'Redline answers only at 127.0.0.1.' };
  if (origin !== undefined && !hosts.some(own => origin === `http://${own}`))
    return { status: 403, reason: 'Redline answers no web pages.' };
  if (token !== undefined && !isToken(authorization, token))
    return {
      status: 401,
      reason:
        'The token of this window is missing or wrong. Connect the agent again from Redline in VS Code.',
    };
  return undefined;
}

/** Compares hashes, so that the time it takes tells nothing about the token. */
function isToken(authorization: string | undefined, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(authorization ?? ''), hash(`Bearer ${token}`));
}
