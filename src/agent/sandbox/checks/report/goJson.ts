import { isRecord, parsedJson } from '../../../base/json.ts';
import { BrokenReport, type Read, type ReportedTest, type TestOutcome } from './testReport.ts';

const ENDS: Readonly<Record<string, TestOutcome>> = { pass: 'passed', fail: 'failed', skip: 'skipped' };

/**
 * Reads the events of `go test -json`.
 * @returns `undefined` if there are none
 * @throws BrokenReport if a test or a package has begun and not ended
 */
export function readGoJson(lines: readonly string[]): Read | undefined {
  const ends = new Map<string, TestOutcome | undefined>();
  const groups = new Set<string>();
  const others: string[] = [];
  let isFound = false;
  for (const line of lines) {
    const event = line.startsWith('{"') ? parsedJson(line) : undefined;
    if (!isRecord(event) || typeof event['Action'] !== 'string') {
      others.push(line);
      continue;
    }
    const { Action: action, Package: name, Test: test } = event;
    if (typeof name !== 'string') {
      if (typeof event['ImportPath'] !== 'string') others.push(line);
      continue;
    }
    isFound = true;
    const above = typeof test === 'string' ? [name, ...test.split('/').slice(0, -1)] : [];
    for (let n = 1; n <= above.length; n++) groups.add(above.slice(0, n).join('/'));
    const id = typeof test === 'string' ? `${name}/${test}` : name;
    if (typeof test !== 'string') groups.add(name);
    const end = ENDS[action];
    // A test may run several times, with -count.
    const known = ends.get(id);
    if (end && known && known !== end) throw new BrokenReport('It ended differently');
    ends.set(id, end ?? known);
  }
  if (!isFound) return undefined;
  const tests: ReportedTest[] = [...ends].map(([id, outcome]) => {
    if (!outcome) throw new BrokenReport('It is cut off');
    return { id, outcome, isGroup: groups.has(id) };
  });
  return { tests, others };
}
