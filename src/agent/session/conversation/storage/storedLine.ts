import { parseLine } from '../../../base/log/jsonLines.ts';
import type { SessionMessage } from '../../model/messages.ts';
import type { StoredBody } from '../bodies.ts';
import { MAX_NODE_ID } from '../nodeId.ts';
import { parseSessionEntry } from './sessionEntry.ts';

/** The beginning of a message's line, read without parsing the rest. */
export interface MessageHead {
  readonly id: number;
  readonly parentId: number | null;
  readonly role: SessionMessage['role'];
}

const AT_ID = Buffer.from('{"type":"message","id":');
const AT_PARENT = Buffer.from(',"parentId":');
const AT_ROLE = Buffer.from(',"message":{"role":"');
const NULL = Buffer.from('null');
const END = Buffer.from('}}');
const ROLES = (['assistant', 'tool', 'user', 'steering', 'local'] as const).map(
  role => [role, Buffer.from(`${role}",`)] as const,
);

/** The most digits of a node's id. */
const MAX_DIGITS = `${MAX_NODE_ID}`.length;

/**
 * The head of the line from `start` up to `end` if it is a message in exactly the form that we write; `undefined` for
 * any other line. It is read byte by byte for speed: loading a long session does this a hundred thousand times.
 */
export function messageHead(bytes: Buffer, start: number, end: number): MessageHead | undefined {
  if (!standsAt(bytes, end - END.length, END) || !standsAt(bytes, start, AT_ID)) return undefined;
  const idAt = start + AT_ID.length;
  const idEnd = digitsEnd(bytes, idAt);
  const parentAt = idEnd + AT_PARENT.length;
  if (idEnd === idAt || idEnd - idAt > MAX_DIGITS || !standsAt(bytes, idEnd, AT_PARENT)) return undefined;
  const isRoot = standsAt(bytes, parentAt, NULL);
  const parentEnd = isRoot ? parentAt + NULL.length : digitsEnd(bytes, parentAt);
  if (parentEnd === parentAt || parentEnd - parentAt > MAX_DIGITS) return undefined;
  const roleAt = parentEnd + AT_ROLE.length;
  if (!standsAt(bytes, parentEnd, AT_ROLE)) return undefined;
  for (const [role, text] of ROLES) {
    if (!standsAt(bytes, roleAt, text)) continue;
    const parentId = isRoot ? null : numberIn(bytes, parentAt, parentEnd);
    return { id: numberIn(bytes, idAt, idEnd), parentId, role };
  }
  return undefined;
}

/** Whether `text` is found at `from`. Never reads past the line, because no `text` contains a line feed. */
function standsAt(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false;
  return true;
}

/** The end of the run of digits that starts at `from`. */
function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (let code = bytes[at]; code !== undefined && code >= 48 && code <= 57; code = bytes[at]) at++;
  return at;
}

/** The number that the digits in this range make up. */
function numberIn(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at] ?? 0) - 48;
  return value;
}

/** The log that a line belongs to. */
export interface LineSource {
  readonly bytes: Buffer;
  /** Called with the id of a message that turns out to be malformed. */
  readonly onLost: (id: number) => void;
}

/**
 * A message that is still a line of its log and is parsed at its first use; most of a long session never is. One of
 * these exists for every message, so it is kept small.
 */
export class StoredLine implements StoredBody {
  readonly role: SessionMessage['role'];
  readonly #log: LineSource;
  readonly #start: number;
  readonly #end: number;

  constructor({ role }: MessageHead, log: LineSource, start: number, end: number) {
    this.role = role;
    this.#log = log;
    this.#start = start;
    this.#end = end;
  }

  read(): SessionMessage | undefined {
    const { bytes, onLost } = this.#log;
    const parsed = parseSessionEntry(parseLine(bytes, this.#start, this.#end));
    if (parsed?.type === 'message') return parsed.message;
    onLost(messageHead(bytes, this.#start, this.#end)?.id ?? -1);
    return undefined;
  }
}
