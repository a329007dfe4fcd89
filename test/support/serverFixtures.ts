import { readdirSync, readFileSync } from 'node:fs';
import type { ProviderFailureCode } from '../../src/agent/session/model/messages.ts';
import type { Reply } from './scriptedServer.ts';

/** What a server sends, and what must come out of the provider. */
export interface Exchange {
  /** Chunks of a stream, each with the fields of the frame, and raw lines; or an error with its status. */
  readonly stream?: readonly (string | object)[];
  /** How the connection ends after the stream. Default: properly. */
  readonly end?: 'cut';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly gives: Given;
}

/** What comes out: an answer or an error. */
export interface Given {
  readonly text?: string;
  readonly reasoning?: string;
  /** Id, name and arguments of each call. */
  readonly calls?: readonly (readonly [string, string, string])[];
  /** Input and output tokens. */
  readonly usage?: readonly [number, number];
  /** Default: `toolCalls` with calls, else `stop`. */
  readonly stopReason?: 'length';
  readonly error?: ProviderFailureCode;
  /** Part of the sentence for the user. */
  readonly says?: string;
  /** Whether the tool-choice ladder takes the error for a refusal of the tool choice. */
  readonly refusesChoice?: boolean;
}

/** One server: its exchanges by name, and where their shape is documented. */
export interface ServerFixture {
  readonly server: string;
  readonly sources: readonly string[];
  /** What all chunks of the server have in common. */
  readonly frame: object;
  readonly exchanges: Readonly<Record<string, Exchange>>;
}

const FOLDER = new URL('../unit/session/model/openai/fixtures/', import.meta.url);

/** All servers, by file name. */
export function serverFixtures(): ReadonlyMap<string, ServerFixture> {
  const files = readdirSync(FOLDER).filter(file => file.endsWith('.json'));
  return new Map(files.map(file => [file.replace('.json', ''), fixtureIn(file)]));
}

/** One exchange as a reply of the scripted server. */
export function replyOf(name: string, exchange: string): Reply {
  const fixture = fixtureIn(`${name}.json`);
  const found = fixture.exchanges[exchange];
  if (!found) throw new Error(`${name} has no exchange “${exchange}”`);
  return replyFor(fixture, found);
}

export function replyFor(fixture: ServerFixture, { stream, end, status, headers, body }: Exchange): Reply {
  if (!stream) return { status: status ?? 200, body, ...(headers && { headers }) };
  return { raw: linesOf(fixture, stream), ...(end === 'cut' && { cut: true }) };
}

/** The lines of an event stream; an empty one ends an event. */
export function linesOf({ frame }: ServerFixture, stream: readonly (string | object)[]): string[] {
  return stream.flatMap(part => [
    typeof part === 'string' ? part : `data: ${JSON.stringify({ ...frame, ...part })}`,
    '',
  ]);
}

function fixtureIn(file: string): ServerFixture {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as ServerFixture;
}
