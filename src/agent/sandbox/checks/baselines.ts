import type { Check, CheckResult } from './check.ts';
import type { CheckedFiles } from './checkedFiles.ts';
import type { CheckRunner } from './checkRunner.ts';
import { isAsBefore, isSameReport, type TestReport } from './report/testReport.ts';

/** How often a check runs on the files as they are: twice, since one run does not show that it says the same each time. */
const RUNS = 2;

/** Runs of one check on the files as they are on disk. */
interface Baseline {
  /** Stands for all files as they were, see `SeenFiles`. */
  readonly state: string;
  readonly results: CheckResult[];
}

/**
 * Compares a check that failed on previews with the same check on the files as they are. What was found is kept until a file on disk
 * changes, so each state of the disk costs two runs, and only where something fails and reports its tests.
 */
export class Baselines {
  readonly #files: CheckedFiles;
  readonly #runner: CheckRunner;
  /** By what runs. */
  readonly #known = new Map<string, Baseline>();

  constructor(files: CheckedFiles, runner: CheckRunner) {
    this.#files = files;
    this.#runner = runner;
  }

  /**
   * Finds out whether exactly these failures were there before, as reports of every run show.
   * @returns what stands for the files as they are, see `SeenFiles`; `undefined` if the failures are others, or it cannot be told
   * @throws the abort error when the signal fires
   */
  async find(
    check: Check,
    { report, exitCode }: CheckResult,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const state = (await this.#files.seenWith([], signal))?.rest;
    if (!report || state === undefined) return undefined;
    const { results } = this.#of(check, state);
    const reports: TestReport[] = [];
    for (let n = 0; n < RUNS; n++) {
      const before = results[n] ?? (await this.#runner.run(check, [], signal));
      if (before.outcome === 'stopped' || before.outcome === 'notRun') return undefined;
      results[n] = before;
      // One that files changed under, or that was ended, saw no such state.
      const isComparable = before.saw?.rest === state && before.exitCode === exitCode;
      if (!isComparable || !before.report || !isAsBefore(report, before.report)) return undefined;
      reports.push(before.report);
    }
    return reports.every(each => isSameReport(each, reports[0] ?? each)) ? state : undefined;
  }

  #of({ name, command, cwd }: Check, state: string): Baseline {
    const key = JSON.stringify([name, command, cwd]);
    const known = this.#known.get(key);
    const baseline = known?.state === state ? known : { state, results: [] };
    this.#known.set(key, baseline);
    return baseline;
  }
}
