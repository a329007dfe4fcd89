import { untilAborted } from '../base/abort.ts';
import { Emitter, type Event } from '../base/event.ts';
import { BlockedPreviewError, isToolError, messageOf, StalePreviewError, ToolError } from '../base/errors.ts';
import { jsonSafe } from '../base/json.ts';
import { modelMay } from './authority.ts';
import { conflictPaths } from './conflictMarkers.ts';
import { stepsOf } from './fileChange.ts';
import { landChanges, type LandingFiles } from './landing.ts';
import { ledgerFiles, type LedgerEntry } from './ledger.ts';
import { resultOf, textOf, textResult, type AgentToolResult, type PendingAction } from './pendingAction.ts';
import {
  nameOf,
  type Actor,
  type ModelAuthority,
  type Preview,
  type ResolveAction,
  type SeenRevisions,
} from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { Resolvings } from './resolvings.ts';
import {
  alreadyResolvedText,
  appliedText,
  recommendedText,
  revisedText,
  unknownPreviewText,
  unsettledText,
} from './resolveTexts.ts';

/** One vote on one preview. */
export interface ResolveRequest {
  readonly id: string;
  /** The revision that was seen; a vote on an older one is refused. Left out: whatever is current. */
  readonly revision?: number;
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly actor: Actor;
  /**
   * Apply the previews that this one is made on as well, as one transaction: these, each at the revision that was seen.
   * What it is made on and is not among them must be applied before.
   */
  readonly chain?: SeenRevisions;
  /** The conversation was taken back to before what staged it: whoever did that may discard it. */
  readonly isAbandoned?: boolean;
  readonly signal?: AbortSignal;
}

/** `details` of every result of the invoker. */
export interface ResolveDetails {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly sourceToolName?: string;
  readonly label?: string;
  /** The callback's own `details`, whole. */
  readonly sourceResultDetails?: unknown;
}

type Callbacks = Pick<PendingAction, 'apply' | 'reject'>;

/**
 * The one place where previews are resolved, whoever asks. It guarantees that no callback runs twice at once or
 * again after success, that what lands is what the preview shows, and that each attempt stands in the ledger.
 */
export class Invoker {
  readonly #store: PreviewStore;
  readonly #workspace: LandingFiles;
  readonly #authority: () => ModelAuthority;
  readonly #callbacks = new Map<string, Callbacks>();
  /** Those whose producer went away while they were being resolved. */
  readonly #orphaned = new Set<string>();
  readonly #resolvings = new Resolvings();
  readonly #applyFailed = new Emitter<Preview>();

  /** A preview is pending again after a failed apply: time to renew its directive and reminder. */
  readonly onDidFailApply: Event<Preview> = this.#applyFailed.event;

  constructor(store: PreviewStore, workspace: LandingFiles, authority: () => ModelAuthority) {
    this.#store = store;
    this.#workspace = workspace;
    this.#authority = authority;
  }

  /** Keeps the callbacks of a preview that was just staged. */
  attach(id: string, callbacks: Callbacks): void {
    this.#callbacks.set(id, callbacks);
  }

  /**
   * The producer of an opaque preview is gone: nobody can apply it any more. One that is being resolved comes to its end, and
   * expires only if that fails. Does nothing for one whose changes Redline lands itself, or that is resolved.
   */
  expire(id: string): void {
    const preview = this.#store.get(id);
    if (!preview || preview.changes) return;
    if (preview.state.kind === 'applying') this.#orphaned.add(id);
    if (preview.state.kind !== 'pending') return;
    this.#callbacks.delete(id);
    // As in `#end`: a log that cannot be written is reported by the store.
    void this.#store.expire(id).catch(() => undefined);
  }

  /**
   * Resolves a preview, or says why not. A preview that somebody else resolved first gives a normal result that tells
   * who, how and why; one that is being resolved right now gives the same once that is over.
   * @throws ToolError for an unknown id, an older revision, a failed apply (the preview is pending again), or a vote
   *   from within a callback that the one resolving this preview waits for, so that both would wait for ever; the abort
   *   error when `signal` fires, while a callback that has begun still runs to its end and is recorded.
   */
  async resolve(request: ResolveRequest): Promise<AgentToolResult> {
    return untilAborted(request.signal, () => this.#resolve(request));
  }

  async #resolve(request: ResolveRequest): Promise<AgentToolResult> {
    const preview = this.#store.get(request.id);
    if (!preview) throw new ToolError(unknownPreviewText(request.id));
    switch (preview.state.kind) {
      case 'applied':
      case 'discarded':
      case 'expired':
        return withDetails(this.#tooLate(preview, request), request, preview);
      case 'applying':
        await this.#resolvings.end(preview, request.signal);
        return withDetails(this.#tooLate(this.#store.get(preview.id) ?? preview, request), request, preview);
      case 'pending':
        break;
    }
    refuseOutdated(preview, request.revision);
    if (this.#isOnlyAdvice(request, preview)) {
      // As in `#end`: a log that cannot be written is reported by the store.
      await this.#store.recommend(preview.id, request.action, request.reason).catch(() => undefined);
      return withDetails(textResult(recommendedText(preview), { recommended: preview.id }), request, preview);
    }
    const group = this.#group(preview, request);
    if (request.action === 'apply') refuseConflicts(group);
    const ids = group.map(({ id }) => id);
    return this.#resolvings.run(ids, () => this.#run(preview, group, request));
  }

  /** Answers a vote on a preview that somebody else resolved first. */
  #tooLate(preview: Preview, { actor }: ResolveRequest): AgentToolResult {
    const last = this.#store.ledger().findLast(({ previewId }) => previewId === preview.id);
    return textResult(alreadyResolvedText(preview, actor, last), { alreadyResolved: preview.id });
  }

  /** Whether the vote is only written down: the model may not resolve this by itself. */
  #isOnlyAdvice({ actor, action, isAbandoned }: ResolveRequest, preview: Preview): boolean {
    if (actor !== 'model' || (isAbandoned && action === 'discard')) return false;
    return modelMay(this.#authority(), action, preview) === 'recommend';
  }

  /** The previews that are resolved together, in the order in which they land; the last one is the one that was meant. */
  #group(preview: Preview, { action, chain = {} }: ResolveRequest): readonly Preview[] {
    const blockers = action === 'apply' ? this.#store.blockersOf(preview) : [];
    const mayLand = blockers.every(
      ({ id, state, changes }) => Object.hasOwn(chain, id) && state.kind === 'pending' && changes !== null,
    );
    if (!mayLand) {
      throw new BlockedPreviewError(
        preview.id,
        blockers.map(blocker => blocker.id),
      );
    }
    for (const blocker of blockers) refuseOutdated(blocker, chain[blocker.id]);
    return [...blockers, preview];
  }

  async #run(preview: Preview, group: readonly Preview[], request: ResolveRequest): Promise<AgentToolResult> {
    for (const { id } of group) this.#store.beginResolving(id, request.action, request.actor);
    try {
      const result =
        request.action === 'apply'
          ? await this.#apply(preview, group, request)
          : await this.#reject(preview, request);
      for (const { id } of group) {
        this.#callbacks.delete(id);
        this.#orphaned.delete(id);
      }
      const failed = request.action === 'apply' && result.isError === true;
      const outcome = failed ? 'failed' : request.action === 'apply' ? 'applied' : 'discarded';
      await this.#end(group, request, outcome, result, true);
      return withDetails(result, request, preview);
    } catch (error) {
      const recorded = this.#end(group, request, 'failed', textResult(messageOf(error)), false);
      if (error instanceof StalePreviewError) this.#markStale(group, error.paths);
      for (const { id } of group) if (this.#orphaned.delete(id)) this.expire(id);
      // In the same moment as they are pending again: no request may come between.
      if (request.action === 'apply') this.#tellFailure(group);
      await recorded;
      if (request.action === 'discard') throw error;
      throw isToolError(error) ? error : new ToolError(`Apply failed: ${messageOf(error)}`);
    }
  }

  #tellFailure(group: readonly Preview[]): void {
    for (const { id } of group) {
      const preview = this.#store.get(id);
      if (preview?.state.kind === 'pending') this.#applyFailed.fire(preview);
    }
  }

  #markStale(group: readonly Preview[], paths: readonly string[]): void {
    for (const { id, changes } of group) {
      const own = new Set((changes ?? []).flatMap(stepsOf).map(step => step.path));
      const stale = paths.filter(path => own.has(path));
      if (stale.length > 0) void this.#store.markStale(id, stale);
    }
  }

  async #apply(
    preview: Preview,
    group: readonly Preview[],
    { reason, extra }: ResolveRequest,
  ): Promise<AgentToolResult> {
    if (preview.changes) {
      const ids = group.map(({ id }) => id);
      const { unsaved } = await landChanges(
        this.#workspace,
        group.flatMap(({ changes }) => changes ?? []),
        ground => this.#store.beginLanding(ids, ground),
      );
      return textResult(appliedText(group, reason, unsaved));
    }
    const apply = this.#callbacks.get(preview.id)?.apply;
    if (!apply) throw new ToolError(`${nameOf(preview)} has no action to apply. Discard it.`);
    // Not waited for, so that an abort cannot come between: but during a compaction the log has it when the call returns.
    void this.#store.beginLanding([preview.id]);
    const answer: unknown = await this.#resolvings.call(preview.id, () => apply(reason, extra));
    return resultOf(answer, appliedText([preview], reason, []));
  }

  async #reject(preview: Preview, { reason, extra }: ResolveRequest): Promise<AgentToolResult> {
    const reject = this.#callbacks.get(preview.id)?.reject;
    const answer: unknown = reject && (await this.#resolvings.call(preview.id, () => reject(reason, extra)));
    return resultOf(answer, `Discarded: ${preview.label}. Reason: ${reason}`);
  }

  async #end(
    group: readonly Preview[],
    request: ResolveRequest,
    outcome: LedgerEntry['outcome'],
    result: AgentToolResult,
    final: boolean,
  ): Promise<void> {
    const message = textOf(result);
    const entries = group.map(preview => ledgerEntry(preview, request, outcome, message));
    // What happened has happened: a log that cannot be written is reported by the store and changes no outcome.
    await this.#store.endResolving(entries, group, final).catch(() => undefined);
  }
}

/** A vote is on the revision that was seen. */
function refuseOutdated(preview: Preview, seen: number | undefined): void {
  if (seen !== undefined && seen !== preview.revision) throw new ToolError(revisedText(preview, seen));
}

/** Conflict markers that rebasing left must not land. */
function refuseConflicts(group: readonly Preview[]): void {
  for (const preview of group) {
    const paths = conflictPaths(preview.changes ?? []);
    if (paths.length > 0) throw new ToolError(unsettledText(preview, paths));
  }
}

function ledgerEntry(
  preview: Preview,
  { action, actor, reason, extra, signal }: ResolveRequest,
  outcome: LedgerEntry['outcome'],
  message: string,
): LedgerEntry {
  const hunks = preview.part?.hunks;
  return {
    previewId: preview.id,
    label: preview.label,
    sourceToolName: preview.sourceToolName,
    action,
    actor,
    reason,
    ...(extra ? { extra: storable(extra) } : {}),
    outcome,
    message,
    ...(signal?.aborted ? { interrupted: true } : {}),
    ...(preview.details === undefined ? {} : { details: preview.details }),
    at: new Date().toISOString(),
    ...(hunks === undefined || outcome === 'failed'
      ? {}
      : { hunks: { applied: action === 'apply' ? hunks : 0, refused: action === 'apply' ? 0 : hunks } }),
    files: ledgerFiles(preview),
  };
}

/** A record in any case: a log line that cannot be read would count as a resolution that never came. */
function storable(extra: Record<string, unknown>): Record<string, unknown> {
  const safe = jsonSafe(extra);
  const isRecord = typeof safe === 'object' && safe !== null && !Array.isArray(safe);
  return isRecord ? (safe as Record<string, unknown>) : { value: safe };
}

function withDetails(result: AgentToolResult, request: ResolveRequest, preview: Preview): AgentToolResult {
  const { action, reason, extra } = request;
  const { sourceToolName, label } = preview;
  const base = { action, reason, ...(extra ? { extra } : {}), sourceToolName, label };
  return { ...result, details: resolveDetails(base, result.details) };
}

/** The details of a resolve, with those of the callback moved whole into `sourceResultDetails` if there are any. */
export function resolveDetails(
  base: Omit<ResolveDetails, 'sourceResultDetails'>,
  sourceResultDetails: unknown,
): ResolveDetails {
  return sourceResultDetails === undefined || sourceResultDetails === null
    ? base
    : { ...base, sourceResultDetails };
}
