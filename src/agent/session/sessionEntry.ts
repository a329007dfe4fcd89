import * as z from 'zod/mini';
import { providerFailureCodes, type SessionMessage } from '../model/messages.ts';
import { revertCategories } from '../model/revertCategories.ts';
import { MAX_NODE_ID } from '../tree/nodeId.ts';
import type { RevertRecord } from '../tree/revert.ts';
import type { SessionState } from './events.ts';
import type { Resolution, SettingsInForce } from './sessionTrail.ts';

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
  | { readonly type: 'preview'; readonly previewId: string; readonly asked: boolean }
  /** What became of a preview that was staged here; written late if another conversation was open then. */
  | { readonly type: 'resolution'; readonly resolution: Resolution }
  /** What the answers are made with from here on. */
  | { readonly type: 'settings'; readonly settings: SettingsInForce };

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
const nodeId = z.int().check(z.minimum(0), z.maximum(MAX_NODE_ID));
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
  z.object({
    type: z.literal('resolution'),
    resolution: z.object({
      previewId: z.string(),
      label: z.string(),
      action: z.enum(['apply', 'discard']),
      actor: z.enum(['human', 'model', 'extension']),
      reason: z.string(),
      outcome: z.enum(['applied', 'discarded', 'failed']),
      at: z.string(),
    }),
  }),
  z.object({
    type: z.literal('settings'),
    settings: z.object({
      model: z.string(),
      modelAuthority: z.enum(['recommend', 'apply', 'none']),
      forcing: z.enum(['forced', 'always', 'soft', 'off']),
      order: z.enum(['newestFirst', 'oldestFirst']),
      revertEnabled: z.boolean(),
    }),
  }),
]);

/** The entry of a parsed line; `undefined` for what is none. */
export function parseSessionEntry(value: unknown): SessionLogEntry | undefined {
  const parsed = entry.safeParse(value);
  return parsed.success ? (parsed.data as SessionLogEntry) : undefined;
}
