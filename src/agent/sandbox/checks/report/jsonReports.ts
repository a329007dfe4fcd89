import { orUndefined } from '../../../base/errors.ts';
import { isRecord, parsedJson } from '../../../base/json.ts';
import { BrokenReport, type Read, type ReportedTest, type TestOutcome } from './testReport.ts';

/** How many closing lines are tried for a document of several lines. */
const MAX_TRIES = 20;

const OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  passed: 'passed',
  failed: 'failed',
  pending: 'skipped',
  skipped: 'skipped',
  todo: 'skipped',
  disabled: 'skipped',
};

/**
 * Reads the JSON of Jest and Vitest, and SARIF, in an output.
 * @returns `undefined` if there is none
 * @throws BrokenReport if one contradicts itself
 */
export function readJsonReports(lines: readonly string[]): Read | undefined {
  const tests: ReportedTest[] = [];
  const others: string[] = [];
  let isFound = false;
  for (let at = 0; at < lines.length; at++) {
    const found = lines[at]?.startsWith('{') ? documentAt(lines, at) : undefined;
    const own = found && jsonTests(found.value);
    if (!own) {
      others.push(lines[at] ?? '');
      continue;
    }
    isFound = true;
    tests.push(...own);
    at = found.last;
  }
  return isFound ? { tests, others } : undefined;
}

/**
 * The tests of a JSON report, or the findings of a linter.
 * @returns `undefined` if it is neither
 */
export function jsonTests(value: unknown): readonly ReportedTest[] | undefined {
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value['testResults']) && 'numTotalTests' in value) return jestTests(value);
  if (Array.isArray(value['runs']) && typeof value['version'] === 'string')
    return sarifFindings(value['runs']);
  return undefined;
}

/** A document in one line, or up to a line that begins with the brace that closes it. */
function documentAt(
  lines: readonly string[],
  first: number,
): { readonly value: unknown; readonly last: number } | undefined {
  let tries = 0;
  for (let last = first; last < lines.length && tries < MAX_TRIES; last++) {
    if (last > first && !lines[last]?.startsWith('}')) continue;
    tries++;
    const value = parsedJson(lines.slice(first, last + 1).join('\n'));
    if (value !== undefined) return { value, last };
  }
  return undefined;
}

function jestTests(report: Readonly<Record<string, unknown>>): readonly ReportedTest[] {
  const tests: ReportedTest[] = [];
  for (const file of listIn(report['testResults'])) {
    const name = textIn(file['name']);
    const own = listIn(file['assertionResults']).map(({ ancestorTitles, title, fullName, status }) => {
      const above = Array.isArray(ancestorTitles) ? ancestorTitles.map(String) : [];
      const outcome = OUTCOMES[textIn(status)];
      if (!outcome) throw new BrokenReport('An outcome is unknown');
      return { id: [name, ...above, textIn(title ?? fullName)].join(' > '), outcome };
    });
    // A file fails by itself, too, if it cannot be loaded.
    const outcome = file['status'] === 'failed' ? 'failed' : 'passed';
    tests.push(...own, { id: name, outcome, isGroup: true });
  }
  const single = tests.filter(({ isGroup }) => !isGroup);
  const failed = single.filter(({ outcome }) => outcome === 'failed');
  const isWhole = report['numTotalTests'] === single.length && report['numFailedTests'] === failed.length;
  const isExplained = report['success'] !== false || tests.some(({ outcome }) => outcome === 'failed');
  if (!isWhole || !isExplained || report['wasInterrupted'] === true)
    throw new BrokenReport('Not all tests are in it');
  return tests;
}

/** Each finding is a failed test. None may be missing from a later report, so that checking less does not count as a fix. */
function sarifFindings(runs: readonly unknown[]): readonly ReportedTest[] {
  return listIn(runs).flatMap(run => {
    const invocations = run['invocations'] === undefined ? [] : listIn(run['invocations']);
    if (invocations.some(({ executionSuccessful }) => executionSuccessful === false))
      throw new BrokenReport('It did not run to its end');
    const driver = inside(run, 'tool', 'driver');
    const tool = textIn(isRecord(driver) ? driver['name'] : undefined);
    return listIn(run['results']).map((result): ReportedTest => {
      const [location] = result['locations'] === undefined ? [] : listIn(result['locations']);
      const uri = inside(location, 'physicalLocation', 'artifactLocation', 'uri');
      const message = inside(result, 'message', 'text') ?? inside(result, 'message', 'id');
      const [rule, place = '', said = ''] = [result['ruleId'] ?? '', uri ?? '', message].map(textIn);
      const placed = regionOf(location, place, said, result['level']);
      return { id: [tool, rule, place, said].join(' > '), outcome: 'failed', ...placed };
    });
  });
}

/** The place of a finding, if it names a line. */
function regionOf(
  location: unknown,
  uri: string,
  message: string,
  level: unknown,
): Pick<ReportedTest, 'place'> {
  const region = inside(location, 'physicalLocation', 'region');
  const { startLine: line, startColumn: column } = isRecord(region) ? region : {};
  if (uri === '' || typeof line !== 'number') return {};
  const file = uri.startsWith('file:') ? uri : (orUndefined(() => decodeURI(uri)) ?? uri);
  const severity = typeof level === 'string' ? { severity: level } : {};
  return { place: { file, line, column: typeof column === 'number' ? column : 1, message, ...severity } };
}

function inside(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((at, name) => (isRecord(at) ? at[name] : undefined), value);
}

function listIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || !value.every(isRecord)) throw new BrokenReport('No list');
  return value;
}

function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new BrokenReport('No text');
  return value;
}
