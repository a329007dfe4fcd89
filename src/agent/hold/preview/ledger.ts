import * as z from 'zod/mini';
import { isRecord, jsonSafe, type DeepReadonly } from '../../base/json.ts';
import { stepsOf } from './fileSteps.ts';
import type { Answer } from './pendingAction.ts';
import type { Actor, Preview, ResolveAction } from './preview.ts';
import { agentNameSchema } from './previewSchema.ts';

/** How a check ended. */
const checkFact = z.object({
  name: z.string(),
  /**
   * `asBefore`: the same tests fail without the previews, and every other one still passes, as its report shows.
   * `changedFiles`: it ended with 0, but changed files that git does not ignore, so it is not known for which files the result
   * holds.
   * `timedOut`, `stopped`: it was ended early. `notRun`: it could not be started.
   */
  outcome: z.enum(['passed', 'asBefore', 'changedFiles', 'failed', 'timedOut', 'stopped', 'notRun']),
  /** With `asBefore`: how many tests fail. */
  failures: z.exactOptional(z.int()),
  /** The first files that it changed, and how many there are. */
  changed: z.exactOptional(z.object({ first: z.array(z.string()), count: z.int() })),
  exitCode: z.exactOptional(z.int()),
  seconds: z.number(),
  /** When it ended, ISO 8601. */
  at: z.string(),
  /** Ids of the other previews that were applied where it ran. */
  together: z.exactOptional(z.array(z.string())),
});

/** The result of a check, as the ledger keeps it. */
export type CheckFact = DeepReadonly<z.infer<typeof checkFact>>;

/** How a command ended. */
export const runFact = z.object({
  /** Absent if unknown, or if the command was ended early. */
  exitCode: z.exactOptional(z.int()),
  seconds: z.number(),
  /** Who ended it, if it did not end by itself. */
  endedBy: z.exactOptional(z.enum(['timeLimit', 'user'])),
  /** Programs and paths that it did not find in the sandbox. */
  missing: z.exactOptional(z.array(z.string())),
});

/** How the command of a preview ended, as the ledger keeps it. */
export type RunFact = DeepReadonly<z.infer<typeof runFact>>;

const lostFile = z.object({
  path: z.string(),
  /**
   * `sameLines`: its editor had other changes of the same lines. `savedOver`: its editor saved its old text over it.
   * `notSaved`: its editor was reverted, or closed without saving it.
   */
  why: z.enum(['sameLines', 'savedOver', 'notSaved']),
});

/** A file in which an applied change did not stay, and why. */
export type LostFile = DeepReadonly<z.infer<typeof lostFile>>;
export type LostWhy = LostFile['why'];

/** In the `extra` of the vote with which the user withdraws a plan by leaving plan mode. */
export const LEFT_PLAN_MODE = { planMode: 'left' } as const;

/** Whether the user has left plan mode, and with it the plan. */
export function isPlanModeLeft({ actor, extra }: Pick<LedgerEntry, 'actor' | 'extra'>): boolean {
  return actor === 'human' && extra?.['planMode'] === LEFT_PLAN_MODE.planMode;
}

/** The model's recommendation. */
export const recommendationSchema = z.object({
  action: z.enum(['apply', 'discard']),
  reason: z.string(),
  /** It was one vote on several previews of the change set. */
  isOfSet: z.exactOptional(z.literal(true)),
  /** The model was not shown all of the diff. */
  isUnread: z.exactOptional(z.literal(true)),
});

/** One attempt to resolve a preview: who, what, when, why, and how it ended. Failed attempts are recorded too. */
export type LedgerEntry = DeepReadonly<z.infer<typeof ledgerEntrySchema>>;

export const ledgerEntrySchema = z.object({
  previewId: z.string(),
  label: z.string(),
  kind: z.enum(['files', 'plan', 'action']),
  sourceToolName: z.string(),
  /** The agent of another program that proposed it. With the actor `model`, that agent has resolved it itself. */
  agent: z.exactOptional(agentNameSchema),
  action: z.enum(['apply', 'discard']),
  actor: z.enum(['human', 'model', 'extension']),
  /** The tool call with which the model resolved it. */
  call: z.exactOptional(z.object({ sessionId: z.string(), messageId: z.string(), toolCallId: z.string() })),
  reason: z.string(),
  /** The model's recommendation, where someone else decided. */
  recommendation: z.exactOptional(recommendationSchema),
  /** The user had edited the proposal. */
  editedByUser: z.exactOptional(z.literal(true)),
  /** The change set that it belongs to, and the beginning of its prompt. */
  setId: z.exactOptional(z.string()),
  prompt: z.exactOptional(z.string()),
  /** For a single hunk: its number, from 1, among all that its file had. */
  hunk: z.exactOptional(z.int()),
  extra: z.exactOptional(z.record(z.string(), z.unknown())),
  /**
   * `returnedError`: the apply completed and returned an error; the preview counts as applied, and its action cannot run
   * again. `failed`: the preview is pending again, or has expired if its producer went away meanwhile.
   */
  outcome: z.enum(['applied', 'discarded', 'returnedError', 'failed']),
  message: z.exactOptional(z.string()),
  /** The request was aborted, or the process died, before the attempt ended, so its result reached no one. */
  interrupted: z.exactOptional(z.literal(true)),
  /** Its files whose change went into an editor with unsaved changes, and was not on disk yet. */
  unsaved: z.exactOptional(z.array(z.string())),
  /**
   * Files in which the change did not stay, in a second entry for an apply that the ledger had recorded as successful. Its
   * outcome is `failed`.
   */
  lost: z.exactOptional(z.array(lostFile)),
  details: z.exactOptional(z.unknown()),
  /** How its command ended. */
  run: z.exactOptional(runFact),
  /** ISO 8601. */
  at: z.string(),
  /** The checks that had a result on exactly the written files, passed or not. */
  checks: z.exactOptional(z.array(checkFact)),
  /** Only for a part that was split off and is resolved: how many of its hunks were applied, and how many refused. */
  hunks: z.exactOptional(z.object({ applied: z.number(), refused: z.number() })),
  /**
   * sha-256 of each file's bytes before and after; for a symbolic link, `link:` and the sha-256 of its target; `null` where there
   * is nothing.
   */
  files: z.array(
    z.object({ path: z.string(), before: z.nullable(z.string()), after: z.nullable(z.string()) }),
  ),
});

/**
 * Reason of an apply that was found complete after a crash, if the log no longer shows who decided it. Its actor is `extension`.
 */
export const FOUND_APPLIED =
  'Redline was interrupted, and found at the next start that this had been applied.';

/** How an attempt to resolve a preview ended. */
export type Outcome = LedgerEntry['outcome'];

/** An outcome as other extensions see it: for them the two kinds of failure are one. */
export type PlainOutcome = Exclude<Outcome, 'returnedError'>;

export function plainOutcome(outcome: Outcome): PlainOutcome {
  return outcome === 'returnedError' ? 'failed' : outcome;
}

/** How an attempt ended. */
type AttemptEnd = Pick<LedgerEntry, 'outcome' | 'run'>;

/**
 * Whether an apply did what was approved: it did not if it returned an error, or if its command could not be started, was ended or
 * ended with another exit code than 0.
 */
export function isApplied({ outcome, run }: AttemptEnd): boolean {
  return outcome === 'applied' && (run === undefined || run.exitCode === 0);
}

/** Whether an apply has ended, and {@link isApplied} does not hold. It cannot be tried again. */
export function isUnsuccessful(entry: AttemptEnd): boolean {
  return (entry.outcome === 'applied' || entry.outcome === 'returnedError') && !isApplied(entry);
}

/** Applies of a ledger that stand, in their order: their changes stayed, and were not applied anew. */
export function standingApplies(ledger: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const standing = new Map<string, LedgerEntry>();
  for (const entry of ledger) {
    if (entry.outcome === 'applied' || entry.lost) standing.delete(entry.previewId);
    if (entry.outcome === 'applied') standing.set(entry.previewId, entry);
  }
  return [...standing.values()];
}

/** A decision: who makes it, and why. */
export interface Vote {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly actor: Actor;
}

/** A vote as the ledger records it. */
export interface LedgerVote extends Vote {
  readonly call?: LedgerEntry['call'] | undefined;
  /** Whether its result reaches no one. */
  readonly interrupted?: boolean;
  readonly checks?: readonly CheckFact[];
  /** Result of the preview's callback. */
  readonly answer?: Answer | undefined;
}

/** How the command of a preview ended, if its callback reported that; for any other preview, such a report means nothing. */
function runOf({ purpose }: Preview, answer: Answer | undefined): RunFact | undefined {
  if (purpose !== 'command') return undefined;
  return z.object({ run: runFact }).safeParse(answer?.details).data?.run;
}

/**
 * The entry for an attempt to resolve a preview that ends now.
 * @param unsaved the files that the attempt left unsaved, including those of other previews.
 */
export function ledgerEntry(
  preview: Preview,
  { action, actor, call, reason, extra, interrupted, checks = [], answer }: LedgerVote,
  outcome: Outcome,
  message: string,
  unsaved: readonly string[] = [],
): LedgerEntry {
  const hunks = preview.part?.hunks;
  const files = ledgerFiles(preview);
  const run = runOf(preview, answer);
  const own = unsaved.filter(path => files.some(file => file.path === path));
  return {
    previewId: preview.id,
    label: preview.label,
    kind: preview.kind,
    sourceToolName: preview.sourceToolName,
    ...(preview.origin?.agent ? { agent: preview.origin.agent } : {}),
    action,
    actor,
    ...(call ? { call } : {}),
    reason,
    ...whyOf(preview, actor),
    ...(extra ? { extra: storable(extra) } : {}),
    outcome,
    message,
    ...(interrupted ? { interrupted: true } : {}),
    ...(own.length > 0 ? { unsaved: own } : {}),
    ...(preview.details === undefined ? {} : { details: preview.details }),
    ...(run ? { run } : {}),
    at: new Date().toISOString(),
    ...(checks.length > 0 ? { checks } : {}),
    ...(hunks === undefined || plainOutcome(outcome) === 'failed'
      ? {}
      : { hunks: { applied: action === 'apply' ? hunks : 0, refused: action === 'apply' ? 0 : hunks } }),
    files,
  };
}

/** The second entry for an apply that did not stay. Its actor is the one who had applied it. */
export function lostEntry(
  {
    call: _,
    unsaved: _unsaved,
    interrupted: _interrupted,
    checks: _checks,
    hunks: _hunks,
    ...applied
  }: LedgerEntry,
  lost: readonly LostFile[],
): LedgerEntry {
  return {
    ...applied,
    outcome: 'failed',
    message: lostText(lost),
    lost: [...lost],
    at: new Date().toISOString(),
  };
}

/** Tells a model and the log, in sentences, why applied changes did not stay. */
export function lostText(lost: readonly LostFile[]): string {
  const reasons = {
    sameLines: 'the user changed the same lines in the editor at the same moment',
    savedOver: 'its editor saved what it had held before',
    notSaved: 'its editor was closed or reverted without saving it',
  };
  return `It did not stay applied. ${lost.map(({ path, why }) => `${path}: ${reasons[why]}.`).join(' ')}`;
}

/** Reasons for a decision, as far as the preview shows them. */
function whyOf(
  { state, editedByUser, origin, part }: Preview,
  actor: LedgerEntry['actor'],
): Pick<LedgerEntry, 'recommendation' | 'editedByUser' | 'setId' | 'prompt' | 'hunk'> {
  const recommendation = state.kind === 'pending' && actor !== 'model' ? state.recommendation : undefined;
  const { setId, setTitle } = origin ?? {};
  return {
    ...(recommendation ? { recommendation } : {}),
    ...(editedByUser ? { editedByUser } : {}),
    ...(setId === undefined ? {} : { setId }),
    ...(setTitle === undefined ? {} : { prompt: setTitle }),
    ...(part?.number === undefined ? {} : { hunk: part.number }),
  };
}

/** Always a JSON object: a line that the log's schema rejects would lose the resolution. */
export function storable(extra: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const safe = jsonSafe(extra);
  return isRecord(safe) ? safe : { value: safe };
}

/** The hashes of all paths that a preview touches. */
function ledgerFiles(preview: Preview): LedgerEntry['files'] {
  return (preview.changes ?? []).flatMap(stepsOf).map(({ path, before, after }) => ({
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
  }));
}
