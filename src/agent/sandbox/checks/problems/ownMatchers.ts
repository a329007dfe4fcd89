import type { ProblemMatcher } from './problemMatcher.ts';

const place = (regexp: string): ProblemMatcher => ({ patterns: [{ regexp, file: 1, line: 2, column: 3 }] });
const single = (regexp: string): ProblemMatcher => ({
  patterns: [{ regexp, file: 1, line: 2, column: 3, message: 4 }],
});

/**
 * Matchers for outputs that no extension covers. The named ones are VS Code's own, which extensions cannot read. A matcher without
 * a message finds only a place, and the error above it becomes the message. A regular expression here takes at most quadratic time
 * in the length of a line.
 */
export const NAMED: Readonly<Record<string, ProblemMatcher>> = {
  /** `a.ts(3,5): error TS2322: …` of MSBuild and compilers that write like it. */
  msCompile: single(String.raw`^\s*(?:\d+>)?(\S.*?)\((\d+),(\d+)(?:,\d+,\d+)?\)\s*:\s+(.+)$`),
  /** `a.ts: line 3, col 5, Error - …` */
  'eslint-compact': single(String.raw`^(\S.*?): line (\d+), col (\d+), ((?:Error|Warning|Info) - .+)$`),
  /** `  3:5  error  message  rule` below a line with the path. */
  'eslint-stylish': {
    patterns: [
      { regexp: String.raw`^(\S.*)$`, file: 1 },
      {
        regexp: String.raw`^\s+(\d+):(\d+)\s+((error|warning|info)\s+.+)$`,
        line: 1,
        column: 2,
        message: 3,
        severity: 4,
        loop: true,
      },
    ],
  },
  /** `a.ts:3:5 - error TS2322: …`, `a.c:3:5: error: …`, `./a.go:3:5: …`, `a.py:3: …` of most compilers and linters. */
  go: single(String.raw`^\s*((?:[A-Za-z]:)?[^\s:][^:]*):(\d+)(?::(\d+))?(?::| -)\s+(.+)$`),
};

export const OWN: readonly ProblemMatcher[] = [
  ...Object.values(NAMED),
  /** rustc. */
  {
    patterns: [
      { regexp: String.raw`^((error|warning)(?:\[\w+\])?: .+)$`, message: 1, severity: 2 },
      { regexp: String.raw`^\s*--> (.+?):(\d+):(\d+)$`, file: 1, line: 2, column: 3 },
    ],
  },
  /** A test of Cargo. */
  {
    patterns: [
      { regexp: String.raw`\bpanicked at (.+?):(\d+):(\d+):$`, file: 1, line: 2, column: 3 },
      { regexp: '^(.*)$', message: 1 },
    ],
  },
  /** esbuild, and Vite with it. */
  {
    patterns: [
      { regexp: String.raw`^(?:\S )?\[(ERROR|WARNING)\] (.+)$`, severity: 1, message: 2 },
      { regexp: String.raw`^\s*$` },
      { regexp: String.raw`^\s+(\S.*?):(\d+):(\d+):$`, file: 1, line: 2, column: 3 },
    ],
  },
  /** Rollup, and Vite with it. */
  single(String.raw`^\s*(\S.*?) \((\d+):(\d+)\): (.+)$`),
  place(String.raw`^\s*[Ff]ile: (\S.*?):(\d+):(\d+)$`),
  /** Biome. */
  {
    patterns: [
      {
        regexp: String.raw`^(\S.*?):(\d+):(\d+) [a-z][\w/-]*(?:\s+FIXABLE)?\s+━+$`,
        file: 1,
        line: 2,
        column: 3,
      },
      { regexp: String.raw`^\s*$` },
      { regexp: String.raw`^\s+(?:[✖×]|([!⚠])|i) (.+)$`, severity: 1, message: 2 },
    ],
  },
  /** Maven. */
  {
    patterns: [
      {
        regexp: String.raw`^\[(ERROR|WARNING)\] (\S.*?):\[(\d+),(\d+)\] (.+)$`,
        severity: 1,
        file: 2,
        line: 3,
        column: 4,
        message: 5,
      },
    ],
  },
  /** Kotlin by way of Gradle, in its new and its old form. */
  ...[String.raw`(\d+):(\d+):?`, String.raw` \((\d+), (\d+)\):`].map((where): ProblemMatcher => ({
    patterns: [
      {
        regexp: String.raw`^([ew]): (\S.*?):${where} (.+)$`,
        severity: 1,
        file: 2,
        line: 3,
        column: 4,
        message: 5,
      },
    ],
  })),
  /** RSpec: the failed examples, and their backtraces. */
  { patterns: [{ regexp: String.raw`^rspec (\S.*?):(\d+) # (.+)$`, file: 1, line: 2, message: 3 }] },
  { patterns: [{ regexp: String.raw`^\s*# (\S.*?):(\d+):in `, file: 1, line: 2 }] },
  /** PHPUnit. */
  { patterns: [{ regexp: String.raw`^(\S.*?\.php):(\d+)$`, file: 1, line: 2 }] },
  /** Vitest, which may name the function. */
  place(String.raw`^\s*❯ (?:[^\s/\\]+ )?(\S.*?):(\d+):(\d+)$`),
  /** A line of a stack: `at f (file:///a.ts:3:5)`, `at /a.ts:3:5`. */
  place(String.raw`^\s*at (?:(?:.*? )?\(|async )?([^\s(].*?):(\d+):(\d+)\)?$`),
  /** Python; the message comes at the end. */
  { patterns: [{ regexp: String.raw`^\s*File "([^"]+)", line (\d+)`, file: 1, line: 2 }] },
];
