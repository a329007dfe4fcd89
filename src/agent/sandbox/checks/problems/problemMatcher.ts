import { isRecord } from '../../../base/json.ts';

/** Pattern for one line of an output. Numbers are those of groups of the regular expression. */
export interface ProblemPattern {
  readonly regexp: string;
  readonly file?: number;
  /** Group with the line, and with the column if a comma follows. */
  readonly location?: number;
  readonly line?: number;
  readonly column?: number;
  readonly severity?: number;
  readonly message?: number;
  /** As the last pattern, it matches any number of lines, each of which is a problem. */
  readonly loop?: boolean;
}

/** Finds problems in the output of a program: one line for each pattern, in succession. */
export interface ProblemMatcher {
  readonly patterns: readonly ProblemPattern[];
  /** Severity of problems for which no pattern finds one. */
  readonly severity?: string;
  /** Folder that file names are relative to; it may begin with a variable. By default the folder in which the program ran. */
  readonly folder?: string;
}

/** Matchers and patterns by their names, without the `$` that refers to them. */
export interface NamedMatchers {
  readonly matchers: ReadonlyMap<string, ProblemMatcher>;
  readonly patterns: ReadonlyMap<string, readonly ProblemPattern[]>;
}

/** Far more than any program needs. */
const MAX_TEXT = 5_000;
const MAX_PATTERNS = 20;
const GROUPS = ['file', 'location', 'line', 'column', 'severity', 'message'] as const;

/**
 * The matchers and patterns that extensions contribute. Invalid ones are left out; of several with one name, the first counts.
 * @param contributions the `contributes` of their manifests
 */
export function contributedMatchers(contributions: readonly unknown[]): NamedMatchers {
  const patterns = new Map<string, readonly ProblemPattern[]>();
  const matchers = new Map<string, ProblemMatcher>();
  const each = function* (key: string): Iterable<readonly [string, Readonly<Record<string, unknown>>]> {
    for (const contributes of contributions) {
      const list = isRecord(contributes) ? contributes[key] : undefined;
      for (const item of Array.isArray(list) ? (list as unknown[]) : [])
        if (isRecord(item) && typeof item['name'] === 'string') yield [item['name'], item];
    }
  };
  for (const [name, item] of each('problemPatterns')) {
    const read = patternsIn(item['patterns'] ?? item, patterns);
    if (read && !patterns.has(name)) patterns.set(name, read);
  }
  for (const [name, item] of each('problemMatchers')) {
    const read = matcherIn(item, { patterns, matchers });
    if (read && !matchers.has(name)) matchers.set(name, read);
  }
  return { matchers, patterns };
}

/**
 * The matchers of a `problemMatcher`, written as in tasks.json: a name, an object, or a list of both.
 * @returns also the parts that are not matchers, as JSON
 */
export function matchersIn(
  value: unknown,
  named: NamedMatchers,
): { readonly matchers: readonly ProblemMatcher[]; readonly unknown: readonly string[] } {
  const matchers: ProblemMatcher[] = [];
  const unknown: string[] = [];
  for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
    const read = typeof each === 'string' ? namedIn(each, named.matchers) : matcherIn(each, named);
    if (read) matchers.push(read);
    else unknown.push(JSON.stringify(each));
  }
  return { matchers, unknown };
}

function namedIn<T>(name: string, known: ReadonlyMap<string, T>): T | undefined {
  return name.startsWith('$') ? known.get(name.slice(1)) : undefined;
}

function matcherIn(value: unknown, named: NamedMatchers): ProblemMatcher | undefined {
  if (!isRecord(value)) return undefined;
  const { base, pattern, severity, fileLocation } = value;
  const below = typeof base === 'string' ? namedIn(base, named.matchers) : undefined;
  const patterns = pattern === undefined ? below?.patterns : patternsIn(pattern, named.patterns);
  if (!patterns) return undefined;
  const folder: unknown = Array.isArray(fileLocation) ? fileLocation[1] : undefined;
  return {
    ...below,
    patterns,
    ...(typeof severity === 'string' ? { severity } : {}),
    ...(typeof folder === 'string' ? { folder } : {}),
  };
}

function patternsIn(
  value: unknown,
  named: ReadonlyMap<string, readonly ProblemPattern[]>,
): readonly ProblemPattern[] | undefined {
  if (typeof value === 'string') return namedIn(value, named);
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  if (list.length === 0 || list.length > MAX_PATTERNS) return undefined;
  const patterns = list.map(patternIn);
  if (!patterns.every(pattern => pattern !== undefined)) return undefined;
  const [only] = patterns;
  if (patterns.length > 1 || !only) return patterns;
  // A single pattern may leave out the usual groups.
  const isPlaced = only.location !== undefined || (isRecord(list[0]) && list[0]['kind'] === 'file');
  return [{ file: 1, message: 0, ...(isPlaced ? {} : { line: 2, column: 3 }), ...only }];
}

function patternIn(value: unknown): ProblemPattern | undefined {
  if (!isRecord(value)) return undefined;
  const { regexp, loop } = value;
  if (typeof regexp !== 'string' || regexp.length > MAX_TEXT || !isRegex(regexp)) return undefined;
  const groups = GROUPS.flatMap(name => {
    const group = value[name];
    return typeof group === 'number' && Number.isInteger(group) && group >= 0 ? [[name, group]] : [];
  });
  return { regexp, ...(Object.fromEntries(groups) as object), ...(loop === true ? { loop } : {}) };
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
