import { untilAborted } from '../../base/async.ts';
import { detailOf, messageOf } from '../../base/errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { Logger } from '../../base/logger.ts';
import type { CommandPlan } from '../commands/commandPlan.ts';
import { OutputBuffer } from '../commands/outputBuffer.ts';
import type { Sandbox, Sandboxes } from '../commands/sandbox.ts';
import type { CheckFact } from '../../hold/preview/ledger.ts';
import { contentsAfter } from '../../hold/preview/overlay.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import { revisionsOf, type Preview } from '../../hold/preview/preview.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import type { Check, CheckResult, SeenFiles } from './check.ts';
import { isSame, type CheckedFiles } from './checkedFiles.ts';
import { outputProblems, type OutputProblem } from './outputProblems.ts';
import type { ForeignMatchers } from './problems/foreignMatchers.ts';
import { reportIn, reportOf } from './report/readReport.ts';
import type { TestReport } from './report/testReport.ts';

/** The sandbox that all checks share, apart from those of commands: files that a command left must not make a check pass. */
export const OWN_SANDBOX = 'checks';
/** How many of the files that a check changed are named. */
const MAX_NAMED = 3;

export interface CheckRunnerParts {
  /** Has the contents of binary files in previews. */
  readonly store: PreviewStore;
  readonly sandboxes: Sandboxes;
  readonly plan: (command: string, folder: string | undefined) => Promise<CommandPlan>;
  readonly workspace: { folderRoots(): readonly FolderRoot[] };
  /** Problem matchers of extensions and settings. */
  readonly matchers?: ForeignMatchers;
  readonly logger: Logger;
}

/** The longest output that is searched for a report of tests, in characters. */
const MAX_REPORT = 16_000_000;

/** A check that runs now. */
export interface RunningCheck {
  readonly check: Check;
  readonly previews: readonly Preview[];
  readonly startedAt: number;
}

/** Runs checks in the sandbox, one at a time. */
export class CheckRunner {
  readonly #parts: CheckRunnerParts;
  readonly #files: CheckedFiles;
  readonly #changed = new Emitter<void>();
  #running: (RunningCheck & { readonly controller: AbortController }) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  #isDisposed = false;

  /** Fires when a check begins, writes or ends. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(parts: CheckRunnerParts, files: CheckedFiles) {
    this.#parts = parts;
    this.#files = files;
  }

  get running(): RunningCheck | undefined {
    return this.#running;
  }

  /** Ends the check that runs. */
  stop(): void {
    this.#running?.controller.abort();
  }

  /** Ends the check that runs; no other starts. */
  dispose(): void {
    this.#isDisposed = true;
    this.stop();
    this.#changed.dispose();
  }

  /**
   * Runs a check once those before it have ended. It sees no outputs of other runs: ignored files are as on disk.
   * @param place `fresh`: in a full copy that is made for it
   * @throws the abort error when the signal fires; the check is then ended, too
   */
  run(
    check: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
    place: 'own' | 'fresh' = 'own',
  ): Promise<CheckResult> {
    const run = this.#last.then(() => this.#run(check, previews, signal, place));
    this.#last = run.catch(() => undefined);
    return untilAborted(signal, () => run);
  }

  async #run(
    check: Check,
    previews: readonly Preview[],
    signal: AbortSignal | undefined,
    place: 'own' | 'fresh',
  ): Promise<CheckResult> {
    const { logger, sandboxes } = this.#parts;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const limit = AbortSignal.timeout(check.timeLimit * 1_000);
    const ending = AbortSignal.any([controller.signal, limit, ...(signal ? [signal] : [])]);
    const output = new OutputBuffer();
    const startedAt = Date.now();
    this.#running = { check, previews, controller, startedAt };
    if (this.#isDisposed || !this.#files.isAsSeen(revisionsOf(previews))) controller.abort();
    this.#changed.fire();
    let exitCode: number | undefined;
    let saw: SeenFiles | undefined;
    let changed: CheckFact['changed'];
    let report: TestReport | undefined;
    let sandbox: Sandbox | undefined;
    let missing: readonly string[] = [];
    let notes: readonly string[] = [];
    let whole = '';
    let folder = '';
    let outcome: CheckFact['outcome'];
    try {
      ending.throwIfAborted();
      const before = await this.#files.seenWith(previews, ending);
      const planned = await this.#parts.plan(check.command, check.cwd);
      const plan = { ...planned, timeLimit: check.timeLimit };
      folder = plan.folder;
      sandbox = await (place === 'fresh' ? sandboxes.fresh() : sandboxes.of(OWN_SANDBOX));
      if (!sandbox)
        throw new Error('There is no sandbox any more, or there is more to copy than the settings allow.');
      await sandbox.reset();
      const end = await sandbox.run(plan, contentsAfter(previews, this.#parts.store.blobs), {
        signal: ending,
        add: chunk => {
          output.add(chunk);
          if (whole.length <= MAX_REPORT) whole += chunk;
          this.#changed.fire();
        },
      });
      ending.throwIfAborted();
      ({ missing = [], notes } = end);
      exitCode = end.exitCode;
      if (exitCode === 0 && end.changed.length > 0)
        changed = { first: end.changed.slice(0, MAX_NAMED), count: end.changed.length };
      outcome = exitCode !== 0 ? 'failed' : changed ? 'changedFiles' : 'passed';
      if (outcome === 'failed' && end.changed.length === 0) report = await reportFound(whole, check, sandbox);
      const after = before && (await this.#files.seenWith(previews));
      saw = before && after && isSame(before, after) ? after : undefined;
    } catch (error) {
      outcome = !ending.aborted ? 'notRun' : ending.reason === limit.reason ? 'timedOut' : 'stopped';
      if (!ending.aborted) {
        logger.error(`The check ${check.name} could not be run: ${detailOf(error)}`);
        output.add(messageOf(error));
      }
    }
    if (place === 'fresh')
      await sandbox?.dispose().catch((error: unknown) => logger.warn(`A copy stays: ${detailOf(error)}`));
    const text = output.text();
    const isFailure = outcome === 'failed' || outcome === 'timedOut';
    const result: CheckResult = {
      id: `c${++this.#count}`,
      name: check.name,
      command: check.command,
      previews: revisionsOf(previews),
      saw,
      outcome,
      changed,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(report ? { report } : {}),
      seconds: Math.round((Date.now() - startedAt) / 100) / 10,
      at: new Date().toISOString(),
      output: text,
      ...(missing.length > 0 ? { missing } : {}),
      ...(notes.length > 0 ? { notes } : {}),
      problems: isFailure ? await this.#problemsIn(text, folder, check, report) : [],
    };
    this.#running = undefined;
    this.#changed.fire();
    return result;
  }

  async #problemsIn(
    text: string,
    folder: string,
    { problemMatcher }: Check,
    report: TestReport | undefined,
  ): Promise<readonly OutputProblem[]> {
    const { logger, matchers, workspace } = this.#parts;
    const told = (report?.places ?? []).map(place => ({ ...place, at: -1 }));
    try {
      const found = (await matchers?.find(text, problemMatcher)) ?? [];
      const withoutOwn = problemMatcher !== undefined;
      return outputProblems(text, folder, workspace.folderRoots(), {
        found: [...told, ...found],
        withoutOwn,
      });
    } catch (error) {
      logger.warn(`Problem matchers failed: ${messageOf(error)}`);
      return outputProblems(text, folder, workspace.folderRoots(), { found: told });
    }
  }
}

async function reportFound(output: string, check: Check, sandbox: Sandbox): Promise<TestReport | undefined> {
  if (check.report === undefined) return output.length > MAX_REPORT ? undefined : reportIn(output);
  const bytes = await sandbox.readIgnored(check.report).catch(() => undefined);
  return bytes && reportOf([Buffer.from(bytes).toString()]);
}
