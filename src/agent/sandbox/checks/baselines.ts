import type { Check, CheckResult } from './check.ts';
import type { CheckedFiles } from './checkedFiles.ts';
import type { CheckRunner } from './checkRunner.ts';
import { isAsBefore, isSameReport, type TestReport } from './report/testReport.ts';

/** Runs of a check on the files as they are: two, since one cannot show that the result is stable. */
const RUNS = 2;

/** Runs of one check on the files as they are on disk. */
interface Baseline {
  /** Fingerprint of all files as they were, see `SeenFiles`. */
  readonly state: string;
  readonly results: CheckResult[];
}

/**
 * Compares a check that failed on previews with the same check on the files as they are. Results are kept until a file on disk
 * changes, so each state of the disk costs two runs, and only if a check fails and reports its tests.
 */
export class Baselines {
  readonly #files: CheckedFiles;
  readonly #runner: CheckRunner;
  /** By the check's name, command and folder. */
  readonly #known = new Map<string, Baseline>();

  constructor(files: CheckedFiles, runner: CheckRunner) {
    this.#files = files;
    this.#runner = runner;
  }

  /**
   * Finds out whether all these failures were there before, according to the reports of every run.
   * @returns the fingerprint of the files as they are, see `SeenFiles`; `undefined` if the failures differ, or that is not known
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
      // A run during which files changed, or that was ended, did not see this state.
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
