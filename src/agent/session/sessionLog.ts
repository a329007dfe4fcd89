import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { JsonLog, type DecodedLog } from '../base/jsonLog.ts';
import { providerFailureCodes, type SessionMessage } from '../model/messages.ts';
import type { SessionState } from './events.ts';

/** Everything that ever happened in one session, in order. */
export type SessionLogEntry =
  | {
      readonly type: 'message';
      readonly id: number;
      readonly parentId: number | null;
      readonly message: SessionMessage;
    }
  | { readonly type: 'state'; readonly state: SessionState }
  | { readonly type: 'plan'; readonly on: boolean }
  | { readonly type: 'preview'; readonly previewId: string; readonly asked: boolean };

const header = { log: 'redline.session', version: 1 } as const;

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
    kind: z.enum(['resolve-reminder', 'outcome', 'revision', 'notice']),
    text: z.string(),
    previewIds,
  }),
  z.object({ role: z.literal('local'), text: z.string(), answer: z.string() }),
]);
const entry = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), id: z.int(), parentId: z.nullable(z.int()), message }),
  z.object({ type: z.literal('state'), state: z.enum(['idle', 'running', 'awaitingReview']) }),
  z.object({ type: z.literal('plan'), on: z.boolean() }),
  z.object({ type: z.literal('preview'), previewId: z.string(), asked: z.boolean() }),
]);

/** The sessions of one workspace: a folder with one append-only log for each. */
export class SessionLogs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(sessionId: string): JsonLog<SessionLogEntry> {
    return new JsonLog(path.join(this.#folder, `${sessionId}.jsonl`), header, parseSessionEntry);
  }

  /** The id of the session that was begun last; ids sort by the time of their making. */
  async latest(): Promise<string | undefined> {
    const files = await readdir(this.#folder).catch(() => [] as string[]);
    return files
      .filter(file => file.endsWith('.jsonl'))
      .map(file => file.slice(0, -'.jsonl'.length))
      .sort()
      .at(-1);
  }
}

export function parseSessionEntry(value: unknown): SessionLogEntry | undefined {
  const parsed = entry.safeParse(value);
  return parsed.success ? (parsed.data as SessionLogEntry) : undefined;
}

/** A session as its log has it. */
export interface StoredSession {
  readonly id: string;
  readonly messages: readonly SessionMessage[];
  /** Whether the process ended in the middle of a turn. */
  readonly interrupted: boolean;
  /** The previews that were staged in it, but parts, and whether the model is asked to resolve them. */
  readonly previews: ReadonlyMap<string, boolean>;
  /** Whether the session was in plan mode. */
  readonly planMode: boolean;
}

export function storedSession(id: string, log: DecodedLog<SessionLogEntry>): StoredSession {
  const messages = log.entries.flatMap(item => (item.type === 'message' ? [item.message] : []));
  const lastState = log.entries.findLast(item => item.type === 'state');
  const planMode = log.entries.findLast(item => item.type === 'plan')?.on === true;
  const previews = new Map(
    log.entries.flatMap(item => (item.type === 'preview' ? [[item.previewId, item.asked]] : [])),
  );
  return { id, messages, interrupted: lastState?.state === 'running', previews, planMode };
}

/** A new session id: later ones sort behind earlier ones. */
export function newSessionId(now = Date.now()): string {
  return `s${now.toString(36).padStart(9, '0')}${Math.random().toString(36).slice(2, 8)}`;
}
