import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mistakeIn, problemsOf, refusedChoice } from './scriptedChecks.ts';
import type { ChatBody, SupportedChoices } from './scriptedChecks.ts';
import { completionOf, streamOf } from './scriptedReply.ts';
import type { ScriptedAnswer } from './scriptedReply.ts';

export interface RecordedRequest {
  readonly body: ChatBody;
  /** The body as it was received. */
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  readonly authorization: string | undefined;
  /** Resolves when the connection of this request is closed; true if the client left before the reply was complete. */
  readonly left: Promise<boolean>;
}

/** What the server does with one request, once `delayUntil` has settled. */
export type Reply = { readonly delayUntil?: Promise<unknown> } & (
  | ScriptedAnswer
  /** An error. An object body is sent as JSON; the default is an OpenAI-style error. */
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /**
   * Raw lines of a stream, perhaps without an end; an empty one ends an event. Then the end, a broken connection (`cut`) or
   * silence (`hang`).
   */
  | {
      readonly raw: Iterable<string>;
      readonly contentType?: string;
      readonly cut?: boolean;
      readonly hang?: boolean;
    }
  /** No answer at all. */
  | { readonly hang: true }
);

/** A list of replies, one per request in order, or a function that gets the number of the request, from 0. */
export type Script = readonly Reply[] | ((request: RecordedRequest, n: number) => Reply | Promise<Reply>);

export interface ScriptedServerOptions extends SupportedChoices {
  /** A request with another key, or none, is answered with 401. If left out, keys are not checked. */
  readonly key?: string;
  /** Names, or entries of the list with what the server tells of a model. */
  readonly models?: readonly (string | { readonly id: string })[];
  /** What other paths answer to GET, such as `/props`. */
  readonly places?: Readonly<Record<string, unknown>>;
  /** Whether it never answers with the list. */
  readonly hangsList?: boolean;
  /** More fields of the server's list, by model; these models are in the list. */
  readonly details?: Readonly<Record<string, object>>;
}

export interface ScriptedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** All chat requests in the order of their arrival, including refused ones. */
  readonly requests: readonly RecordedRequest[];
  /** What the client or the script did wrong. A test ends by asserting that it is empty. */
  readonly violations: readonly string[];
  /** Resolves with the nth chat request, from 0, as soon as it has arrived. */
  request(n: number): Promise<RecordedRequest>;
  /** Closes all connections, including hanging ones. */
  close(): Promise<void>;
}

/**
 * Starts an OpenAI-compatible server on 127.0.0.1 that answers by a script and is as strict as the strictest real one:
 * - messages that break `validateConversation`, or tool names that are not unique: 400 and a violation;
 * - `tool_choice` without tools, or with a tool that is not offered: 400 and a violation;
 * - an answer that breaks an honoured choice (other calls than the named one, no call although one is required, a call
 *   although the choice is `none`) is a mistake of the script: it is not sent, but 500 and a violation. The same goes
 *   for a script that has run out. A refusal because of `namedChoice` or `required` is not a violation.
 */
export async function startScriptedServer(
  script: Script,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const violations: string[] = [];
  const waiting: { n: number; resolve: (request: RecordedRequest) => void }[] = [];

  const chat = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(incoming);
    const parsed: unknown = parseOrUndefined(text);
    const { headers } = incoming;
    const left = new Promise<boolean>(resolve =>
      response.once('close', () => resolve(!response.writableFinished)),
    );
    const request = {
      body: parsed as ChatBody,
      raw: text,
      headers,
      authorization: headers.authorization,
      left,
    };
    const n = requests.push(request) - 1;
    for (const waiter of waiting.filter(one => one.n === n)) waiter.resolve(request);
    if (options.key !== undefined && headers.authorization !== `Bearer ${options.key}`) {
      return sendError(response, 401, 'Incorrect API key provided.');
    }
    const wrong = problemsOf(parsed);
    if (wrong.length > 0) {
      violations.push(...wrong.map(problem => `request ${n}: ${problem}`));
      return sendError(response, 400, wrong.join('; '));
    }
    const refused = refusedChoice(request.body, options);
    if (refused !== undefined) return sendError(response, 400, refused);
    const reply = typeof script === 'function' ? await script(request, n) : script[n];
    await reply?.delayUntil;
    const mistake =
      reply === undefined
        ? 'the script has no reply for it'
        : 'status' in reply || 'raw' in reply || 'hang' in reply
          ? undefined
          : mistakeIn(reply, request.body, options);
    if (reply === undefined || mistake !== undefined) {
      violations.push(`request ${n}: ${mistake}`);
      return sendError(response, 500, `Script: ${mistake}`, { 'x-should-retry': 'false' });
    }
    await send(response, reply, request.body);
  };

  const server = createServer((incoming, response) => {
    const path = new URL(incoming.url ?? '/', 'http://server').pathname;
    if (incoming.method === 'POST' && path === '/v1/chat/completions') {
      chat(incoming, response).catch((error: unknown) => {
        violations.push(`the server failed: ${String(error)}`);
        response.destroy();
      });
    } else if (incoming.method === 'GET' && path === '/v1/models') {
      if (options.hangsList === true) return;
      const allowed = options.key === undefined || incoming.headers.authorization === `Bearer ${options.key}`;
      const { details = {}, models = ['scripted', ...Object.keys(details)] } = options;
      const data = models.map(model => {
        const entry = typeof model === 'string' ? { id: model } : model;
        return { object: 'model', owned_by: 'test', ...entry, ...details[entry.id] };
      });
      if (allowed) sendJson(response, 200, { object: 'list', data });
      else sendError(response, 401, 'Incorrect API key provided.');
    } else if (incoming.method === 'GET' && Object.hasOwn(options.places ?? {}, path)) {
      sendJson(response, 200, options.places?.[path]);
    } else sendError(response, 404, `No route for ${incoming.method} ${path}`);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    violations,
    request: n =>
      new Promise(resolve => {
        const known = requests[n];
        if (known) resolve(known);
        else waiting.push({ n, resolve });
      }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(response: ServerResponse, reply: Reply, body: ChatBody): Promise<void> {
  if ('status' in reply) {
    const { status, headers } = reply;
    if (reply.body === undefined) return sendError(response, status, `Scripted status ${status}`, headers);
    if (typeof reply.body !== 'string') return sendJson(response, status, reply.body, headers);
    response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(reply.body);
  } else if ('raw' in reply) {
    response.writeHead(200, { 'content-type': reply.contentType ?? 'text/event-stream' });
    for (const line of reply.raw) {
      if (response.destroyed) break;
      await write(response, `${line}\n`);
    }
    if (reply.cut) response.destroy();
    else if (!reply.hang) response.end();
  } else if (!('hang' in reply)) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    for (const event of streamOf(completionOf(reply, body))) await write(response, `data: ${event}\n\n`);
    response.end();
  }
}

/** Settles once the piece is sent, so that pieces arrive separately and the reply ends when the client has left. */
async function write(response: ServerResponse, piece: string): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>(resolve => void response.write(piece, () => resolve()));
}

function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const type =
    status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  sendJson(response, status, { error: { message, type, param: null, code: null } }, headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
