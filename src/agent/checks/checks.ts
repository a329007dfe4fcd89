import { untilAborted } from '../base/abort.ts';
import type { Disposable } from '../base/disposable.ts';
import { DisposableStore } from '../base/disposable.ts';
import { detailOf, messageOf } from '../base/errors.ts';
import { Emitter, type Event } from '../base/event.ts';
import { sha256 } from '../base/hash.ts';
import type { Logger } from '../base/logger.ts';
import type { CommandPlan } from '../commands/commandPlan.ts';
import { OutputBuffer } from '../commands/outputBuffer.ts';
import type { Sandboxes, SandboxStatus } from '../commands/sandbox.ts';
import type { CheckMark } from '../preview/checkMark.ts';
import type { CheckFact } from '../preview/ledger.ts';
import { contentsAfter } from '../preview/overlay.ts';
import { pathsOf, revisionsOf, type Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { hasConflict } from '../preview/rebase/conflictMarkers.ts';
import type { Proof, Prover } from '../preview/resolve/proof.ts';
import type { FolderRoot, Workspace } from '../preview/workspace.ts';
import { globMatcher } from '../tools/ast/scope/glob.ts';
import {
  factOfResult,
  type Check,
  type CheckResult,
  type ChecksReport,
  type NotRunReason,
  type SeenFiles,
} from './check.ts';
import { outputProblems } from './outputProblems.ts';

/** The most results that are kept; the oldest go first. */
const MAX_RESULTS = 200;
/** How long file events are collected before results are compared with the files again, in milliseconds. */
const SETTLE = 150;
/** The sandbox of all checks where one more costs nothing: what commands leave in theirs must not make a check pass. */
const OWN_SANDBOX = 'checks';

export interface ChecksOptions {
  readonly store: PreviewStore;
  readonly workspace: Pick<Workspace, 'read'> & {
    folderRoots(): readonly FolderRoot[];
    /** Workspace paths of documents with unsaved changes. */
    unsaved(): readonly string[];
  };
  /** Stands for all files but those at these workspace paths: see `folderState`. */
  readonly stateOf: (except: ReadonlySet<string>, signal?: AbortSignal) => Promise<string | undefined>;
  readonly sandboxes: Sandboxes;
  readonly isTrusted: () => boolean;
  /** Those of the settings, in their order; names are unique. */
  readonly checks: () => readonly Check[];
  readonly plan: (command: string, folder: string | undefined) => Promise<CommandPlan>;
  /** Fires when a file on disk, a document or a setting may have changed. */
  readonly onDidChangeFiles: Event<void>;
  readonly logger: Logger;
}

/** Who asks for a run: only a person may start one where the sandbox is not isolated. */
export type AskedBy = 'human' | 'other';

interface Running {
  readonly check: Check;
  readonly previews: readonly Preview[];
  readonly controller: AbortController;
  readonly output: OutputBuffer;
  readonly startedAt: number;
}

/**
 * Runs the checks of the settings on pending previews and keeps their results. A result is about the files that it saw: from the
 * moment that one of them, or a preview, has changed it is no longer current. One check runs at a time; one that has been
 * overtaken by a change of its previews is ended.
 */
export class Checks implements Prover, Disposable {
  readonly #options: ChecksOptions;
  #results: readonly CheckResult[] = [];
  /** Ids of the results that nothing is known to have outdated. */
  #current: ReadonlySet<string> = new Set();
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;
  readonly #changed = new Emitter<void>();
  readonly #owned = new DisposableStore();

  /** Fires when a mark may have changed. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(options: ChecksOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(options.onDidChangeFiles(() => this.#lookAgain()));
    this.#owned.add({ dispose: () => clearTimeout(this.#timer) });
  }

  /** Whether checks are set at all. */
  get hasChecks(): boolean {
    return this.#options.checks().length > 0;
  }

  /** Whether checks may run without a person's click. */
  async mayRunByThemselves(): Promise<boolean> {
    const { isTrusted, sandboxes } = this.#options;
    return this.hasChecks && isTrusted() && (await sandboxes.status()).isolated;
  }

  /** The pending previews of a conversation as applying all of them would leave it: without those that cannot be applied. */
  checkable(sessionId: string | undefined): readonly Preview[] {
    const { store } = this.#options;
    const chosen = new Map<string, Preview>();
    for (const preview of store.list('oldestFirst'))
      if (
        preview.origin?.sessionId === sessionId &&
        isCheckable(preview) &&
        store.blockersOf(preview).every(({ id }) => chosen.has(id))
      )
        chosen.set(preview.id, preview);
    return [...chosen.values()];
  }

  /** A preview after those that it builds on. */
  withBase(preview: Preview): readonly Preview[] {
    return [...this.#options.store.blockersOf(preview), preview];
  }

  /**
   * Runs checks on the files as they would be with exactly these previews applied; those that have a current result on them are not
   * run again.
   * @param previews in the order in which they are written.
   * @param names by default all.
   */
  async run(
    previews: readonly Preview[],
    by: AskedBy,
    { names, signal }: { readonly names?: readonly string[] | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<ChecksReport> {
    const checks = this.#options.checks().filter(({ name }) => names === undefined || names.includes(name));
    const results: CheckResult[] = [];
    const notRun: { name: string; why: NotRunReason }[] = [];
    for (const check of checks) {
      const why = await this.#whyNot(check, previews, by);
      if (why) notRun.push({ name: check.name, why });
      else {
        // A person who asks again wants to see it run.
        const known = by === 'human' ? undefined : await this.#known(check, previews, signal);
        results.push(known ?? (await this.#runNext(check, previews, signal)));
      }
    }
    return { results, notRun };
  }

  async prove(previews: readonly Preview[], signal?: AbortSignal): Promise<Proof> {
    const { results, notRun } = await this.run(previews, 'other', signal ? { signal } : {});
    const checks = results.map(factOfResult);
    const unproved = (why: Extract<Proof, { isProved: false }>['why']): Proof => ({
      isProved: false,
      why,
      checks,
    });
    if (notRun.some(({ why }) => why !== 'notConcerned')) return unproved('cannotRun');
    if (results.some(({ outcome }) => outcome !== 'passed')) return unproved('failed');
    if (results.length === 0) return unproved('noChecks');
    // At the last moment, and for all of them: the first ran minutes before the last, perhaps.
    const current = await Promise.all(results.map(result => this.#isAbout(result, previews, signal)));
    return current.every(Boolean) ? { isProved: true, checks } : unproved('changed');
  }

  factsOf(previews: readonly Preview[]): readonly CheckFact[] {
    const newest = new Map<string, CheckResult>();
    for (const result of this.#results)
      if (this.#current.has(result.id) && hasAll(result.previews, previews)) newest.set(result.name, result);
    return [...newest.values()].map(result => {
      const together = othersIn(Object.keys(result.previews), previews);
      return { ...factOfResult(result), ...(together.length > 0 ? { together } : {}) };
    });
  }

  /** What is known of the checks on these previews: for each the newest result that saw all of them, a current one first. */
  marksOf(previews: readonly Preview[]): readonly CheckMark[] {
    if (previews.length === 0) return [];
    return this.#options.checks().flatMap(({ name }) => {
      const running = this.#running;
      if (running?.check.name === name && hasAll(revisionsOf(running.previews), previews))
        return [markOfRunning(running, previews)];
      const seen = this.#results.filter(
        result => result.name === name && hasAll(result.previews, previews, false),
      );
      const result = seen.findLast(({ id }) => this.#current.has(id)) ?? seen.at(-1);
      return result ? [this.#markOf(result, previews)] : [];
    });
  }

  /** The output of a result, or of the check that runs; `undefined` if it is no longer kept. */
  resultOf(id: string): CheckResult | undefined {
    return this.#results.find(result => result.id === id);
  }

  isCurrent(id: string): boolean {
    return this.#current.has(id);
  }

  /** All results that are kept, the oldest first. */
  get results(): readonly CheckResult[] {
    return this.#results;
  }

  /** The name of the check that runs now. */
  get running(): string | undefined {
    return this.#running?.check.name;
  }

  /** Ends the check that runs. */
  stop(): void {
    this.#running?.controller.abort();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.stop();
    this.#owned.dispose();
    this.#changed.dispose();
  }

  async #whyNot(check: Check, previews: readonly Preview[], by: AskedBy): Promise<NotRunReason | undefined> {
    const { isTrusted, sandboxes } = this.#options;
    if (!isTrusted()) return 'untrusted';
    if (check.files !== undefined && previews.length > 0) {
      const matches = await globMatcher([check.files]);
      if (!previews.flatMap(pathsOf).some(matches)) return 'notConcerned';
    }
    if (!check.isApproved) return 'notApproved';
    const { engine, isolated } = await sandboxes.status();
    if (!engine) return 'noSandbox';
    return isolated || by === 'human' ? undefined : 'notIsolated';
  }

  /** A result that is about exactly these previews and the files as they are. */
  async #known(
    { name, command }: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
  ): Promise<CheckResult | undefined> {
    const last = this.#results.findLast(
      result => result.name === name && result.command === command && hasAll(result.previews, previews),
    );
    if (!last || (last.outcome !== 'passed' && last.outcome !== 'failed')) return undefined;
    return (await this.#isAbout(last, previews, signal)) ? last : undefined;
  }

  #runNext(
    check: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
  ): Promise<CheckResult> {
    const run = this.#last.then(() => this.#run(check, previews, signal));
    this.#last = run.catch(() => undefined);
    return untilAborted(signal, () => run);
  }

  async #run(
    check: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
  ): Promise<CheckResult> {
    const { logger, sandboxes } = this.#options;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const limit = AbortSignal.timeout(check.timeLimit * 1_000);
    const ending = AbortSignal.any([controller.signal, limit, ...(signal ? [signal] : [])]);
    const output = new OutputBuffer();
    this.#running = { check, previews, controller, output, startedAt: Date.now() };
    if (this.#isDisposed || !this.#isAsSeen(previews)) controller.abort();
    this.#changed.fire();
    let exitCode: number | undefined;
    let saw: SeenFiles | undefined;
    let folder = '';
    let outcome: CheckFact['outcome'];
    let status: SandboxStatus = { engine: undefined, isolated: false };
    try {
      ending.throwIfAborted();
      status = await sandboxes.status();
      const before = await this.#seenWith(previews, ending);
      const planned = await this.#options.plan(check.command, check.cwd);
      const plan = { ...planned, timeLimit: check.timeLimit };
      folder = plan.folder;
      const id = status.engine === 'copy' ? (previews.at(-1)?.origin?.sessionId ?? OWN_SANDBOX) : OWN_SANDBOX;
      const sandbox = await sandboxes.of(id);
      if (!sandbox) throw new Error('There is no sandbox any more.');
      const end = await sandbox.run(plan, contentsAfter(previews), {
        signal: ending,
        add: chunk => {
          output.add(chunk);
          this.#changed.fire();
        },
      });
      ending.throwIfAborted();
      exitCode = end.exitCode;
      outcome = exitCode === 0 ? 'passed' : 'failed';
      const after = before && (await this.#seenWith(previews));
      saw = before && after && isSame(before, after) ? after : undefined;
    } catch (error) {
      outcome = !ending.aborted ? 'notRun' : ending.reason === limit.reason ? 'timedOut' : 'stopped';
      if (!ending.aborted) {
        logger.error(`The check ${check.name} could not be run: ${detailOf(error)}`);
        output.add(messageOf(error));
      }
    }
    const startedAt = this.#running.startedAt;
    this.#running = undefined;
    const text = output.text();
    const isFailure = outcome === 'failed' || outcome === 'timedOut';
    const result: CheckResult = {
      id: `c${++this.#count}`,
      name: check.name,
      command: check.command,
      previews: revisionsOf(previews),
      saw,
      outcome,
      ...(exitCode === undefined ? {} : { exitCode }),
      seconds: Math.round((Date.now() - startedAt) / 100) / 10,
      at: new Date().toISOString(),
      engine: status.engine ?? 'copy',
      isolated: status.isolated,
      output: text,
      problems: isFailure ? outputProblems(text, folder, this.#options.workspace.folderRoots()) : [],
    };
    if (this.#isDisposed) return result;
    this.#results = [...this.#results, result].slice(-MAX_RESULTS);
    if (saw && this.#isAsSeen(previews)) this.#current = new Set([...this.#current, result.id]);
    this.#changed.fire();
    signal?.throwIfAborted();
    return result;
  }

  /** Whether these previews still are what they were: at the same revision, and not discarded. */
  #isAsSeen(previews: readonly Preview[]): boolean {
    return previews.every(({ id, revision }) => {
      const now = this.#options.store.get(id);
      return now?.revision === revision && now.state.kind !== 'discarded' && now.state.kind !== 'expired';
    });
  }

  /** What a check would see with these previews applied; `undefined` if it cannot be told. */
  async #seenWith(previews: readonly Preview[], signal?: AbortSignal): Promise<SeenFiles | undefined> {
    const { workspace } = this.#options;
    // What is typed and not saved is on no disk.
    if (workspace.unsaved().length > 0) return undefined;
    const pending = contentsAfter(previews);
    const paths = pending.paths();
    const rest = await this.#options.stateOf(new Set(paths), signal);
    if (rest === undefined || workspace.unsaved().length > 0) return undefined;
    return { rest, contents: Object.fromEntries(paths.map(at => [at, pending.at(at)?.side?.hash ?? null])) };
  }

  /** Whether the result is about the files as they would be with exactly these previews applied, all of which it saw. */
  async #isAbout(
    { previews: seen, saw }: CheckResult,
    previews: readonly Preview[],
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { workspace } = this.#options;
    if (!saw || !hasAll(seen, previews) || !this.#isAsSeen(previews) || workspace.unsaved().length > 0)
      return false;
    const pending = contentsAfter(previews);
    for (const [at, hash] of Object.entries(saw.contents)) {
      const planned = pending.at(at);
      if ((planned ? (planned.side?.hash ?? null) : await this.#hashOf(at)) !== hash) return false;
    }
    const rest = await this.#options.stateOf(new Set(Object.keys(saw.contents)), signal);
    return rest === saw.rest && this.#isAsSeen(previews) && workspace.unsaved().length === 0;
  }

  async #hashOf(path: string): Promise<string | null | undefined> {
    try {
      const bytes = await this.#options.workspace.read(path);
      return bytes ? sha256(bytes) : null;
    } catch {
      return undefined;
    }
  }

  #follow(preview: Preview): void {
    const running = this.#running;
    if (running && !this.#isAsSeen(running.previews)) running.controller.abort();
    if (this.#results.some(({ previews }) => preview.id in previews)) {
      const revisions = { [preview.id]: preview.revision };
      const isGone = preview.state.kind === 'discarded' || preview.state.kind === 'expired';
      const outdated = this.#results.filter(
        ({ previews }) =>
          preview.id in previews && (isGone || previews[preview.id] !== revisions[preview.id]),
      );
      this.#outdate(outdated);
    }
    this.#lookAgain();
  }

  #outdate(results: readonly CheckResult[]): void {
    const gone = new Set(results.map(({ id }) => id));
    const current = [...this.#current].filter(id => !gone.has(id));
    if (current.length === this.#current.size) return;
    this.#current = new Set(current);
    this.#changed.fire();
  }

  /** Compares the results with the files again, soon. What is typed outdates them at once. */
  #lookAgain(): void {
    if (this.#results.length === 0) return;
    if (this.#options.workspace.unsaved().length > 0) this.#outdate(this.#results);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), SETTLE);
  }

  /** Finds out which results are about the files as they are now. A result becomes current again if what it saw is back. */
  async refresh(): Promise<void> {
    const { store } = this.#options;
    const newest = new Map<string, CheckResult>();
    for (const result of this.#results)
      newest.set(`${result.name} ${JSON.stringify(result.previews)}`, result);
    const current = new Set<string>();
    for (const result of newest.values()) {
      const pending = Object.keys(result.previews)
        .flatMap(id => store.get(id) ?? [])
        .filter(({ state }) => state.kind === 'pending' || state.kind === 'applying');
      if (!this.#mayBeCurrent(result)) continue;
      if (await this.#isAbout(result, pending).catch(() => false)) current.add(result.id);
    }
    if (this.#isDisposed) return;
    if (current.size === this.#current.size && [...current].every(id => this.#current.has(id))) return;
    this.#current = current;
    this.#changed.fire();
  }

  /** Without a look at the disk: whether each preview that it saw is still pending as it was, or applied as it was. */
  #mayBeCurrent({ previews, saw }: CheckResult): boolean {
    return (
      saw !== undefined &&
      Object.entries(previews).every(([id, revision]) => {
        const now = this.#options.store.get(id);
        return now?.revision === revision && now.state.kind !== 'discarded' && now.state.kind !== 'expired';
      })
    );
  }

  /** Whether it has both passed and failed on the same files. */
  #isFlaky({ name, command, saw, outcome }: CheckResult): boolean {
    return this.#results.some(
      other =>
        other.name === name &&
        other.command === command &&
        other.outcome !== outcome &&
        (other.outcome === 'passed' || other.outcome === 'failed') &&
        (outcome === 'passed' || outcome === 'failed') &&
        saw !== undefined &&
        other.saw !== undefined &&
        isSame(saw, other.saw),
    );
  }

  #markOf(result: CheckResult, previews: readonly Preview[]): CheckMark {
    const { id, name, outcome, seconds, exitCode, problems } = result;
    return {
      name,
      state: outcome,
      isCurrent: this.#current.has(id),
      seconds,
      ...(exitCode === undefined ? {} : { exitCode }),
      problems: problems.length,
      isFlaky: this.#isFlaky(result),
      resultId: id,
      together: othersIn(Object.keys(result.previews), previews),
    };
  }
}

function markOfRunning(
  { check, previews: seen, startedAt }: Running,
  previews: readonly Preview[],
): CheckMark {
  return {
    name: check.name,
    state: 'running',
    isCurrent: true,
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    problems: 0,
    isFlaky: false,
    together: othersIn(
      seen.map(({ id }) => id),
      previews,
    ),
  };
}

function othersIn(ids: readonly string[], previews: readonly Preview[]): readonly string[] {
  const own = new Set(previews.map(({ id }) => id));
  return ids.filter(id => !own.has(id));
}

/** Whether these previews are among those that were seen, at the same revision unless that does not matter. */
function hasAll(
  seen: Readonly<Record<string, number>>,
  previews: readonly Preview[],
  atRevision = true,
): boolean {
  return previews.every(({ id, revision }) => (atRevision ? seen[id] === revision : Object.hasOwn(seen, id)));
}

function isCheckable({ kind, state, changes }: Preview): boolean {
  return (
    kind === 'files' &&
    state.kind === 'pending' &&
    state.stale.length === 0 &&
    !changes.some(change => hasConflict(change))
  );
}

function isSame(one: SeenFiles, other: SeenFiles): boolean {
  return one.rest === other.rest && JSON.stringify(one.contents) === JSON.stringify(other.contents);
}
