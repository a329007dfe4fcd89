import * as z from 'zod/mini';
import type { Sha256 } from '../../../base/hash.ts';
import type { DeepReadonly } from '../../../base/json.ts';
import type { LogFaults, LogFormat } from '../../../base/log/logFormat.ts';
import type { LogSink } from '../../../base/log/logQueue.ts';
import { FOUND_APPLIED, ledgerEntrySchema, recommendationSchema, storable } from '../ledger.ts';
import { LAST_PLAUSIBLE } from '../previewNumbers.ts';
import {
  change,
  path,
  rights,
  staged,
  stagedFiles,
  type StagedFiles,
  type StagedPreview,
} from '../previewSchema.ts';
import type { Contents } from './contents.ts';

/** See {@link KeptChanges}. */
const kept = z.object({ from: z.int(), to: z.int() });
/** See `marked`. */
const mark = z.exactOptional(z.string());
const entrySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('staged'), preview: staged, mark }),
  z.object({
    type: z.literal('revised'),
    id: z.string(),
    revision: z.int(),
    changes: z.array(z.union([change, kept])),
    dependsOn: z.array(z.string()),
    by: z.enum(['rebase', 'split', 'user', 'amend']),
    /** The tool call with which the model amended its preview. */
    call: z.exactOptional(ledgerEntrySchema.shape.call.def.innerType),
    /** The title that the model gave with it. */
    title: z.exactOptional(z.string()),
    /** For a plan, which has no changes: its text as the user left it. */
    details: z.exactOptional(z.unknown()),
    /** The part that was split off; absent once that is forgotten. */
    part: z.exactOptional(stagedFiles),
    /** The last of the rebases that a `rebasing` before it stands for. */
    announced: z.exactOptional(z.literal(true)),
    mark,
  }),
  /**
   * It is being rebased. Rebases are not stored one by one, since the next start makes them again; revisions below this one may
   * already have been given out.
   */
  z.object({ type: z.literal('rebasing'), id: z.string(), below: z.int(), mark }),
  /**
   * The write-ahead journal of a commit: the files of these previews are about to be written as one transaction, or the action of
   * an opaque one is about to run (without `rollback`). Their resolutions follow, unless a crash comes first. The lines before it
   * hold their content.
   */
  z.object({
    type: z.literal('commit'),
    ids: z.array(z.string()),
    rollback: z.exactOptional(
      z.object({
        newFolders: z.array(path),
        modes: z.record(z.string(), z.int()),
        rights: z.exactOptional(z.record(z.string(), rights)),
        folderModes: z.exactOptional(z.record(z.string(), z.int())),
        editors: z.exactOptional(z.array(path)),
      }),
    ),
    /** The revisions that are written, by id. */
    revisions: z.exactOptional(z.record(z.string(), z.int())),
    /** Who applies them and why: goes to the ledger if a crash comes before their resolutions. */
    vote: z.exactOptional(z.pick(ledgerEntrySchema, { actor: true, call: true, reason: true, extra: true })),
    /** A `synced` line follows once its files would survive a power cut. */
    syncs: z.exactOptional(z.literal(true)),
    mark,
  }),
  /** The files of these previews would survive a power cut. */
  z.object({ type: z.literal('synced'), ids: z.array(z.string()), mark }),
  /** A commit that a crash interrupted was rolled back, or left as it was. */
  z.object({ type: z.literal('recovered'), ids: z.array(z.string()), mark }),
  z.object({ type: z.literal('stale'), id: z.string(), paths: z.array(path), mark }),
  z.object({
    type: z.literal('recommended'),
    id: z.string(),
    recommendation: recommendationSchema,
    mark,
  }),
  /** One attempt to resolve, with an entry for each preview of the transaction. */
  z.object({ type: z.literal('resolved'), entries: z.array(ledgerEntrySchema).check(z.minLength(1)), mark }),
  /** `interrupted`: while it was being applied. */
  z.object({
    type: z.literal('expired'),
    id: z.string(),
    interrupted: z.exactOptional(z.literal(true)),
    reason: z.exactOptional(z.string()),
    mark,
  }),
  /** An expired preview was hidden for good. */
  z.object({ type: z.literal('dismissed'), id: z.string(), mark }),
  /** This many attempts to resolve are in the ledger file instead. `last` is the last id that was given out by then. */
  z.object({ type: z.literal('archived'), attempts: z.int(), last: z.string(), mark }),
]);

/**
 * One event in the life of previews. Their states and the ledger are derived by reading all entries in order; nothing else is
 * stored.
 */
export type PreviewLogEntry = DeepReadonly<z.infer<typeof entrySchema>>;

/** A preview before it gets its id. */
export type PreviewDraft = DraftOf<StagedPreview>;
export type FilesDraft = DraftOf<StagedFiles>;
type DraftOf<T> = T extends unknown ? Omit<T, 'id'> : never;

/** Why a preview has a new revision: its base changed, a part was split off, the user edited the proposal, or the model amended it. */
export type RevisedBy = Extract<PreviewLogEntry, { type: 'revised' }>['by'];

export const previewLogFormat: LogFormat<PreviewLogEntry> = {
  log: 'redline.previews',
  version: 9,
  tellsFrom: 8,
  parse: parseEntry,
};

/** A line of the log that cannot be read. */
export interface UnreadableLine {
  readonly text: string;
  /** How many entries come before it. */
  readonly position: number;
}

export interface LoadedPreviews extends LogFaults {
  readonly entries: readonly PreviewLogEntry[];
  readonly unreadable: readonly UnreadableLine[];
}

/** Who applies previews and why, as the journal of a commit keeps it. */
export type CommitVote = NonNullable<Extract<PreviewLogEntry, { type: 'commit' }>['vote']>;

/** The vote for an apply that an older version began, or whose journal cannot be read. */
export const unknownVote: CommitVote = { actor: 'extension', reason: FOUND_APPLIED };

/**
 * Whether an unreadable line may have recorded that a commit began or ended. Where a line feed was lost, a line about something
 * else continues with the next line; text that it quotes has a backslash before each quotation mark.
 */
export function mayBeOfCommit({ text }: UnreadableLine): boolean {
  const tellsOther =
    /^\{(?:"v":\d+,)?"type":"(?:staged|revised|rebasing|synced|stale|recommended|expired|dismissed|archived)"/.test(
      text,
    );
  return !tellsOther || /\{(?:"v":\d+,)?"type":"(?:commit|resolved|recovered)"/.test(text);
}

/** Ids of previews that an unreadable line names, without those whose number is damaged. */
export function idsIn({ text }: UnreadableLine): readonly string[] {
  const ids = Array.from(text.matchAll(/"(p[1-9]\d{0,14})"/g), ([, id = '']) => id);
  return ids.filter(id => Number(id.slice(1)) <= LAST_PLAUSIBLE);
}

/** The entry, or `undefined` if the value is not one. */
export function parseEntry(value: unknown): PreviewLogEntry | undefined {
  return entrySchema.safeParse(value).data;
}

/** The ids of the previews that an entry is about. */
export function idsOf(entry: PreviewLogEntry): readonly string[] {
  switch (entry.type) {
    case 'staged':
      return [entry.preview.id];
    case 'resolved':
      return entry.entries.map(attempt => attempt.previewId);
    case 'revised':
      return entry.part ? [entry.id, entry.part.id] : [entry.id];
    case 'archived':
      return [];
    default:
      return 'ids' in entry ? entry.ids : [entry.id];
  }
}

/** The storable form of a vote. */
export function voteOf({ actor, call, reason, extra }: CommitVote): CommitVote {
  return { actor, reason, ...(call ? { call } : {}), ...(extra ? { extra: storable(extra) } : {}) };
}

/** Entries that move from the log to the ledger file. */
export interface Archive {
  readonly takes: (entry: PreviewLogEntry) => boolean;
  /** The last id that was given out. */
  readonly last: string;
  /** Called once these are in the ledger file, and no longer in the log. */
  readonly moved: (entries: readonly PreviewLogEntry[]) => Promise<void>;
}

/** Destination of the store's entries. `JsonLog<PreviewLogEntry>` is one. */
export interface PreviewLogSink extends LogSink<PreviewLogEntry> {
  /** Settles once everything appended so far would survive a crash of the machine. */
  flush(): Promise<void>;
  /** The texts of previews, if they are not in memory. */
  readonly contents?: Contents | undefined;
  /** Whether the log, or its contents other than the named ones, is so large that compacting pays. */
  isOversized?(named: ReadonlySet<Sha256>): Promise<boolean>;
  /**
   * Replaces each entry with those that `rewrite` returns for it, permanently.
   * @param archive which entries go to the ledger file first, where there is one
   */
  compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[], archive: Archive): Promise<void>;
  /** Entries of the ledger file, where there is one. */
  archived?(): Promise<LoadedPreviews>;
}
