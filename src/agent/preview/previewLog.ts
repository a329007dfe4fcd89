import * as z from 'zod';
import { JsonLog } from '../base/jsonLog.ts';
import type { FileChange } from './fileChange.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Preview, PreviewState, Recommendation } from './preview.ts';

/**
 * Everything that ever happened to previews, in order. The state of all previews and the ledger are what one gets
 * by reading these entries from the first to the last; nothing else is stored.
 */
export type PreviewLogEntry =
  | { readonly type: 'staged'; readonly preview: StagedPreview }
  | {
      readonly type: 'revised';
      readonly id: string;
      readonly revision: number;
      readonly changes: readonly FileChange[];
    }
  | { readonly type: 'stale'; readonly id: string; readonly paths: readonly string[] }
  | { readonly type: 'recommended'; readonly id: string; readonly recommendation: Recommendation }
  | { readonly type: 'resolved'; readonly entry: LedgerEntry; readonly final: boolean }
  | { readonly type: 'expired'; readonly id: string }
  /** An expired preview is no longer shown. */
  | { readonly type: 'dismissed'; readonly id: string };

/** A preview as it was staged: the first revision, pending. */
export type StagedPreview = Omit<Preview, 'state' | 'revision'>;

export const previewLogHeader = { log: 'redline.previews', version: 1 } as const;

/** The log of previews in `file`. */
export function openPreviewLog(file: string): JsonLog<PreviewLogEntry> {
  return new JsonLog(file, previewLogHeader, parseEntry);
}

/** The entry, or `undefined` if the value is not one. */
export function parseEntry(value: unknown): PreviewLogEntry | undefined {
  const parsed = entrySchema.safeParse(value);
  return parsed.success ? (parsed.data as PreviewLogEntry) : undefined;
}

const side = z.object({
  hash: z.string(),
  text: z.string(),
  encoding: z.object({ name: z.enum(['utf8', 'utf16le', 'utf16be']), bom: z.boolean() }),
});
const path = z.string().min(1);
const changes = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('modify'), path, before: side, after: side }),
    z.object({ kind: z.literal('create'), path, before: z.null(), after: side }),
    z.object({ kind: z.literal('delete'), path, before: side, after: z.null() }),
    z.object({ kind: z.literal('rename'), path, from: path, before: side, after: side }),
  ]),
);
const action = z.enum(['apply', 'discard']);
const entrySchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('staged'),
    preview: z.object({
      id: z.string().regex(/^p[1-9]\d*$/),
      label: z.string(),
      sourceToolName: z.string(),
      changes: changes.nullable(),
      dependsOn: z.array(z.string()),
      details: z.unknown().optional(),
      origin: z.object({ sessionId: z.string(), messageId: z.string(), toolCallId: z.string() }).nullable(),
      stagedAt: z.string(),
    }),
  }),
  z.object({ type: z.literal('revised'), id: z.string(), revision: z.number().int(), changes }),
  z.object({ type: z.literal('stale'), id: z.string(), paths: z.array(path) }),
  z.object({
    type: z.literal('recommended'),
    id: z.string(),
    recommendation: z.object({ action, reason: z.string() }),
  }),
  z.object({
    type: z.literal('resolved'),
    final: z.boolean(),
    entry: z.object({
      previewId: z.string(),
      label: z.string(),
      sourceToolName: z.string(),
      action,
      actor: z.enum(['human', 'model', 'extension']),
      reason: z.string(),
      extra: z.record(z.string(), z.unknown()).optional(),
      outcome: z.enum(['applied', 'discarded', 'failed']),
      message: z.string().optional(),
      details: z.unknown().optional(),
      at: z.string(),
      hunks: z.object({ applied: z.number(), refused: z.number() }).optional(),
      files: z.array(
        z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
      ),
    }),
  }),
  z.object({ type: z.literal('expired'), id: z.string() }),
  z.object({ type: z.literal('dismissed'), id: z.string() }),
]);

/** The preview after `entry`; `undefined` for an entry about a preview that does not exist. */
export function reduce(preview: Preview | undefined, entry: PreviewLogEntry): Preview | undefined {
  if (entry.type === 'staged')
    return { ...entry.preview, revision: 1, state: { kind: 'pending', stale: [] } };
  if (!preview) return undefined;
  switch (entry.type) {
    case 'revised':
      return {
        ...preview,
        revision: entry.revision,
        changes: entry.changes,
        state: { kind: 'pending', stale: [] },
      };
    case 'stale':
      return { ...preview, state: { ...pendingPart(preview.state), stale: entry.paths } };
    case 'recommended':
      return { ...preview, state: { ...pendingPart(preview.state), recommendation: entry.recommendation } };
    case 'resolved':
      return {
        ...preview,
        state: entry.final ? finalState(entry.entry) : failedState(preview.state, entry.entry),
      };
    case 'expired':
      return { ...preview, state: { kind: 'expired' } };
    case 'dismissed':
      return preview.state.kind === 'expired'
        ? { ...preview, state: { kind: 'expired', dismissed: true } }
        : undefined;
  }
}

type Pending = Extract<PreviewState, { kind: 'pending' }>;

function pendingPart(state: PreviewState): Pending {
  return state.kind === 'pending' ? state : { kind: 'pending', stale: [] };
}

function finalState(entry: LedgerEntry): PreviewState {
  const by = { actor: entry.actor, reason: entry.reason, at: entry.at };
  return { kind: entry.action === 'apply' ? 'applied' : 'discarded', by };
}

function failedState(state: PreviewState, entry: LedgerEntry): PreviewState {
  return { ...pendingPart(state), ...(entry.message === undefined ? {} : { lastError: entry.message }) };
}
