import { untilAborted } from '../../base/abort.ts';
import { BlockedPreviewError, factOf, messageOf, StalePreviewError, ToolError } from '../../base/errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import { commitChanges, type CommitFiles } from '../commit/commitChanges.ts';
import { ledgerEntry, type Outcome } from '../ledger.ts';
import { resultOf, textOf, textResult, type AgentToolResult, type PendingAction } from '../pendingAction.ts';
import {
  nameOf,
  pathsOf,
  type Actor,
  type CallRef,
  type Preview,
  type ResolveAction,
  type SeenRevisions,
} from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { modelMay, type ModelAuthority } from '../resolveSettings.ts';
import type { FolderRoot } from '../workspace.ts';
import { ActiveResolutions } from './activeResolutions.ts';
import { refuseConflicts, refuseElsewhere, refuseOutdated } from './refusals.ts';
import { resolveDetails } from './resolveDetails.ts';
import { alreadyResolvedText, appliedText, recommendedText, unknownPreviewText } from './resolveTexts.ts';

/** One vote on one preview: an attempt to apply or discard it. */
export interface ResolveRequest {
  readonly id: string;
  /** The revision that was seen; a vote on an older one is refused. Defaults to the current one. */
  readonly revision?: number;
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly actor: Actor;
  /** The tool call with which the model votes. */
  readonly call?: CallRef;
  /**
   * Applies these previews, which this one builds on, together with it in one transaction; each at the revision that was
   * seen. If it builds on any other pending preview, the vote is refused.
   */
  readonly chain?: SeenRevisions;
  /** The conversation was reverted to before the preview was staged: then the model may discard it, too, unless plan mode is on. */
  readonly isAbandoned?: boolean;
  /**
   * Asked at the last moment: whether a vote of the model is only to be recorded, whatever it may do otherwise, because plan
   * mode is on.
   */
  readonly isPlanning?: () => boolean;
  readonly signal?: AbortSignal;
}

type Callbacks = Pick<PendingAction, 'apply' | 'reject'>;

/** The parts of the workspace that resolving uses. */
export interface ResolvingFiles extends CommitFiles {
  /**
   * Whether only the user may apply a change of one of these files, in every mode. All names of a file count: the given path,
   * its real path, and paths through links.
   */
  isProtected(paths: readonly string[]): Promise<boolean>;
  /** Those of the workspace paths that led elsewhere while these folders were open, and where: absolute paths. */
  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string>;
  /** The folders that are open now. */
  folderRoots(): readonly FolderRoot[];
}

/**
 * The one place where previews are resolved, whoever votes. It guarantees that no callback runs twice at once or again
 * after success, that what is written is what the preview shows, and that every attempt is in the ledger.
 */
export class Invoker {
  readonly #store: PreviewStore;
  readonly #workspace: ResolvingFiles;
  readonly #authority: () => ModelAuthority;
  readonly #callbacks = new Map<string, Callbacks>();
  /** Why these previews cannot be resolved after the attempt in progress: their producer went away, for example. */
  readonly #orphaned = new Map<string, string | undefined>();
  readonly #resolutions = new ActiveResolutions();
  readonly #applyFailed = new Emitter<Preview>();

  /** Fires when a preview is pending again after a failed apply, so that its directive and reminder can be renewed. */
  readonly onDidFailApply: Event<Preview> = this.#applyFailed.event;

  constructor(store: PreviewStore, workspace: ResolvingFiles, authority: () => ModelAuthority) {
    this.#store = store;
    this.#workspace = workspace;
    this.#authority = authority;
  }

  /** The folders that are open now, which previews remember. */
  get roots(): readonly FolderRoot[] {
    return this.#workspace.folderRoots();
  }

  /** Keeps the callbacks of a preview that was just staged. */
  attach(id: string, callbacks: Callbacks): void {
    this.#callbacks.set(id, callbacks);
  }

  /**
   * Expires an opaque preview whose producer is gone, so that it can no longer be applied. One that is being resolved expires
   * only if that attempt fails. Does nothing for a preview that Redline writes itself, or one that is already resolved.
   * @param reason why, in a sentence.
   */
  expire(id: string, reason?: string): void {
    const preview = this.#store.get(id);
    if (!preview || preview.kind === 'files') return;
    if (preview.state.kind === 'applying') this.#orphaned.set(id, reason);
    if (preview.state.kind !== 'pending') return;
    this.#callbacks.delete(id);
    void this.#store.expire(id, reason);
  }

  /**
   * Resolves a preview, or says why not. If it was already resolved, the result tells by whom, how and why; if it is being
   * resolved right now, the result tells the same once that has ended.
   * @throws ToolError for an unknown id, an older revision, a failed apply (the preview is pending again, or has expired if its producer is gone), or a vote that
   *   would deadlock because the attempt in progress waits for it; the abort error when `signal` fires, while a callback that
   *   has started still runs to completion and is recorded.
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
        await this.#resolutions.waitFor(preview, request.signal);
        return withDetails(this.#tooLate(this.#store.get(preview.id) ?? preview, request), request, preview);
      case 'pending':
        break;
    }
    refuseOutdated(preview, request.revision);
    let isProtected = false;
    if (this.#dependsOnFiles(request, preview)) {
      isProtected = await this.#workspace.isProtected(pathsOf(preview));
      request.signal?.throwIfAborted();
      // The preview may have changed meanwhile; the answer is about its old content.
      if (this.#store.get(preview.id) !== preview) return this.#resolve(request);
    }
    if (this.#isRecommendation(request, preview, isProtected)) {
      await this.#store.recommend(preview.id, request.action, request.reason);
      const text = recommendedText(preview, request.isPlanning?.() === true ? request.action : undefined);
      return withDetails(textResult(text, { recommended: preview.id }), request, preview);
    }
    const group = this.#group(preview, request);
    if (request.action === 'apply') refuseConflicts(group);
    const ids = group.map(({ id }) => id);
    return this.#resolutions.run(ids, () => this.#run(preview, group, request));
  }

  /** Answers a vote on a preview that is no longer pending. */
  #tooLate(preview: Preview, { actor }: ResolveRequest): AgentToolResult {
    const last = this.#store.ledger().findLast(({ previewId }) => previewId === preview.id);
    return textResult(alreadyResolvedText(preview, actor, last), { alreadyResolved: preview.id });
  }

  /** Whether the vote is only recorded as a recommendation, since the model may not resolve this by itself. */
  #isRecommendation(
    { actor, action, isAbandoned, isPlanning }: ResolveRequest,
    preview: Preview,
    isProtected: boolean,
  ): boolean {
    if (actor !== 'model') return false;
    if (isPlanning?.()) return true;
    if (isAbandoned && action === 'discard') return false;
    return modelMay(this.#authority(), action, preview, isProtected) === 'recommend';
  }

  /** Whether the vote is executed only if no file of the preview is protected. */
  #dependsOnFiles(request: ResolveRequest, preview: Preview): boolean {
    return (
      preview.kind === 'files' &&
      !this.#isRecommendation(request, preview, false) &&
      this.#isRecommendation(request, preview, true)
    );
  }

  /** The previews that are resolved together, in the order in which they are written; the last is the requested one. */
  #group(preview: Preview, { action, chain = {} }: ResolveRequest): readonly Preview[] {
    const blockers = action === 'apply' ? this.#store.blockersOf(preview) : [];
    const mayCommit = blockers.every(
      ({ id, state, kind }) => Object.hasOwn(chain, id) && state.kind === 'pending' && kind === 'files',
    );
    if (!mayCommit) {
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
      await this.#end(group, request, outcomeOf(request.action, result), result);
      return withDetails(result, request, preview);
    } catch (error) {
      const recorded = this.#end(group, request, 'failed', textResult(factOf(error)));
      if (error instanceof StalePreviewError) this.#markStale(group, error.paths);
      this.#expireOrphans(group);
      // Synchronously with becoming pending again, so that no request is made in between.
      if (request.action === 'apply') this.#tellFailure(group);
      await recorded;
      if (request.action === 'discard') throw error;
      throw error instanceof ToolError ? error : new ToolError(`Apply failed: ${messageOf(error)}`);
    }
  }

  #expireOrphans(group: readonly Preview[]): void {
    for (const { id } of group) {
      const reason = this.#orphaned.get(id);
      if (this.#orphaned.delete(id)) this.expire(id, reason);
    }
  }

  #tellFailure(group: readonly Preview[]): void {
    for (const { id } of group) {
      const preview = this.#store.get(id);
      if (preview?.state.kind === 'pending') this.#applyFailed.fire(preview);
    }
  }

  #markStale(group: readonly Preview[], paths: readonly string[]): void {
    for (const preview of group) {
      const own = new Set(pathsOf(preview));
      const stale = paths.filter(path => own.has(path));
      if (stale.length > 0) void this.#store.markStale(preview.id, stale);
    }
  }

  async #apply(
    preview: Preview,
    group: readonly Preview[],
    request: ResolveRequest,
  ): Promise<AgentToolResult> {
    const { reason, extra } = request;
    refuseElsewhere(group, this.#workspace);
    if (preview.kind === 'files') {
      const { unsaved } = await commitChanges(
        this.#workspace,
        group.flatMap(({ changes }) => changes ?? []),
        rollback =>
          this.#store.beginCommit(
            group.map(({ id }) => id),
            rollback,
            request,
          ),
      );
      return textResult(appliedText(group, reason, unsaved));
    }
    const apply = this.#callbacks.get(preview.id)?.apply;
    if (!apply) throw new ToolError(`${nameOf(preview)} has no action to apply. Discard it.`);
    // Awaited only if it must be, so that no abort comes in between.
    const writing = this.#store.beginAction(preview.id, request);
    if (writing) await writing;
    const answer: unknown = await this.#resolutions.call(preview.id, () => apply(reason, extra));
    return resultOf(answer, appliedText([preview], reason, []));
  }

  async #reject(preview: Preview, { reason, extra }: ResolveRequest): Promise<AgentToolResult> {
    const reject = this.#callbacks.get(preview.id)?.reject;
    const answer: unknown = reject && (await this.#resolutions.call(preview.id, () => reject(reason, extra)));
    return resultOf(answer, `Discarded: ${preview.label}. Reason: ${reason}`);
  }

  async #end(
    group: readonly Preview[],
    request: ResolveRequest,
    outcome: Outcome,
    result: AgentToolResult,
  ): Promise<void> {
    const message = textOf(result);
    const vote = { ...request, interrupted: request.signal?.aborted === true };
    const entries = group.map(preview => ledgerEntry(preview, vote, outcome, message));
    await this.#store.endResolving(entries, group);
  }
}

/** An apply that completed is final, even if it returned an error. */
function outcomeOf(action: ResolveAction, { isError }: AgentToolResult): Outcome {
  if (action === 'discard') return 'discarded';
  return isError === true ? 'returnedError' : 'applied';
}

function withDetails(result: AgentToolResult, request: ResolveRequest, preview: Preview): AgentToolResult {
  const { action, reason, extra } = request;
  const { sourceToolName, label } = preview;
  const base = { action, reason, ...(extra ? { extra } : {}), sourceToolName, label };
  return { ...result, details: resolveDetails(base, result.details) };
}
