import * as z from 'zod/mini';
import { JsonLog } from '../base/jsonLog.ts';
import { isEncodingName } from '../base/textCodec.ts';
import { stepsOf, type FileChange } from './fileChange.ts';
import type { LandingGround } from './landingGround.ts';
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
      readonly dependsOn: readonly string[];
      readonly by: RevisedBy;
      /** What was split off in the same breath; left out once it was forgotten. */
      readonly part?: StagedPreview;
    }
  /**
   * The files of these previews are about to be written, as one transaction, or the action of an opaque one is about to
   * run; a resolution of each follows.
   */
  | { readonly type: 'landing'; readonly ids: readonly string[]; readonly ground?: LandingGround }
  /** A landing that a crash cut off was taken back. */
  | { readonly type: 'recovered'; readonly ids: readonly string[] }
  | { readonly type: 'stale'; readonly id: string; readonly paths: readonly string[] }
  | { readonly type: 'recommended'; readonly id: string; readonly recommendation: Recommendation }
  /** One attempt; `entries` has more than one where previews land as one transaction. */
  | { readonly type: 'resolved'; readonly entries: readonly LedgerEntry[]; readonly final: boolean }
  /** `interrupted`: in the middle of its apply. */
  | { readonly type: 'expired'; readonly id: string; readonly interrupted?: true }
  /** An expired preview is no longer shown. */
  | { readonly type: 'dismissed'; readonly id: string };

/** Why there is another revision: its base moved on, a part was split off, or a person edited the proposal. */
export type RevisedBy = 'rebase' | 'split' | 'user';

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
  encoding: z.object({ name: z.string().check(z.refine(isEncodingName)), bom: z.boolean() }),
});
const path = z.string().check(z.minLength(1));
const edits = z.array(z.object({ start: z.int(), end: z.int(), text: z.string() }));
const changes = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('modify'), path, before: side, after: side, edits: z.optional(edits) }),
    z.object({ kind: z.literal('create'), path, before: z.null(), after: side }),
    z.object({ kind: z.literal('delete'), path, before: side, after: z.null() }),
    z.object({ kind: z.literal('rename'), path, from: path, before: side, after: side }),
  ]),
);
const action = z.enum(['apply', 'discard']);
const staged = z.object({
  id: z.string().check(z.regex(/^p[1-9]\d*$/)),
  label: z.string(),
  sourceToolName: z.string(),
  changes: z.nullable(changes),
  dependsOn: z.array(z.string()),
  details: z.optional(z.unknown()),
  undoes: z.optional(z.array(z.string())),
  origin: z.nullable(z.object({ sessionId: z.string(), messageId: z.string(), toolCallId: z.string() })),
  part: z.optional(z.object({ previewId: z.string(), hunks: z.number(), patch: z.string() })),
  editedByUser: z.optional(z.literal(true)),
  stagedAt: z.string(),
});
const ledgerEntry = z.object({
  previewId: z.string(),
  label: z.string(),
  sourceToolName: z.string(),
  action,
  actor: z.enum(['human', 'model', 'extension']),
  reason: z.string(),
  extra: z.optional(z.record(z.string(), z.unknown())),
  outcome: z.enum(['applied', 'discarded', 'failed']),
  message: z.optional(z.string()),
  interrupted: z.optional(z.literal(true)),
  details: z.optional(z.unknown()),
  at: z.string(),
  hunks: z.optional(z.object({ applied: z.number(), refused: z.number() })),
  files: z.array(
    z.object({ path: z.string(), before: z.nullable(z.string()), after: z.nullable(z.string()) }),
  ),
});
const entrySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('staged'), preview: staged }),
  z.object({
    type: z.literal('revised'),
    id: z.string(),
    revision: z.int(),
    changes,
    dependsOn: z.array(z.string()),
    by: z.enum(['rebase', 'split', 'user']),
    part: z.optional(staged),
  }),
  z.object({
    type: z.literal('landing'),
    ids: z.array(z.string()),
    ground: z.optional(z.object({ newFolders: z.array(path), modes: z.record(z.string(), z.int()) })),
  }),
  z.object({ type: z.literal('recovered'), ids: z.array(z.string()) }),
  z.object({ type: z.literal('stale'), id: z.string(), paths: z.array(path) }),
  z.object({
    type: z.literal('recommended'),
    id: z.string(),
    recommendation: z.object({ action, reason: z.string() }),
  }),
  z.object({
    type: z.literal('resolved'),
    final: z.boolean(),
    entries: z.array(ledgerEntry).check(z.minLength(1)),
  }),
  z.object({ type: z.literal('expired'), id: z.string(), interrupted: z.optional(z.literal(true)) }),
  z.object({ type: z.literal('dismissed'), id: z.string() }),
]);

/** The previews that `entry` changes, as they are after it. Entries about previews that do not exist change nothing. */
export function reduce(
  find: (id: string) => Preview | undefined,
  entry: PreviewLogEntry,
): readonly Preview[] {
  if (entry.type === 'staged') return [fresh(entry.preview)];
  if (entry.type === 'landing' || entry.type === 'recovered') return [];
  if (entry.type === 'resolved') {
    return entry.entries.flatMap(attempt => {
      const preview = find(attempt.previewId);
      return preview ? [{ ...preview, state: stateAfter(preview.state, attempt, entry.final) }] : [];
    });
  }
  const preview = find(entry.id);
  if (!preview) return [];
  switch (entry.type) {
    case 'revised': {
      const { revision, changes, dependsOn, part } = entry;
      const edited = entry.by === 'user' ? { editedByUser: true as const } : {};
      const next = { ...preview, ...edited, revision, changes, dependsOn };
      if (entry.by !== 'split') return [{ ...next, state: pendingState }];
      // Taking a part off does not put anything back on its ground.
      const stale = pendingPart(preview.state).stale;
      const rest = { ...next, state: pendingOn(stale, changes) };
      return part ? [{ ...part, revision: 1, state: pendingOn(stale, part.changes) }, rest] : [rest];
    }
    case 'stale':
      return [{ ...preview, state: { ...pendingPart(preview.state), stale: entry.paths } }];
    case 'recommended':
      return [{ ...preview, state: { ...pendingPart(preview.state), recommendation: entry.recommendation } }];
    case 'expired':
      return [
        { ...preview, state: { kind: 'expired', ...(entry.interrupted ? { interrupted: true } : {}) } },
      ];
    case 'dismissed':
      return preview.state.kind === 'expired'
        ? [{ ...preview, state: { ...preview.state, dismissed: true } }]
        : [];
  }
}

/** The ids that an entry speaks of. */
export function idsOf(entry: PreviewLogEntry): readonly string[] {
  switch (entry.type) {
    case 'staged':
      return [entry.preview.id];
    case 'resolved':
      return entry.entries.map(attempt => attempt.previewId);
    case 'revised':
      return entry.part ? [entry.id, entry.part.id] : [entry.id];
    case 'landing':
    case 'recovered':
      return entry.ids;
    case 'stale':
    case 'recommended':
    case 'expired':
    case 'dismissed':
      return [entry.id];
  }
}

const pendingState: PreviewState = { kind: 'pending', stale: [] };

/** Pending, with those of the stale paths that the changes touch. */
function pendingOn(stale: readonly string[], changes: readonly FileChange[] | null): PreviewState {
  const paths = new Set((changes ?? []).flatMap(stepsOf).map(step => step.path));
  return { kind: 'pending', stale: stale.filter(path => paths.has(path)) };
}

function fresh(staged: StagedPreview): Preview {
  return { ...staged, revision: 1, state: pendingState };
}

type Pending = Extract<PreviewState, { kind: 'pending' }>;

function pendingPart(state: PreviewState): Pending {
  return state.kind === 'pending' ? state : { kind: 'pending', stale: [] };
}

function stateAfter(state: PreviewState, attempt: LedgerEntry, final: boolean): PreviewState {
  return final ? finalState(attempt) : failedState(state, attempt);
}

function finalState(entry: LedgerEntry): PreviewState {
  const by = { actor: entry.actor, reason: entry.reason, at: entry.at };
  return { kind: entry.action === 'apply' ? 'applied' : 'discarded', by };
}

function failedState(state: PreviewState, entry: LedgerEntry): PreviewState {
  return { ...pendingPart(state), ...(entry.message === undefined ? {} : { lastError: entry.message }) };
}
