import type { ReportedPlace } from '../report/testReport.ts';
import type { ProblemMatcher, ProblemPattern } from './problemMatcher.ts';

/** A problem that a matcher has found. Its message is empty if the matcher finds places alone. */
export interface Match extends ReportedPlace {
  /** The line of the output that names the place, from 0. */
  readonly at: number;
  /** The folder of the matcher. */
  readonly folder?: string;
}

/** The matchers that one text is searched with, in a worker. */
export interface MatchQuery {
  readonly text: string;
  readonly matchers: readonly ProblemMatcher[];
}

/** Longer lines are bundles or data. */
const MAX_LINE = 2_000;
/** The most problems of one matcher. */
const MAX_MATCHES = 200;

type Groups = Partial<Record<'file' | 'location' | 'line' | 'column' | 'severity' | 'message', string>>;

/** Finds the matches of all matchers in a text, in the order of its lines and, on one line, of the matchers. */
export function matchLines({ text, matchers }: MatchQuery): readonly Match[] {
  const lines = text.split(/\r?\n/);
  const found = matchers.flatMap(matcher => matchesOf(matcher, lines));
  return found.sort((a, b) => a.at - b.at);
}

function matchesOf(matcher: ProblemMatcher, lines: readonly string[]): readonly Match[] {
  const patterns = matcher.patterns.map(pattern => ({ pattern, regex: new RegExp(pattern.regexp) }));
  const found: Match[] = [];
  const groupsAt = (index: number, n: number): Groups | undefined => {
    const line = lines[index];
    const each = patterns[n];
    if (line === undefined || line.length > MAX_LINE || !each) return undefined;
    const match = each.regex.exec(line);
    return match ? groupsOf(each.pattern, match) : undefined;
  };
  for (let first = 0; first < lines.length && found.length < MAX_MATCHES; first++) {
    const parts: Groups[] = [];
    let place = first;
    for (let n = 0; n < patterns.length; n++) {
      const groups = groupsAt(first + n, n);
      if (!groups) break;
      if (groups.line !== undefined || groups.location !== undefined) place = first + n;
      parts.push(groups);
    }
    if (parts.length < patterns.length) continue;
    add(found, matcher, place, parts);
    first += patterns.length - 1;
    if (patterns.at(-1)?.pattern.loop !== true) continue;
    for (let more; (more = groupsAt(first + 1, patterns.length - 1)); first++)
      add(found, matcher, first + 1, [...parts.slice(0, -1), more]);
  }
  return found;
}

function groupsOf(pattern: ProblemPattern, match: RegExpExecArray): Groups {
  const names = ['file', 'location', 'line', 'column', 'severity', 'message'] as const;
  const told = names.flatMap(name => {
    const group = pattern[name];
    const value = group === undefined ? undefined : match[group]?.trim();
    return value === undefined || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(told) as Groups;
}

function add(
  found: Match[],
  { severity, folder }: ProblemMatcher,
  at: number,
  parts: readonly Groups[],
): void {
  const all: Groups = Object.assign({}, ...parts) as Groups;
  if (all.file === undefined) return;
  const [line, column] = all.location?.split(',') ?? [all.line, all.column];
  const told = all.severity ?? severity;
  found.push({
    at,
    file: all.file,
    line: numberIn(line),
    column: numberIn(column),
    message: parts.flatMap(({ message }) => message ?? []).join(' '),
    ...(told === undefined ? {} : { severity: told }),
    ...(folder === undefined ? {} : { folder }),
  });
}

/** Reads the number of a line or column. It is 1 if there is none: a program that names only a file means its beginning. */
function numberIn(text = '1'): number {
  const number = Number.parseInt(text, 10);
  return Number.isNaN(number) ? 1 : number;
}
