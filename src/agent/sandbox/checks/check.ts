import type { CheckFact } from '../../hold/preview/ledger.ts';
import type { Preview, SeenRevisions } from '../../hold/preview/preview.ts';
import type { OutputProblem } from './outputProblems.ts';
import { isSameReport, type TestReport } from './report/testReport.ts';

/** A named command whose result is shown on previews. */
export interface Check {
  readonly name: string;
  readonly command: string;
  /** A folder of the workspace; by default the first one. */
  readonly cwd?: string;
  /** A glob of workspace paths: the check concerns only previews that change one of them. */
  readonly files?: string;
  /** Matcher for its problems, as in tasks.json; by default all known matchers. */
  readonly problemMatcher?: unknown;
  /** The workspace path of a file that git ignores, in which the command reports its tests; by default in its output. */
  readonly report?: string;
  /** Whether it runs only when it is asked for, not at the end of a turn. */
  readonly onDemand?: boolean;
  /** In seconds. */
  readonly timeLimit: number;
  /** Whether it comes from the user, or the user has approved its text. Only then is it ever run. */
  readonly isApproved: boolean;
}

/** The files that a check saw: the workspace as it would be with the previews applied. */
export interface SeenFiles {
  /** Hash of each file that the previews change, after them; `null` if there would be no file. */
  readonly contents: Readonly<Record<string, string | null>>;
  /** Permission bits of each after them; new files with the usual bits are left out. */
  readonly bits: Readonly<Record<string, number>>;
  /** Fingerprint of all other files as they were. */
  readonly rest: string;
}

/** How a check ended on some previews. Kept in memory only: no result outlives the window that saw it. */
export interface CheckResult extends CheckFact {
  /** Unique in the window. */
  readonly id: string;
  readonly command: string;
  /** The previews that it ran on, at their revisions. */
  readonly previews: SeenRevisions;
  /** `undefined` if files changed while it ran, or that is not known. */
  readonly saw: SeenFiles | undefined;
  /** Beginning and end of its output, as plain text. */
  readonly output: string;
  /** Programs and paths that it did not find in the sandbox, as shown to a person. */
  readonly missing?: readonly string[];
  /** Facts that explain a failure, as English sentences for the model. */
  readonly notes?: readonly string[];
  /** Test report of a failed check. */
  readonly report?: TestReport;
  /** With `asBefore`: fingerprint of the files without the previews, with which it was compared. */
  readonly before?: string;
  /** Places in files of the workspace that a check names if it failed or timed out. */
  readonly problems: readonly OutputProblem[];
}

/** Why a check was not run. */
export type NotRunReason =
  /** The workspace is not trusted. */
  | 'untrusted'
  /** The check comes from the workspace's settings, and no person has approved its text. */
  | 'notApproved'
  /** There is no sandbox here. */
  | 'noSandbox'
  /** The sandbox is not isolated, so only a person may start a command in it. */
  | 'notIsolated'
  /** None of the previews changes a file that it concerns. */
  | 'notConcerned';

/** How a request to run checks ended. */
export interface ChecksReport {
  readonly results: readonly CheckResult[];
  readonly notRun: readonly { readonly name: string; readonly why: NotRunReason }[];
}

/** The checks as the tool `run_checks` uses them. */
export interface CheckRuns {
  /** The checks in the settings. */
  list(): readonly Check[];
  /** The preview after those that it builds on; `undefined` unless it is pending and can be checked. */
  withBase(id: string): readonly Preview[] | undefined;
  run(
    previews: readonly Preview[],
    names: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<ChecksReport>;
}

/** True if nothing fails, or only tests that also fail without the previews. */
export function isGreen({ outcome }: Pick<CheckFact, 'outcome'>): boolean {
  return outcome === 'passed' || outcome === 'asBefore';
}

/**
 * Whether a run in a full copy ended like the one in the sandbox. If the latter only failed as before, the tests of both must have
 * the same outcomes.
 */
export function isSameEnd(result: CheckResult, copy: CheckResult): boolean {
  if (result.exitCode !== copy.exitCode) return false;
  if (result.outcome !== 'asBefore') return result.outcome === copy.outcome;
  return (
    copy.outcome === 'failed' && !!result.report && !!copy.report && isSameReport(result.report, copy.report)
  );
}

export function factOfResult(result: CheckResult): CheckFact {
  const { name, outcome, failures, changed, exitCode, seconds, at } = result;
  return {
    name,
    outcome,
    ...(failures === undefined ? {} : { failures }),
    ...(changed === undefined ? {} : { changed }),
    ...(exitCode === undefined ? {} : { exitCode }),
    seconds,
    at,
  };
}
