import * as z from 'zod/mini';
import type { DeepReadonly } from '../../../base/json.ts';
import type { LogFormat } from '../../../base/log/logFormat.ts';
import {
  providerFailureCodes,
  revertCategories,
  steeringKinds,
  type ToolCall,
} from '../../model/messages.ts';
import { runFact } from '../../../hold/preview/ledger.ts';
import { MAX_NODE_ID } from '../nodeId.ts';

const sessionState = z.enum(['idle', 'running', 'awaitingReview']);
const previewIds = z.array(z.string());
const nodeId = z.int().check(z.minimum(0), z.maximum(MAX_NODE_ID));
/** Loose, so that fields which some servers add, and want back with the next request, are kept. */
const toolCall: z.ZodMiniType<ToolCall> = z.looseObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const image = z.object({
  file: z.string(),
  type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  bytes: z.number(),
});
const attachments = z.array(
  z.object({
    path: z.string(),
    image: z.exactOptional(image),
    startLine: z.exactOptional(z.number()),
    endLine: z.exactOptional(z.number()),
    text: z.string(),
    note: z.exactOptional(z.string()),
  }),
);
const message = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    text: z.string(),
    attachments: z.exactOptional(attachments),
  }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    reasoning: z.exactOptional(z.string()),
    toolCalls: z.array(toolCall),
    stopReason: z.enum(['stop', 'toolCalls', 'length', 'aborted', 'error']),
    usage: z.exactOptional(z.object({ inputTokens: z.number(), outputTokens: z.number() })),
    error: z.exactOptional(z.string()),
    errorCode: z.exactOptional(z.enum(providerFailureCodes)),
  }),
  z.object({
    role: z.literal('tool'),
    toolCallId: z.string(),
    toolName: z.string(),
    content: z.string(),
    isError: z.boolean(),
    image: z.exactOptional(image),
    pending: z.exactOptional(previewIds),
    tells: z.exactOptional(z.array(z.string())),
    details: z.exactOptional(z.unknown()),
  }),
  z.object({
    role: z.literal('steering'),
    kind: z.enum(steeringKinds),
    text: z.string(),
    previewIds,
    tells: z.exactOptional(z.array(z.string())),
    through: z.exactOptional(nodeId),
  }),
  z.object({ role: z.literal('local'), text: z.string(), answer: z.string() }),
]);
/** See `marked`. */
const mark = z.exactOptional(z.string());
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
    mark,
  }),
  /** The user named the session. */
  z.object({ type: z.literal('title'), title: z.string(), mark }),
  z.object({
    type: z.literal('state'),
    state: sessionState,
    /** The user stopped or discarded all: no outcome of an earlier preview wakes the session. */
    reviewEnded: z.exactOptional(z.literal(true)),
    mark,
  }),
  z.object({ type: z.literal('plan'), on: z.boolean(), mark }),
  /** From here on, these prompts wait for the running turn to end. */
  z.object({
    type: z.literal('waiting'),
    prompts: z.array(z.object({ text: z.string(), attachments })),
    mark,
  }),
  /** A preview was staged in the session. The preview itself, with its origin, is in the log of previews. */
  z.object({ type: z.literal('preview'), previewId: z.string(), mark }),
  /** The outcome of a preview that was staged here. If another session was open then, it is written when this one is reopened. */
  z.object({
    type: z.literal('resolution'),
    resolution: z.object({
      previewId: z.string(),
      label: z.string(),
      action: z.enum(['apply', 'discard']),
      actor: z.enum(['human', 'model', 'extension']),
      reason: z.string(),
      /** Version 1 has `failed` for `returnedError` too. */
      outcome: z.enum(['applied', 'discarded', 'returnedError', 'failed']),
      at: z.string(),
      run: z.exactOptional(runFact),
    }),
    mark,
  }),
  /** The settings of the answers from here on. */
  z.object({
    type: z.literal('settings'),
    settings: z.object({
      /** The provider's id. */
      model: z.string(),
      modelAuthority: z.enum(['recommend', 'apply', 'none', 'checked']),
      /** Earlier versions also had `soft`. */
      forcing: z.string(),
      order: z.enum(['newestFirst', 'oldestFirst']),
      revertEnabled: z.boolean(),
    }),
    mark,
  }),
]);

/**
 * `awaitingReview`: the model ended its turn, or its request failed, and previews of this session are pending. Prompts are
 * accepted in every state.
 */
export type SessionState = z.infer<typeof sessionState>;

/** One line of a session's log, which holds everything that happened in it, in order. */
export type SessionLogEntry = DeepReadonly<z.infer<typeof entry>>;

export type EntryOf<Type extends SessionLogEntry['type']> = Extract<SessionLogEntry, { type: Type }>;

export const sessionLogFormat: LogFormat<SessionLogEntry> = {
  log: 'redline.session',
  version: 2,
  parse: parseSessionEntry,
  // Lines of version 1 are valid as they are.
};

/** The value of a JSON line as an entry; `undefined` if it is not one. */
export function parseSessionEntry(value: unknown): SessionLogEntry | undefined {
  return entry.safeParse(value).data;
}
