import { BrokenReport, type Read, type ReportedTest } from './testReport.ts';
import { readXml, type Element } from './xml.ts';

const BEGIN = /^\uFEFF?\s*<(?:\?xml\b|testsuites?\b)/;
const END = /<\/testsuites?>|<testsuites?\b[^<>]*\/>/g;

/**
 * Reads the XML of JUnit in an output.
 * @returns `undefined` if there is none
 * @throws BrokenReport if one is cut off or contradicts itself
 */
export function readJUnit(lines: readonly string[]): Read | undefined {
  const tests: ReportedTest[] = [];
  const others: string[] = [];
  let isFound = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (!BEGIN.test(line)) {
      others.push(line);
      continue;
    }
    isFound = true;
    const next = lines.findIndex((each, n) => n > at && /^\uFEFF?\s*<\?xml\b/.test(each));
    const text = lines.slice(at, next < 0 ? undefined : next).join('\n');
    const last = [...text.matchAll(END)].at(-1);
    if (!last) throw new BrokenReport('It is cut off');
    const end = last.index + last[0].length;
    tests.push(...testsIn(text.slice(0, end)));
    others.push(...text.slice(end).split('\n'));
    at = next < 0 ? lines.length : next - 1;
  }
  return isFound ? { tests, others } : undefined;
}

/**
 * Reads the tests of a JUnit file.
 * @throws BrokenReport if it is not one, or counts failures that it does not name
 */
export function testsIn(xml: string): readonly ReportedTest[] {
  const root = readXml(xml);
  if (root.name !== 'testsuites' && root.name !== 'testsuite') throw new BrokenReport('No test suites');
  const tests: ReportedTest[] = [];
  visit(root, '', tests);
  return tests;
}

/** @returns how many of the tests failed */
function visit({ name, attributes, children }: Element, above: string, tests: ReportedTest[]): number {
  // The name of `testsuites` may be that of a run.
  const own = name === 'testsuite' ? (attributes['name'] ?? '') : '';
  const prefix = own === '' ? above : `${above}${own} > `;
  let failed = 0;
  for (const child of children)
    if (child.name === 'testsuite') failed += visit(child, prefix, tests);
    else if (child.name === 'testcase') {
      const test = testOf(child, prefix);
      tests.push(test);
      if (test.outcome === 'failed') failed++;
    } else if (child.name === 'error' || child.name === 'failure') {
      tests.push({ id: `${prefix}*`, outcome: 'failed', isGroup: true });
      failed++;
    }
  // A test may both fail and end with an error.
  const told = Math.max(numberIn(attributes['failures']), numberIn(attributes['errors']));
  if (told > failed) throw new BrokenReport('It counts failures that it does not name');
  return failed;
}

function testOf({ attributes, children }: Element, prefix: string): ReportedTest {
  const { name = '', classname, file } = attributes;
  if (name === '') throw new BrokenReport('A test has no name');
  const place = [classname, file].filter(part => part !== undefined && part !== '').join(' > ');
  const has = (...names: readonly string[]): boolean => children.some(child => names.includes(child.name));
  const outcome = has('failure', 'error') ? 'failed' : has('skipped') ? 'skipped' : 'passed';
  const line = Number(attributes['line']);
  const message = children.find(child => ['failure', 'error'].includes(child.name))?.attributes['message'];
  const isPlaced = file !== undefined && file !== '' && Number.isInteger(line);
  return {
    id: `${prefix}${place} > ${name}`,
    outcome,
    ...(isPlaced ? { place: { file, line, column: 1, message: message ?? name } } : {}),
  };
}

function numberIn(text = '0'): number {
  const number = Number(text);
  if (!Number.isInteger(number)) throw new BrokenReport('No number');
  return number;
}
