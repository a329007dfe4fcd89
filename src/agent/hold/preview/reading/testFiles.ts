const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\//;
const TEST_NAME =
  /(?:[._-](?:test|spec|cy)\.[^./]+|_(?:test|spec)\.[^./]+|(?:Test|Tests|Spec)\.(?:java|kt|scala|cs|php|swift))$/;

/** Whether a path is that of a test, or of something that tests use, as projects usually name them. */
export function isTestFile(path: string): boolean {
  return TEST_FOLDER.test(path) || TEST_NAME.test(path) || /(?:^|\/)(?:test_[^/]*|conftest)\.py$/.test(path);
}

/** A line that begins a test case, in the frameworks that are used most. */
const CASE =
  /^[^\S\r\n]*(?:(?:it|test)(?:\.\w+)*[^\S\r\n]*[(`]|(?:async[^\S\r\n]+)?def[^\S\r\n]+test\w*|func[^\S\r\n]+Test\w+|#\[(?:\w+::)?test\]|@(?:Parameterized)?Test\b|\[(?:Fact|Theory|Test|TestMethod)\b)/gm;
/** Marks that keep a test, or all others, from running. */
const SKIPPED =
  /\b(?:it|test|describe|suite|context)\.(?:skip|todo|only|fixme)\b|\bx(?:it|describe|test)[^\S\r\n]*\(|@(?:pytest\.mark|unittest)\.(?:skip|xfail)|\bt\.Skip(?:f|Now)?\(|#\[ignore|@(?:Disabled|Ignore)\b|\bskip:[^\S\r\n]*(?:true|['"])|\bpytest\.skip\(/g;
/** Assertions in a test. */
const ASSERTED =
  /\bexpect[^\S\r\n]*\(|\bassert\w*(?:\.\w+)*!?[^\S\r\n]*\(|^[^\S\r\n]*assert[^\S\r\n]|\.should\b|\bt\.(?:Error|Errorf|Fatal|Fatalf)\(/gm;

/** How a change weakens the tests in a file, in numbers. */
export interface FewerTests {
  /** Test cases that are gone. */
  readonly dropped: number;
  /** New marks that keep a test, or all others, from running. */
  readonly skipped: number;
  /** Assertions that are gone. */
  readonly assertions: number;
}

/** @returns `undefined` if the lines show no fewer tests than before */
export function fewerTests(before: string, after: string): FewerTests | undefined {
  const less = (pattern: RegExp): number => Math.max(0, countOf(before, pattern) - countOf(after, pattern));
  const skipped = Math.max(0, countOf(after, SKIPPED) - countOf(before, SKIPPED));
  const [dropped, assertions] = [less(CASE), less(ASSERTED)];
  return dropped + skipped + assertions > 0 ? { dropped, skipped, assertions } : undefined;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
