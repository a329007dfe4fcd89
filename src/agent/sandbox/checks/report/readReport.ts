import { parsedJson } from '../../../base/json.ts';
import { plainOutput } from '../../commands/outputBuffer.ts';
import { readGoJson } from './goJson.ts';
import { jsonTests, readJsonReports } from './jsonReports.ts';
import { readJUnit, testsIn } from './junit.ts';
import { readTap } from './tap.ts';
import { BrokenReport, testReport, type ReportedTest, type TestReport } from './testReport.ts';

/** Each reader gets the lines that the one before has left, so that no format hides the failures of another. */
const READERS = [readGoJson, readJsonReports, readJUnit, readTap];

/**
 * The report in an output: `go test -json`, the JSON of Jest and Vitest, SARIF, the XML of JUnit, TAP, or several of them.
 * @returns `undefined` if there is none, or it is damaged or ambiguous
 */
export function reportIn(output: string): TestReport | undefined {
  return readable(() => {
    let others: readonly string[] = plainOutput(output).split('\n');
    const tests: ReportedTest[] = [];
    for (const reader of READERS) {
      const read = reader(others);
      if (!read) continue;
      tests.push(...read.tests);
      others = read.others;
    }
    return tests.length > 0 ? testReport(tests, others) : undefined;
  });
}

/**
 * The report in the files that a check has written.
 * @returns `undefined` if there is none, or one is damaged or ambiguous
 */
export function reportOf(files: readonly string[]): TestReport | undefined {
  return readable(() => {
    const found = files.flatMap(text => {
      const value = parsedJson(text);
      if (value !== undefined) return jsonTests(value) ?? unknown();
      if (/^\s*</.test(text)) return testsIn(text);
      const lines = text.split('\n');
      return (readGoJson(lines) ?? readTap(lines) ?? unknown()).tests;
    });
    return found.length > 0 ? testReport(found) : undefined;
  });
}

function unknown(): never {
  throw new BrokenReport('Its format is unknown');
}

function readable(read: () => TestReport | undefined): TestReport | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BrokenReport) return undefined;
    throw error;
  }
}
