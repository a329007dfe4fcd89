/** How a test, or a group of tests, ended. `skipped`: it did not run, or is marked as not done yet. */
export type TestOutcome = 'passed' | 'failed' | 'skipped';

/** A test in a report. A finding of a linter counts as a failed test. */
export interface ReportedTest {
  /** Its name with those of its groups and file, without parts that differ from run to run. */
  readonly id: string;
  readonly outcome: TestOutcome;
  /** It stands for other tests: a suite, a file, a package. */
  readonly isGroup?: boolean;
  /** Its place, if the report names one; the file is a path or a URL. */
  readonly place?: ReportedPlace;
}

/** A place in a file; line and column count from 1. */
export interface ReportedPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity?: string;
}

/** Facts that all tests with one id share. */
interface Counted {
  readonly outcome: TestOutcome;
  readonly count: number;
  readonly isGroup: boolean;
  /** It failed, and no test in it did: a file that cannot be loaded, a hook. A single test always fails by itself. */
  readonly isOwnFailure: boolean;
}

/** All that a run of a check reports of its tests. */
export interface TestReport {
  /** By id. */
  readonly tests: ReadonlyMap<string, Counted>;
  /** The lines of the output that are not part of the report, without numbers and times. */
  readonly others: ReadonlySet<string>;
  /** Places of the failed tests. */
  readonly places: readonly ReportedPlace[];
}

/** The tests in one format, and the lines of an output that are not part of it. */
export interface Read {
  readonly tests: readonly ReportedTest[];
  readonly others: readonly string[];
}

/** A report that is damaged, cut off, or contradicts itself. */
export class BrokenReport extends Error {
  override readonly name = 'BrokenReport';
}

/** More tests than any project has; a report with more is not kept. */
const MAX_TESTS = 200_000;

/**
 * @param others lines that are not part of the report
 * @throws BrokenReport if it has no test that ran, or tests with one name ended differently, so that none can be told from another
 */
export function testReport(tests: readonly ReportedTest[], others: readonly string[] = []): TestReport {
  if (tests.length > MAX_TESTS) throw new BrokenReport('Too many tests');
  const counted = new Map<string, Counted>();
  const failing = new Set(
    tests.flatMap(({ id, outcome, isGroup }) => (outcome === 'failed' && !isGroup ? groupsOf(id) : [])),
  );
  for (const { id, outcome, isGroup = false } of tests) {
    const known = counted.get(id);
    if (known && known.outcome !== outcome) throw new BrokenReport(`Tests with one name differ: ${id}`);
    const isOwnFailure = outcome === 'failed' && !(isGroup && failing.has(id));
    counted.set(id, { outcome, isGroup, isOwnFailure, count: (known?.count ?? 0) + 1 });
  }
  if (tests.every(({ outcome }) => outcome === 'skipped')) throw new BrokenReport('No test ran');
  return {
    tests: counted,
    others: new Set(others.map(withoutNumbers).filter(line => line !== '')),
    places: tests.flatMap(({ outcome, place }) => (outcome === 'failed' && place ? [place] : [])),
  };
}

/** The ids that groups of a test can have: every prefix of its id that ends at a separator. */
function groupsOf(id: string): readonly string[] {
  return [...id.matchAll(/ > |\//g)].map(({ index }) => id.slice(0, index));
}

/** Tests that failed, or groups if no test in them did. */
export function countFailures({ tests }: TestReport): number {
  const failed = [...tests.values()].filter(({ outcome }) => outcome === 'failed');
  const single = failed.filter(({ isGroup }) => !isGroup);
  return (single.length > 0 ? single : failed).reduce((sum, { count }) => sum + count, 0);
}

function withoutNumbers(line: string): string {
  return line.replace(/\d+(?:[.,:]\d+)*\s?(?:ms|s|m|h|secs?|seconds?|minutes?)?(?![a-z])/gi, '#').trim();
}

/**
 * Whether a run has no new failures: every test that ran before runs, every one that passed still passes, and each that fails now
 * also failed before, at least as often. The rest of its output has no new line.
 * @param before a report on the same files without the changes
 */
export function isAsBefore(now: TestReport, before: TestReport): boolean {
  for (const [id, { outcome, count }] of before.tests) {
    if (outcome === 'skipped') continue;
    const same = now.tests.get(id);
    if (!same || same.count < count || same.outcome === 'skipped') return false;
    if (outcome === 'passed' && same.outcome !== 'passed') return false;
  }
  for (const [id, { outcome, count, isOwnFailure }] of now.tests) {
    if (outcome !== 'failed') continue;
    const same = before.tests.get(id);
    if (same?.outcome !== 'failed' || same.count < count) return false;
    if (isOwnFailure && !same.isOwnFailure) return false;
  }
  return [...now.others].every(line => before.others.has(line));
}

/** Whether two runs on the same files agree on every test. */
export function isSameReport(one: TestReport, other: TestReport): boolean {
  if (one.tests.size !== other.tests.size) return false;
  return [...one.tests].every(([id, { outcome, count, isOwnFailure }]) => {
    const same = other.tests.get(id);
    return same?.outcome === outcome && same.count === count && same.isOwnFailure === isOwnFailure;
  });
}
