import { Turns, untilAborted } from '../../../base/async.ts';
import { factOf, messageOf, ToolError } from '../../../base/errors.ts';
import { BlockedPreviewError, StalePreviewError } from '../errors.ts';
import { Emitter, type Event } from '../../../base/event.ts';
import { isVoteOnSet } from '../changeSet.ts';
import type { LoadEditors } from '../commit/landed/editors.ts';
import { ledgerEntry, type CheckFact, type LedgerVote, type Outcome, type Vote } from '../ledger.ts';
import { pathsOf, type Preview, type SeenRevisions } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { modelMay, type ModelAuthority } from '../resolveSettings.ts';
import type { FolderRoot } from '../workspace.ts';
import { ActiveResolutions } from './activeResolutions.ts';
import { CallbackEffect, FilesEffect, type Callbacks } from './effects.ts';
import { NO_CHECKS, type Prover, type Unproved } from './proof.ts';
import {
  knownPreview,
  lookOf,
  makesLink,
  refuseConflicts,
  refuseElsewhere,
  refuseOutdated,
  type Look,
  type ResolvingFiles,
} from './refusals.ts';
import { resolvedText, type Resolved, type ResolveRequest } from './resolved.ts';

/**
 * The one place where previews are resolved, no matter who votes; a vote on a part enters through `resolvePart`. It guarantees that
 * no callback runs twice at once or again after it has completed, that only the shown changes are written, and that every attempt is
 * in the ledger. A vote refused before its attempt begins (outdated, blocked, with conflicts, or on a stale part) is not there.
 */
export class Invoker {
  readonly #store: PreviewStore;
  readonly #workspace: ResolvingFiles;
  readonly #authority: () => ModelAuthority;
  readonly #checks: Prover;
  /** Previews that cannot be resolved after the attempt in progress, with the reason: their producer went away, for example. */
  readonly #orphaned = new Map<string, string | undefined>();
  readonly #resolutions = new ActiveResolutions();
  /** The files that an apply writes, until the ledger has its end. */
  readonly #writes = new Turns();
  readonly #files: FilesEffect;
  readonly #callbacks: CallbackEffect;
  readonly #applyFailed = new Emitter<Preview>();

  /**
   * Fires when a preview is pending again after an apply that failed or did not stay, so that its directive and reminder can be
   * renewed.
   */
  readonly onDidFailApply: Event<Preview> = this.#applyFailed.event;

  constructor(
    store: PreviewStore,
    workspace: ResolvingFiles,
    authority: () => ModelAuthority,
    checks: Prover = NO_CHECKS,
    editors?: LoadEditors,
  ) {
    this.#store = store;
    this.#workspace = workspace;
    this.#authority = authority;
    this.#checks = checks;
    this.#files = new FilesEffect(store, workspace, editors, preview => this.#tellFailure([preview]));
    this.#callbacks = new CallbackEffect(store, this.#resolutions);
  }

  /** The folders that are open now, which previews remember. */
  get roots(): readonly FolderRoot[] {
    return this.#workspace.folderRoots();
  }

  /** Keeps the callbacks of a preview that was just staged. */
  attach(id: string, callbacks: Callbacks): void {
    this.#callbacks.attach(id, callbacks);
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
    this.#callbacks.detach(id);
    void this.#store.expire(id, reason);
  }

  /**
   * Whether only the user can apply the preview, in every mode: it runs something, or one of its files is protected. For texts, not
   * for decisions: a link made in the last half minute may not count.
   */
  async isUsersAlone(preview: Preview): Promise<boolean> {
    const isFiles = preview.kind === 'files';
    return preview.humanOnly === true || (isFiles && (await this.#isProtected(preview, 'lately')));
  }

  /** Whether only the user may apply its files: one of them is protected, or becomes a link. */
  async #isProtected(preview: Preview, look: Look): Promise<boolean> {
    return makesLink(preview) || (await this.#workspace.isProtected(pathsOf(preview), look));
  }

  /**
   * Resolves a preview, or reports that it already was; if it is being resolved right now, reports that once the attempt has ended.
   * @throws ToolError for an unknown id, an older revision, a failed apply (the preview is pending again, or has expired if its
   *   producer is gone), or the vote of a callback on a preview that is being resolved; the abort error when `signal`
   *   fires, while a callback that has started still runs to completion and is recorded.
   */
  async resolve(request: ResolveRequest): Promise<Resolved> {
    return untilAborted(request.signal, () => this.#resolve(request));
  }

  async #resolve(request: ResolveRequest): Promise<Resolved> {
    const preview = knownPreview(this.#store, request.id);
    switch (preview.state.kind) {
      case 'applied':
      case 'discarded':
      case 'expired':
        return this.#already(preview, request);
      case 'applying':
        // Another attempt may begin as soon as this one has failed.
        while (this.#resolutions.isActive(request.id))
          await this.#resolutions.waitFor(preview, request.signal);
        return this.#already(knownPreview(this.#store, request.id), request);
      case 'pending':
        break;
    }
    refuseOutdated(preview, request.revision);
    let isProtected = false;
    if (this.#dependsOnFiles(request, preview)) {
      isProtected = await this.#isProtected(preview, lookOf(request));
      request.signal?.throwIfAborted();
      // The preview may have changed meanwhile; the answer is about its old content.
      if (this.#store.get(preview.id) !== preview) return this.#resolve(request);
    }
    const ruling = this.#rulingOn(request, preview, { isProtected });
    // There is nothing that the user could apply.
    if (ruling !== 'execute' && request.action === 'apply' && preview.state.stale.length > 0)
      throw await this.#withItsCause(new StalePreviewError(preview.state.stale), [preview]);
    if (ruling === 'recommend') {
      await this.#recommend(preview, request);
      const { isPlanning, isUnread } = request;
      const why = { planning: isPlanning?.() === true, ...(isUnread ? { isUnread } : {}) };
      return { kind: 'recommended', vote: request, preview, ...why };
    }
    const chain =
      ruling === 'prove'
        ? { ...(await this.#votedBlockers(preview, request)), ...request.chain }
        : request.chain;
    const group = this.#group(preview, chain ? { ...request, chain } : request);
    if (request.action === 'apply') refuseConflicts(group);
    if (ruling === 'prove') return this.#resolveIfProved(request, preview, group);
    const checks = request.action === 'apply' ? this.#checks.factsOf(group) : [];
    return this.#start(preview, group, request, checks);
  }

  /**
   * Applies the group if the checks prove it; else the vote is a recommendation. It first tries the group with the previews that
   * the model has voted for before and that were not proved alone, and applies them all if they pass: a change and its tests often
   * pass only together. Of the previews that one vote names, all are applied or none.
   */
  async #resolveIfProved(
    request: ResolveRequest,
    preview: Preview,
    group: readonly Preview[],
  ): Promise<Resolved> {
    const { isLastToProve, provedAlone, withRecommended } = await import('./provedTogether.ts');
    const { voteOn = [], signal } = request;
    const mayProve = (each: Preview): Promise<boolean> => this.#mayProve(each, lookOf(request));
    const isNamed = ({ id }: Preview): boolean => id === preview.id || voteOn.includes(id);
    const isLast = await isLastToProve(preview, voteOn, this.#store, mayProve);
    const wider = await withRecommended(group, this.#store, mayProve);
    const named = await withRecommended(
      group,
      this.#store,
      async each => isNamed(each) && (await mayProve(each)),
    );
    let unproved: Unproved = { isProved: false, why: 'waits', checks: [], on: [preview], alone: [] };
    for (const tried of isLast ? (wider.length > named.length ? [wider, named] : [named]) : []) {
      const proof = await this.#checks.prove(tried, signal);
      const isFailed = !proof.isProved && proof.why === 'failed' && tried === named;
      const on = named.filter(isNamed);
      const alone = isFailed
        ? await provedAlone(on, this.#store, part => this.#checks.prove(part, signal))
        : [];
      const mayStill = await Promise.all(tried.map(mayProve));
      signal?.throwIfAborted();
      // The user may have decided, or changed the mode or what is protected, while the checks ran.
      const isSame = tried.every((each, n) => mayStill[n] && this.#store.get(each.id) === each);
      if (!isSame || this.#rulingOn(request, preview, { isProtected: false }) !== 'prove')
        return this.#resolve(request);
      if (proof.isProved) return this.#start(preview, tried, request, proof.checks);
      unproved = { ...proof, on, alone };
    }
    // The user may have been faster while files were looked at.
    if (this.#store.get(preview.id) !== preview) return this.#resolve(request);
    await this.#recommend(preview, request);
    return { kind: 'recommended', vote: request, preview, planning: false, unproved };
  }

  /** Records a recommendation; the reason of one vote on several previews of a change set is the set's. */
  #recommend(preview: Preview, { action, reason, voteOn = [], isUnread }: ResolveRequest): Promise<void> {
    const isOfSet = !isUnread && isVoteOnSet(preview, voteOn, id => this.#store.get(id));
    return this.#store.recommend(preview.id, {
      action,
      reason,
      ...(isOfSet ? { isOfSet } : {}),
      ...(isUnread ? { isUnread } : {}),
    });
  }

  async #votedBlockers(preview: Preview, request: ResolveRequest): Promise<SeenRevisions> {
    const { votedBlockers } = await import('./provedTogether.ts');
    return votedBlockers(preview, this.#store, each => this.#mayProve(each, lookOf(request)));
  }

  /** Whether the model may apply it if the checks prove it. */
  async #mayProve(preview: Preview, look: Look): Promise<boolean> {
    return (
      modelMay(this.#authority(), 'apply', preview, { isProtected: false }) === 'prove' &&
      !(await this.#isProtected(preview, look))
    );
  }

  #start(
    preview: Preview,
    group: readonly Preview[],
    request: ResolveRequest,
    checks: readonly CheckFact[],
  ): Promise<Resolved> {
    // Only its ledger entry ends a commit: until then it may roll files back, and its changes are not followed.
    const paths = request.action === 'apply' && preview.kind === 'files' ? group.flatMap(pathsOf) : [];
    return this.#resolutions.run(group, () => {
      for (const { id } of group) this.#store.beginResolving(id, request.action, request.actor);
      return this.#writes.run(paths, () => this.#run(preview, group, request, checks));
    });
  }

  /**
   * Refuses an apply of this preview, or of a part of it, for any reason that would refuse it before a write. If its base has
   * changed, it becomes stale; the ledger has no entry for that.
   * @throws ToolError that says why.
   */
  async assertApplicable(preview: Preview, request: ResolveRequest): Promise<void> {
    const group = this.assertUnblocked(preview, request);
    const changes = group.flatMap(each => each.changes ?? []);
    const { stalePaths } = await import('../commit/commitChanges.ts');
    const paths = await stalePaths(this.#workspace, changes);
    if (paths.length === 0) return;
    this.#markStale(group, paths);
    throw await this.#withItsCause(new StalePreviewError(paths), group);
  }

  /**
   * The part of {@link assertApplicable} that reads no file: refusals because of other previews, conflicts or other folders.
   * @returns all previews that would be applied together.
   * @throws ToolError that says why.
   */
  assertUnblocked(preview: Preview, request: ResolveRequest): readonly Preview[] {
    const group = this.#group(preview, request);
    refuseConflicts(group);
    refuseElsewhere(group, this.#workspace);
    return group;
  }

  /** Answers a vote on a preview that is no longer pending. */
  #already(preview: Preview, vote: Vote): Resolved {
    const last = this.#store.ledger().findLast(({ previewId }) => previewId === preview.id);
    return { kind: 'already', vote, preview, last };
  }

  /** Whether the vote is only recorded as a recommendation, since the model may not resolve this by itself, or needs a proof. */
  #rulingOn(
    { actor, action, isAbandoned, isPlanning, isGranted, isUnread }: ResolveRequest,
    preview: Preview,
    files: { readonly isProtected: boolean },
  ): ReturnType<typeof modelMay> {
    if (actor !== 'model') return 'execute';
    if (isPlanning?.()) return 'recommend';
    if (isUnread) return 'recommend';
    if (isGranted?.() || (isAbandoned && action === 'discard')) return 'execute';
    return modelMay(this.#authority(), action, preview, files);
  }

  /** Whether the vote is executed only if no file of the preview is protected. */
  #dependsOnFiles(request: ResolveRequest, preview: Preview): boolean {
    return (
      preview.kind === 'files' &&
      this.#rulingOn(request, preview, { isProtected: false }) !== 'recommend' &&
      this.#rulingOn(request, preview, { isProtected: true }) === 'recommend'
    );
  }

  /** The previews that are resolved together, in the order in which they are written; the last is the requested one. */
  #group(preview: Preview, { action, chain = {} }: ResolveRequest): readonly Preview[] {
    const blockers = action === 'apply' ? this.#store.open.blockersOf(preview) : [];
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

  async #run(
    preview: Preview,
    group: readonly Preview[],
    request: ResolveRequest,
    checks: readonly CheckFact[],
  ): Promise<Resolved> {
    try {
      const resolved =
        request.action === 'apply'
          ? await (preview.kind === 'files' ? this.#files : this.#callbacks).apply(group, request)
          : await this.#callbacks.reject(preview, request);
      for (const { id } of group) {
        this.#callbacks.detach(id);
        this.#orphaned.delete(id);
      }
      const unsaved = resolved.kind === 'applied' ? resolved.unsaved : [];
      const { answer } = resolved;
      await this.#end(group, { ...request, checks, answer }, resolved.kind, resolvedText(resolved), unsaved);
      return resolved;
    } catch (caught) {
      const error = caught instanceof StalePreviewError ? await this.#withItsCause(caught, group) : caught;
      const recorded = this.#end(group, request, 'failed', factOf(error));
      // In the tick in which they become pending again: a later event may wake the session, whose request must have the reminder.
      if (request.action === 'apply') this.#tellFailure(group);
      if (error instanceof StalePreviewError) this.#markStale(group, error.paths);
      this.#expireOrphans(group);
      await recorded;
      if (request.action === 'discard') throw error;
      throw error instanceof ToolError ? error : new ToolError(`Apply failed: ${messageOf(error)}`);
    }
  }

  async #withItsCause(error: StalePreviewError, group: readonly Preview[]): Promise<StalePreviewError> {
    const { withItsCause } = await import('./staleCause.ts');
    return withItsCause(error, group, this.#store, this.#workspace);
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

  /**
   * @param group the last may be only a part of its preview, whose other paths stay as they are.
   * @param paths the stale ones among those of the group.
   */
  #markStale(group: readonly Preview[], paths: readonly string[]): void {
    for (const preview of group) {
      const own = new Set(pathsOf(preview));
      const stale = paths.filter(path => own.has(path));
      const { state } = this.#store.get(preview.id) ?? preview;
      const others = state.kind === 'pending' ? state.stale.filter(path => !own.has(path)) : [];
      if (stale.length > 0) void this.#store.markStale(preview.id, [...stale, ...others].sort());
    }
  }

  async #end(
    group: readonly Preview[],
    request: ResolveRequest & Pick<LedgerVote, 'checks' | 'answer'>,
    outcome: Outcome,
    message: string,
    unsaved: readonly string[] = [],
  ): Promise<void> {
    const vote = { ...request, interrupted: request.signal?.aborted === true };
    const entries = group.map(preview => ledgerEntry(preview, vote, outcome, message, unsaved));
    await this.#store.endResolving(entries, group);
  }
}
