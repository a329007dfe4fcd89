import { BrokenReport, type Read, type ReportedTest } from './testReport.ts';

const VERSION = /^TAP version \d+$/;
const PLAN = /^(?<indent> *)1\.\.(?<count>\d+)(?:\s*#.*)?$/;
const RESULT = /^(?<indent> *)(?<not>not )?ok\b(?:\s+\d+)?(?:\s+-)?(?:\s+(?<rest>.*))?$/;
const BLOCK = /^(?<indent> *)---\s*$/;
const COMMENT = /^ *#/;
/** A directive, or the time that tap adds, at the end of a line; a `#` in a name is escaped. */
const TIME = /(?<!\\)#\s*time=[\d.]+\w*\s*$/;
const DIRECTIVE = /(?<!\\)#\s*(?:skip\S*|todo)\b.*$/i;

/** Tests of one depth, collected until the line of their group. */
interface Level {
  tests: ReportedTest[];
  count: number;
  plan: number | undefined;
}

/**
 * Reads the Test Anything Protocol, with subtests as Node.js and tap write them: indented by four, above the line of their group.
 * @returns `undefined` if there is none
 * @throws BrokenReport if there are fewer tests, or more, than planned, or a test has no name
 */
export function readTap(lines: readonly string[]): Read | undefined {
  if (!lines.some(line => RESULT.test(line)) || !lines.some(line => PLAN.test(line))) return undefined;
  const tests: ReportedTest[] = [];
  const others: string[] = [];
  let levels: Level[] = [];
  let blockEnd: string | undefined;
  const close = (): void => {
    if (levels.slice(1).some(({ count }) => count > 0)) throw new BrokenReport('Tests are in no group');
    if (levels.length > 0) tests.push(...endOf(levels[0]));
    levels = [];
  };
  for (const line of lines) {
    if (blockEnd !== undefined) {
      if (line.trimEnd() === blockEnd) blockEnd = undefined;
      continue;
    }
    if (/^ *Bail out!/i.test(line)) throw new BrokenReport('It bailed out');
    const plan = PLAN.exec(line)?.groups;
    const result = RESULT.exec(line)?.groups;
    const block = BLOCK.exec(line)?.groups;
    if (VERSION.test(line)) close();
    else if (plan) {
      const level = levelAt(levels, plan['indent']);
      if (level.plan !== undefined) throw new BrokenReport('It has two plans');
      level.plan = Number(plan['count']);
    } else if (result) add(levels, result);
    else if (block && levels.length > 0) blockEnd = `${block['indent']}...`;
    else if (!COMMENT.test(line)) others.push(line);
  }
  if (blockEnd !== undefined) throw new BrokenReport('It is cut off');
  close();
  return { tests, others };
}

function levelAt(levels: Level[], indent = ''): Level {
  const depth = Math.floor(indent.length / 4);
  while (levels.length <= depth) levels.push({ tests: [], count: 0, plan: undefined });
  return levels[depth] ?? { tests: [], count: 0, plan: undefined };
}

function add(levels: Level[], groups: Readonly<Record<string, string | undefined>>): void {
  const level = levelAt(levels, groups['indent']);
  const rest = (groups['rest'] ?? '').replace(TIME, '');
  const name = rest.replace(DIRECTIVE, '').trim();
  if (name === '') throw new BrokenReport('A test has no name');
  const [inner, ...deeper] = levels.splice(levels.indexOf(level) + 1);
  if (deeper.some(({ count }) => count > 0)) throw new BrokenReport('Tests are in no group');
  const below = inner ? endOf(inner) : [];
  const outcome = DIRECTIVE.test(rest) ? 'skipped' : groups['not'] === undefined ? 'passed' : 'failed';
  level.count++;
  level.tests.push(
    { id: name, outcome, isGroup: below.length > 0 },
    ...below.map(test => ({ ...test, id: `${name} > ${test.id}` })),
  );
}

function endOf(level: Level | undefined): readonly ReportedTest[] {
  if (level?.plan !== level?.count) throw new BrokenReport('Not as many tests as planned');
  return level?.tests ?? [];
}
