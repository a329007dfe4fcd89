import { Owner } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { CheckMark } from '../../hold/preview/previewView.ts';
import type { CheckFact } from '../../hold/preview/ledger.ts';
import { pathsOf, revisionsOf, type Preview } from '../../hold/preview/preview.ts';
import type { Proof, Prover } from '../../hold/preview/resolve/proof.ts';
import { isApplicable } from '../../hold/preview/resolve/refusals.ts';
import { globMatcher } from '../../hold/text/glob.ts';
import {
  factOfResult,
  isGreen,
  isSameEnd,
  type Check,
  type CheckResult,
  type ChecksReport,
  type NotRunReason,
} from './check.ts';
import { countFailures } from './report/testReport.ts';
import { CheckedFiles, hasAll, type CheckedFilesParts, type OneLook } from './checkedFiles.ts';
import { Baselines } from './baselines.ts';
import { markOf, markOfRunning, othersIn } from './checkMarks.ts';
import { firstFailure } from './firstFailure.ts';
import { CheckRunner, type CheckRunnerParts } from './checkRunner.ts';

/** The most results that are kept; the oldest go first. */
const MAX_RESULTS = 200;
/** How long file events are collected before results are compared with the files again, in milliseconds. */
const SETTLE = 150;

export interface ChecksOptions extends CheckedFilesParts, Omit<CheckRunnerParts, 'workspace' | 'store'> {
  readonly isTrusted: () => boolean;
  /** The checks in the settings, in their order; names are unique. */
  readonly checks: () => readonly Check[];
  /** Fires when a file on disk, a document or a setting may have changed. */
  readonly onDidChangeFiles: Event<void>;
}

/** Which checks are run, and how. */
export interface RunOptions {
  /** By default all. */
  readonly names?: readonly string[] | undefined;
  readonly signal?: AbortSignal;
  /** Whether a failed check is compared with the files as they are, which takes two more runs for each state of the files. */
  readonly compares?: boolean;
}

/** Who asks for a run: only a person may start one where the sandbox is not isolated. */
export type AskedBy = 'human' | 'other';

/**
 * Runs the checks of the settings on pending previews and keeps their results. A result is about the files that it saw: once one of
 * them, or a preview, changes, it is no longer current. One check runs at a time; it is ended when its previews change.
 */
export class Checks extends Owner implements Prover {
  readonly #options: ChecksOptions;
  readonly #files: CheckedFiles;
  readonly #runner: CheckRunner;
  readonly #baselines: Baselines;
  #results: readonly CheckResult[] = [];
  /** Ids of the results not known to be outdated. */
  #current: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  /** Settles once every comparison with the files that was begun or asked for has ended. */
  #compared: Promise<void> = Promise.resolve();
  /** The comparison that follows the one under way. */
  #next: Promise<void> | undefined;
  readonly #ended = new AbortController();
  readonly #changed = new Emitter<void>();

  /** Fires when a mark may have changed. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(options: ChecksOptions) {
    super();
    this.#options = options;
    this.#files = new CheckedFiles(options);
    this.#runner = new CheckRunner(options, this.#files);
    this.#baselines = new Baselines(this.#files, this.#runner);
    this.own(this.#runner);
    this.own(this.#runner.onDidChange(() => this.#changed.fire()));
    this.own(options.store.onDidChange(preview => this.#follow(preview)));
    this.own(options.onDidChangeFiles(() => this.#lookAgain()));
    this.own({ dispose: () => clearTimeout(this.#timer) });
  }

  /** The pending previews of a conversation that can be applied, together with all that they build on. */
  checkable(sessionId: string | undefined): readonly Preview[] {
    const { store } = this.#options;
    const chosen = new Map<string, Preview>();
    for (const preview of store.list('oldestFirst'))
      if (
        preview.origin?.sessionId === sessionId &&
        isApplicable(preview) &&
        store.open.blockersOf(preview).every(({ id }) => chosen.has(id))
      )
        chosen.set(preview.id, preview);
    return [...chosen.values()];
  }

  /** A preview after those that it builds on. */
  withBase(preview: Preview): readonly Preview[] {
    return [...this.#options.store.open.blockersOf(preview), preview];
  }

  /**
   * Runs checks on the files as they would be with exactly these previews applied; those that have a current result on them are not
   * run again.
   * @param previews in the order in which they are written.
   */
  async run(
    previews: readonly Preview[],
    by: AskedBy,
    { names, signal, compares = true }: RunOptions = {},
  ): Promise<ChecksReport> {
    const checks = this.#options.checks().filter(({ name }) => names === undefined || names.includes(name));
    const results: CheckResult[] = [];
    const notRun: { name: string; why: NotRunReason }[] = [];
    for (const check of checks) {
      const why = await this.#whyNot(check, previews, by);
      // A person who asks again wants to see the check run. Others may use a person's result even where they may not run it.
      const mayKnow = by === 'other' && (why === undefined || why === 'notIsolated');
      const known = mayKnow ? await this.#known(check, previews, signal) : undefined;
      if (!known && why) notRun.push({ name: check.name, why });
      else {
        const result = known ?? (await this.#runNew(check, previews, signal));
        results.push(compares && !why ? await this.#sinceBefore(check, result, previews, signal) : result);
      }
    }
    return { results, notRun };
  }

  /**
   * Runs checks again in a full copy of the files with the previews applied, free of anything that a run has left. If a check fails
   * there in another way than in the sandbox, that becomes its newest result. A check that is no longer in the settings, or may no
   * longer run, is left out.
   * @param results those of {@link run} on these previews
   * @returns the result in the copy, by the one in the sandbox
   */
  async runFromScratch(
    { results }: ChecksReport,
    previews: readonly Preview[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<CheckResult, CheckResult>> {
    const copies = new Map<CheckResult, CheckResult>();
    for (const result of results) {
      const check = this.#options
        .checks()
        .find(({ name, command }) => name === result.name && command === result.command);
      if (!check || !hasEnded(result) || (await this.#whyNot(check, previews, 'human'))) continue;
      const copy = await this.#runner.run(check, previews, signal, 'fresh');
      if (copy.outcome === 'stopped') break;
      if (hasEnded(copy) && !isGreen(copy) && !isSameEnd(result, copy)) this.#keep(copy);
      copies.set(result, copy);
    }
    return copies;
  }

  async prove(previews: readonly Preview[], signal?: AbortSignal): Promise<Proof> {
    const { results, notRun } = await this.run(previews, 'other', signal ? { signal } : {});
    const checks = results.map(factOfResult);
    const unproved = (why: Extract<Proof, { isProved: false }>['why']): Proof => ({
      isProved: false,
      why,
      checks,
    });
    // First, since it is for the model to mend, although other checks wait for a person.
    if (!results.every(isGreen))
      return { isProved: false, why: 'failed', checks, failure: firstFailure(results) };
    if (notRun.some(({ why }) => why !== 'notConcerned')) return unproved('cannotRun');
    if (results.length === 0) return unproved('noChecks');
    // All results are compared with the files only now: the first check may have run minutes before the last.
    const once = { signal, look: new Map() };
    const current = await Promise.all(results.map(result => this.#files.isAbout(result, previews, once)));
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

  /**
   * A mark for each check that runs on these previews or has a result that saw all of them: its newest, preferably a current one.
   */
  marksOf(previews: readonly Preview[]): readonly CheckMark[] {
    if (previews.length === 0) return [];
    return this.#options.checks().flatMap(({ name }) => {
      const { running } = this.#runner;
      if (running?.check.name === name && hasAll(revisionsOf(running.previews), previews))
        return [markOfRunning(running, previews)];
      const seen = this.#results.filter(
        result => result.name === name && previews.every(({ id }) => Object.hasOwn(result.previews, id)),
      );
      const result = seen.findLast(({ id }) => this.#current.has(id)) ?? seen.at(-1);
      return result ? [markOf(result, previews, this.#current.has(result.id), this.#results)] : [];
    });
  }

  /** `undefined` if it is no longer kept. */
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
    return this.#runner.running?.check.name;
  }

  /** Ends the check that runs. */
  stop(): void {
    this.#runner.stop();
  }

  override dispose(): void {
    this.#ended.abort();
    super.dispose();
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
    if (!last || !hasEnded(last)) return undefined;
    return (await this.#files.isAbout(last, previews, { signal })) ? last : undefined;
  }

  async #runNew(
    check: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
  ): Promise<CheckResult> {
    const result = await this.#runner.run(check, previews, signal);
    if (!this.#ended.signal.aborted) this.#keep(result);
    return result;
  }

  #keep(result: CheckResult): void {
    this.#results = [...this.#results, result].slice(-MAX_RESULTS);
    if (result.saw && this.#files.isAsSeen(result.previews))
      this.#current = new Set([...this.#current, result.id]);
    this.#changed.fire();
  }

  /** Returns the result, replaced by an `asBefore` one if all its failures were there before. */
  async #sinceBefore(
    check: Check,
    result: CheckResult,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
  ): Promise<CheckResult> {
    if (result.outcome !== 'failed' || !result.report || previews.length === 0) return result;
    const before = await this.#baselines.find(check, result, signal);
    if (before === undefined) return result;
    const failures = countFailures(result.report);
    const asBefore = { ...result, outcome: 'asBefore', failures, before } as const;
    this.#results = this.#results.map(each => (each.id === result.id ? asBefore : each));
    this.#changed.fire();
    return asBefore;
  }

  #follow(preview: Preview): void {
    const { running } = this.#runner;
    if (running && !this.#files.isAsSeen(revisionsOf(running.previews))) this.#runner.stop();
    this.#outdate(
      this.#results.filter(({ previews }) => preview.id in previews && !this.#files.isAsSeen(previews)),
    );
    this.#lookAgain();
  }

  #outdate(results: readonly CheckResult[]): void {
    const gone = new Set(results.map(({ id }) => id));
    const current = [...this.#current].filter(id => !gone.has(id));
    if (current.length === this.#current.size) return;
    this.#current = new Set(current);
    this.#changed.fire();
  }

  /** Schedules a comparison of the results with the files. Unsaved text outdates them at once. */
  #lookAgain(): void {
    if (this.#results.length === 0) return;
    if (this.#options.workspace.unsaved().length > 0) this.#outdate(this.#results);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), SETTLE);
  }

  /**
   * Finds out which results are about the files as they are now. A result becomes current again if the files that it saw are back. One
   * comparison runs at a time, since each looks at all files; requests made meanwhile share the next one.
   */
  refresh(): Promise<void> {
    if (this.#next) return this.#next;
    const next = this.#compared.then(() => {
      this.#next = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      return this.#compare();
    });
    this.#next = next;
    this.#compared = next;
    return next;
  }

  async #compare(): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#ended;
    const seen = new Set(this.#results);
    const newest = new Map<string, CheckResult>();
    for (const result of seen) newest.set(`${result.name} ${JSON.stringify(result.previews)}`, result);
    const current = new Set<string>();
    const look: OneLook = new Map();
    for (const result of newest.values()) {
      const pending = Object.keys(result.previews)
        .flatMap(id => store.get(id) ?? [])
        .filter(({ state }) => state.kind === 'pending' || state.kind === 'applying');
      // No surface shows a result without a pending preview.
      if (pending.length === 0) continue;
      if (await this.#files.isAbout(result, pending, { signal, look }).catch(() => false))
        current.add(result.id);
      if (signal.aborted) return;
    }
    // Files may have changed since they were compared: then no result becomes current before the next comparison.
    const isOvertaken = this.#next !== undefined || this.#timer !== undefined;
    const isStill = (id: string): boolean => this.#current.has(id);
    for (const id of current) if (isOvertaken && !isStill(id)) current.delete(id);
    for (const result of this.#results) if (!seen.has(result) && isStill(result.id)) current.add(result.id);
    if (current.size === this.#current.size && [...current].every(isStill)) return;
    this.#current = current;
    this.#changed.fire();
  }
}

/** Whether the check ran to its end, so that it would end the same way again. */
function hasEnded({ outcome }: CheckResult): boolean {
  return outcome !== 'timedOut' && outcome !== 'stopped' && outcome !== 'notRun';
}
