import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import type { Logger } from '../base/log.ts';
import { JsonLog, parseJson, type DecodedLog } from '../base/jsonLog.ts';
import { providerFailureCodes, type SessionMessage } from '../model/messages.ts';
import { revertCategories } from '../model/revertCategories.ts';
import type { StoredBody } from '../tree/bodies.ts';
import { ConversationTree, type StoredNode } from '../tree/conversationTree.ts';
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

/** The sessions of one workspace: a folder with one append-only log for each. */
export class SessionLogs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(sessionId: string): JsonLog<SessionLogEntry> {
    return new JsonLog(path.join(this.#folder, `${sessionId}.jsonl`), header, parseSessionEntry);
  }

  /**
   * The session as its log has it. A torn last line is dropped, a line that cannot be read is skipped; both are logged.
   * @throws UnknownLogVersionError for a log of a newer version, which is left as it is; any error of the file system.
   */
  async read(sessionId: string, logger: Logger): Promise<StoredSession> {
    const onLost = (id: number): void =>
      logger.warn(`Session ${sessionId}: skipped message ${id}, which could not be read`);
    const log = await this.open(sessionId).load(line => {
      const found = line.endsWith('}}') ? QUICK.exec(line) : null;
      return found ? new StoredLine(found, line, onLost) : undefined;
    });
    const { badLines, torn } = log;
    if (badLines.length > 0)
      logger.warn(`Session ${sessionId}: skipped lines that could not be read: ${badLines.join(', ')}`);
    if (torn) logger.warn(`Session ${sessionId}: dropped a last line that was not written to its end`);
    return storedSession(sessionId, log);
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
  /** Rebuilt from the log alone; belongs to whoever takes the session up. */
  readonly tree: ConversationTree;
  /** The name that a person gave it. */
  readonly title?: string;
  /** Whether the process ended in the middle of a turn. */
  readonly interrupted: boolean;
  /** The previews that were staged in it, but parts, and whether the model is asked to resolve them. */
  readonly previews: ReadonlyMap<string, boolean>;
  /** Whether the session was in plan mode. */
  readonly planMode: boolean;
}

const QUICK =
  /^\{"type":"message","id":(\d+),"parentId":(?:(\d+)|null),"message":\{"role":"(user|assistant|tool|steering|local)",/;

/** A message as we write it, whose text is parsed once somebody wants to read it; most of a long session never is. */
class StoredLine implements StoredNode, StoredBody {
  readonly type = 'message';
  readonly id: number;
  readonly parentId: number | null;
  readonly role: SessionMessage['role'];
  readonly #line: string;
  readonly #onLost: (id: number) => void;

  constructor([, id, parentId, role]: RegExpExecArray, line: string, onLost: (id: number) => void) {
    this.id = Number(id);
    this.parentId = parentId === undefined ? null : Number(parentId);
    this.role = role as SessionMessage['role'];
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

export function storedSession(id: string, log: DecodedLog<SessionLogEntry | StoredLine>): StoredSession {
  const tree = new ConversationTree();
  let state: SessionState = 'idle';
  let title: string | undefined;
  let planMode = false;
  const previews = new Map<string, boolean>();
  for (const item of log.entries) {
    switch (item.type) {
      case 'message':
        tree.restore(item);
        break;
      case 'revert':
        tree.apply(item.record);
        break;
      case 'title':
        ({ title } = item);
        break;
      case 'state':
        ({ state } = item);
        break;
      case 'plan':
        planMode = item.on;
        break;
      case 'preview':
        previews.set(item.previewId, item.asked);
        break;
    }
  }
  const named = title === undefined ? {} : { title };
  return { id, tree, ...named, interrupted: state === 'running', previews, planMode };
}

/** A new session id: later ones sort behind earlier ones. */
export function newSessionId(now = Date.now()): string {
  return `s${now.toString(36).padStart(9, '0')}${Math.random().toString(36).slice(2, 8)}`;
}
