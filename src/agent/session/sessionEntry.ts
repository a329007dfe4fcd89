import * as z from 'zod/mini';
import { parseJson } from '../base/jsonLog.ts';
import { providerFailureCodes, type SessionMessage } from '../model/messages.ts';
import { revertCategories } from '../model/revertCategories.ts';
import type { StoredBody } from '../tree/bodies.ts';
import type { StoredNode } from '../tree/conversationTree.ts';
import type { RevertRecord } from '../tree/revert.ts';
import type { SessionState } from './events.ts';

/** Everything that ever happened in one session, in order. */
export type SessionLogEntry =
  | {
      readonly type: 'message';
      readonly id: number;
      readonly parentId: number | null;
      readonly message: SessionMessage;
    }
  | { readonly type: 'revert'; readonly record: RevertRecord }
  /** A person gave the session a name. */
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'state'; readonly state: SessionState }
  | { readonly type: 'plan'; readonly on: boolean }
  | { readonly type: 'preview'; readonly previewId: string; readonly asked: boolean };

/** The first line of each log. */
export const header = { log: 'redline.session', version: 1 } as const;

const previewIds = z.array(z.string());
const message = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    text: z.string(),
    attachments: z.optional(
      z.array(
        z.object({
          path: z.string(),
          startLine: z.optional(z.number()),
          endLine: z.optional(z.number()),
          text: z.string(),
          note: z.optional(z.string()),
        }),
      ),
    ),
  }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    toolCalls: z.array(z.looseObject({ id: z.string(), name: z.string(), arguments: z.string() })),
    stopReason: z.enum(['stop', 'toolCalls', 'length', 'aborted', 'error']),
    usage: z.optional(z.object({ inputTokens: z.number(), outputTokens: z.number() })),
    error: z.optional(z.string()),
    errorCode: z.optional(z.enum(providerFailureCodes)),
  }),
  z.object({
    role: z.literal('tool'),
    toolCallId: z.string(),
    toolName: z.string(),
    content: z.string(),
    isError: z.boolean(),
    details: z.optional(z.unknown()),
  }),
  z.object({
    role: z.literal('steering'),
    kind: z.enum(['resolve-reminder', 'outcome', 'revision', 'notice', 'revert']),
    text: z.string(),
    previewIds,
  }),
  z.object({ role: z.literal('local'), text: z.string(), answer: z.string() }),
]);
const nodeId = z.int().check(z.minimum(0));
const entry = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), id: nodeId, parentId: z.nullable(nodeId), message }),
  z.object({
    type: z.literal('revert'),
    record: z.object({
      category: z.nullable(z.enum(revertCategories)),
      target: z.nullable(nodeId),
      abandonedNodeIds: z.array(nodeId),
      summary: z.nullable(z.string()),
      applied: z.boolean(),
      reason: z.nullable(z.string()),
      timestamp: z.string(),
      actor: z.enum(['model', 'human']),
    }),
  }),
  z.object({ type: z.literal('title'), title: z.string() }),
  z.object({ type: z.literal('state'), state: z.enum(['idle', 'running', 'awaitingReview']) }),
  z.object({ type: z.literal('plan'), on: z.boolean() }),
  z.object({ type: z.literal('preview'), previewId: z.string(), asked: z.boolean() }),
]);

/** The entry of a parsed line; `undefined` for what is none. */
export function parseSessionEntry(value: unknown): SessionLogEntry | undefined {
  const parsed = entry.safeParse(value);
  return parsed.success ? (parsed.data as SessionLogEntry) : undefined;
}

/** The beginning of a message's line, read without making anything of the rest. */
export interface MessageHead {
  readonly id: number;
  readonly parentId: number | null;
  readonly role: SessionMessage['role'];
}

const ROLES: readonly SessionMessage['role'][] = ['assistant', 'tool', 'user', 'steering', 'local'];
const [AT_ID, AT_PARENT, AT_ROLE] = ['{"type":"message","id":', ',"parentId":', ',"message":{"role":"'];

/**
 * The head of a line that is a message as we write it; `undefined` for every other line. By hand: a pattern's groups
 * are most of the garbage that loading a long session makes.
 */
export function messageHead(line: string): MessageHead | undefined {
  if (!line.startsWith(AT_ID)) return undefined;
  const idEnd = digitsEnd(line, AT_ID.length);
  const parentAt = idEnd + AT_PARENT.length;
  if (idEnd === AT_ID.length || !line.startsWith(AT_PARENT, idEnd)) return undefined;
  const isRoot = line.startsWith('null', parentAt);
  const parentEnd = isRoot ? parentAt + 'null'.length : digitsEnd(line, parentAt);
  const roleAt = parentEnd + AT_ROLE.length;
  if (parentEnd === parentAt || !line.startsWith(AT_ROLE, parentEnd)) return undefined;
  const role = ROLES.find(
    known => line.startsWith(known, roleAt) && line.startsWith('",', roleAt + known.length),
  );
  if (role === undefined) return undefined;
  return {
    id: numberIn(line, AT_ID.length, idEnd),
    parentId: isRoot ? null : numberIn(line, parentAt, parentEnd),
    role,
  };
}

/** Where the digits end that begin there. */
function digitsEnd(line: string, from: number): number {
  let at = from;
  for (let code = line.charCodeAt(at); code >= 48 && code <= 57; code = line.charCodeAt(at)) at++;
  return at;
}

/** What these digits say. */
function numberIn(line: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + line.charCodeAt(at) - 48;
  return value;
}

/** A message as we write it, whose text is parsed once somebody wants to read it; most of a long session never is. */
export class StoredLine implements StoredNode, StoredBody {
  readonly type = 'message';
  readonly id: number;
  readonly parentId: number | null;
  readonly role: SessionMessage['role'];
  readonly #line: string;
  readonly #onLost: (id: number) => void;

  constructor({ id, parentId, role }: MessageHead, line: string, onLost: (id: number) => void) {
    this.id = id;
    this.parentId = parentId;
    this.role = role;
    this.#line = line;
    this.#onLost = onLost;
  }

  get message(): StoredBody {
    return this;
  }

  read(): SessionMessage | undefined {
    const parsed = parseSessionEntry(parseJson(this.#line));
    if (parsed?.type === 'message') return parsed.message;
    this.#onLost(this.id);
    return undefined;
  }
}
