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
  /** How its problems are found, as in tasks.json; by default by all that is known. */
  readonly problemMatcher?: unknown;
  /** The workspace path of a file that git ignores, in which the command reports its tests; by default in its output. */
  readonly report?: string;
  /** In seconds. */
  readonly timeLimit: number;
  /** Whether it comes from the user, or the user has approved its text. Only then is it ever run. */
  readonly isApproved: boolean;
}

/** What a check saw: the files as they would be with these previews applied. */
export interface SeenFiles {
  /** Of the files that the previews change: the hash of each after them; `null` where there would be none. */
  readonly contents: Readonly<Record<string, string | null>>;
  /** The permission bits of each after them, without those of new files that get the usual ones. */
  readonly bits: Readonly<Record<string, number>>;
  /** Stands for all other files as they were. */
  readonly rest: string;
}

/** How a check ended on some previews. Kept in memory only: no result outlives the window that saw it. */
export interface CheckResult extends CheckFact {
  /** Unique in the window. */
  readonly id: string;
  readonly command: string;
  /** The previews that it ran on, at their revisions. */
  readonly previews: SeenRevisions;
  /** `undefined` if they changed while it ran, or cannot be told. */
  readonly saw: SeenFiles | undefined;
  /** Beginning and end of what it wrote, as plain text. */
  readonly output: string;
  /** Programs and paths that it did not find in the sandbox, as a person is told them. */
  readonly missing?: readonly string[];
  /** Facts that explain a failure, as English sentences for the model. */
  readonly notes?: readonly string[];
  /** What one that failed reports of its tests. */
  readonly report?: TestReport;
  /** With `asBefore`: stands for the files without the previews that it was compared with. */
  readonly before?: string;
  /** Places that a check that did not pass names, in files of the workspace. */
  readonly problems: readonly OutputProblem[];
}

/** Why a check was not run. */
export type NotRunReason =
  /** The workspace is not trusted. */
  | 'untrusted'
  /** The workspace's settings bring it, and no person has approved its text. */
  | 'notApproved'
  /** There is no sandbox here. */
  | 'noSandbox'
  /** The sandbox is not isolated, so that only a person starts a command in it. */
  | 'notIsolated'
  /** None of the previews changes a file that it concerns. */
  | 'notConcerned';

/** How a request to run checks ended. */
export interface ChecksReport {
  readonly results: readonly CheckResult[];
  readonly notRun: readonly { readonly name: string; readonly why: NotRunReason }[];
}

/** What the tool `run_checks` needs of the checks. */
export interface CheckRuns {
  /** Those of the settings. */
  list(): readonly Check[];
  /** The preview, if it is pending and can be checked, after those that it builds on. */
  withBase(id: string): readonly Preview[] | undefined;
  run(
    previews: readonly Preview[],
    names: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<ChecksReport>;
}

/** Whether nothing fails that did not fail without the previews. */
export function isGreen({ outcome }: Pick<CheckFact, 'outcome'>): boolean {
  return outcome === 'passed' || outcome === 'asBefore';
}

/**
 * Whether a run in a full copy ended as the one in the sandbox did. Where that one only failed as before, the tests of both must have
 * ended alike.
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
    ...{ name, outcome },
    ...(failures === undefined ? {} : { failures }),
    ...(changed === undefined ? {} : { changed }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...{ seconds, at },
  };
}
