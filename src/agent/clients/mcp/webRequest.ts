import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * A request of Node's server as the SDK takes it, without its body, which is given to the SDK as a value. It is aborted when the
 * client goes away before it has the answer.
 * @throws TypeError if a web `Request` cannot represent it, such as one with the method `TRACE`.
 */
export function webRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { host, path }: { readonly host: string; readonly path: string },
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const { method = 'GET' } = request;
  return new Request(`http://${host}${path}`, { method, headers, signal: gone.signal });
}

/** Sends the SDK's answer, as it comes. Rejects if the client goes away meanwhile. */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) {
    response.flushHeaders();
    await pipeline(Readable.fromWeb(answer.body), response);
  } else response.end();
}
