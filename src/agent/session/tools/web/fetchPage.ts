import { lookup } from 'node:dns/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { decodedText } from '../../../hold/text/encodings.ts';
import { quoted, safeName } from '../../../base/safeName.ts';
import { abortErrorOf } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';
import { messageOf, ToolError } from '../../../base/errors.ts';
import { fenced } from '../../../base/phrases.ts';
import { htmlText } from './htmlText.ts';
import { isPublicAddress } from './publicAddress.ts';

/** The user's consent to hosts that the model reads from. */
export interface HostConsent {
  /** Whether the workspace is trusted. */
  readonly isAvailable: () => boolean;
  /** Whether the user named the host, with its port if that is not the usual one, in the settings. Only such a host may be private. */
  readonly isNamed: (host: string) => boolean;
  /** Whether the user allows the host now; asks unless an earlier answer still holds. One question at a time. */
  readonly ask: (host: string, url: string, signal: AbortSignal) => Promise<boolean>;
}

/** The most bytes of an answer that are read. */
const MAX_BYTES = 2 * 1_024 * 1_024;
/** The most characters that the model gets. */
const MAX_CHARS = 30_000;
/** The most redirects that are followed. */
const MAX_REDIRECTS = 5;
/** How long one answer may take, in milliseconds. */
const PATIENCE = 20_000;

/** An IP address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** The port to the network; tests replace it. */
export interface Network {
  readonly resolve: (host: string) => Promise<readonly HostAddress[]>;
  readonly isPublic: (address: string) => boolean;
}

const NETWORK: Network = { resolve: host => lookup(host, { all: true }), isPublic: isPublicAddress };

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly location: string | undefined;
  readonly body: Buffer;
  readonly isCut: boolean;
}

/**
 * Reads a page, once the user allows its host, and each other host that it redirects to. No cookies or keys are sent. A host counts
 * as private by the addresses that are actually connected to, so that a name cannot change its meaning in between.
 * @returns the text for the model, in a fence that it cannot end.
 * @throws ToolError if it is not read, with the reason; the abort error.
 */
export async function fetchPage(
  input: string,
  consent: HostConsent,
  signal: AbortSignal,
  network = NETWORK,
): Promise<string> {
  const allowed = new Set<string>();
  let url = webAddress(input);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const { host } = url;
    const isNamed = consent.isNamed(host);
    if (!isNamed) refuseByName(url, network);
    if (!isNamed && !allowed.has(host) && !(await consent.ask(host, url.href, signal)))
      throw new ToolError(
        `The user does not let you read ${host}. Nothing was sent to it. Do not ask for it again; go on without it.`,
      );
    allowed.add(host);
    const addresses = await addressesOf(url, isNamed, network);
    const answer = await request(url, addresses, signal);
    if (answer.location === undefined) return report(url, input, answer);
    url = webAddress(answer.location, url);
  }
  throw new ToolError(`${safeName(input)} redirects more than ${MAX_REDIRECTS} times, so it was not read.`);
}

/** @throws ToolError unless it is an http or https address without user name or password. */
function webAddress(input: string, base?: URL): URL {
  const url = URL.parse(input, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.host === '')
    throw new ToolError(`${quoted(input, 200)} is not an http or https address.`);
  if (url.username !== '' || url.password !== '')
    throw new ToolError('An address must not contain a user name or a password.');
  url.hash = '';
  return url;
}

function isPrivateText(host: string): string {
  return `${host} is on this machine or in a private network, which is not read unless the user names it in redline.fetch.hosts.`;
}

/** Refuses hosts that are private by their name or address alone, without asking a name server. */
function refuseByName({ hostname, host }: URL, { isPublic }: Network): void {
  const name = bare(hostname);
  const isPrivate = isIP(name) ? !isPublic(name) : /(^|\.)localhost\.?$/i.test(name);
  if (isPrivate) throw new ToolError(isPrivateText(host));
}

async function addressesOf(
  { hostname, host }: URL,
  isNamed: boolean,
  { resolve, isPublic }: Network,
): Promise<readonly HostAddress[]> {
  const name = bare(hostname);
  if (isIP(name)) return [{ address: name, family: isIP(name) }];
  const found = await resolve(name).catch((error: unknown) => {
    throw new ToolError(`${host} was not found: ${messageOf(error)}`);
  });
  if (found.length === 0) throw new ToolError(`${host} has no address.`);
  if (!isNamed && !found.every(({ address }) => isPublic(address))) throw new ToolError(isPrivateText(host));
  return found;
}

/** An IPv6 address without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function request(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<Answer> {
  const late = AbortSignal.timeout(PATIENCE);
  const { get } = url.protocol === 'https:' ? https : http;
  const known: LookupFunction = (_, { all }, callback) => {
    const [first = { address: '', family: 0 }] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
  return new Promise<Answer>((resolve, reject) => {
    const failed = (error: unknown): void => {
      if (signal.aborted) reject(abortErrorOf(signal));
      else if (late.aborted)
        reject(new ToolError(`${url.host} did not answer within ${PATIENCE / 1_000} seconds.`));
      else reject(new ToolError(`${url.host} could not be read: ${messageOf(error)}`));
    };
    const headers = {
      'user-agent': 'Redline',
      accept: 'text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1',
      'accept-encoding': 'identity',
    };
    const sent = get(
      url,
      { headers, lookup: known, signal: AbortSignal.any([signal, late]), agent: false },
      response => {
        const { statusCode: status = 0, headers: got } = response;
        const type = got['content-type'] ?? '';
        const location = status >= 300 && status < 400 ? got.location : undefined;
        const end = (read: { body: Buffer; isCut: boolean }): void => {
          resolve({ status, type, location, ...read });
          response.destroy();
        };
        const encoding = got['content-encoding'] ?? 'identity';
        if (location !== undefined) return end({ body: Buffer.alloc(0), isCut: false });
        if (encoding !== 'identity') {
          reject(
            new ToolError(`${url.host} answered with compressed content (${encoding}), which is not read.`),
          );
          response.destroy();
          return;
        }
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes >= MAX_BYTES) end({ body: Buffer.concat(chunks).subarray(0, MAX_BYTES), isCut: true });
        });
        response.on('end', () => end({ body: Buffer.concat(chunks), isCut: false }));
        response.on('error', failed);
      },
    );
    sent.on('error', failed);
  });
}

function report(url: URL, input: string, { status, type, body, isCut }: Answer): string {
  const kind = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml';
  if (status < 200 || status >= 300) throw new ToolError(`${url.host} answered with the status ${status}.`);
  if (!isHtml && !/^text\/|[/+](json|xml|yaml|javascript)$/.test(kind))
    throw new ToolError(`${url.href} is ${quoted(kind || 'of no known type')}, not text.`);
  const raw = decodedText(body, charsetIn(type) ?? (isHtml ? charsetOfPage(body) : undefined));
  const text = isHtml ? htmlText(raw, url.href) : raw;
  const shown = beginningOf(text, MAX_CHARS);
  const rest = isCut || text.length > MAX_CHARS ? ' Only its beginning is shown.' : '';
  const moved = url.href === input ? '' : ` (asked for as ${safeName(input)})`;
  return `The text of ${url.href}${moved}.${rest}\n${fenced(shown)}`;
}

function charsetIn(type: string): string | undefined {
  return /charset\s*=\s*["']?([\w-]+)/i.exec(type)?.[1];
}

/** The charset that a page declares where browsers look for it. */
function charsetOfPage(body: Buffer): string | undefined {
  const [meta = ''] = /<meta\s[^>]*charset[^>]*>/i.exec(body.toString('latin1', 0, 1_024)) ?? [];
  return charsetIn(meta);
}
