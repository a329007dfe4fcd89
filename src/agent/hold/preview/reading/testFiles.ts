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
/** What keeps a test from running, or all others. */
const SKIPPED =
  /\b(?:it|test|describe|suite|context)\.(?:skip|todo|only|fixme)\b|\bx(?:it|describe|test)[^\S\r\n]*\(|@(?:pytest\.mark|unittest)\.(?:skip|xfail)|\bt\.Skip(?:f|Now)?\(|#\[ignore|@(?:Disabled|Ignore)\b|\bskip:[^\S\r\n]*(?:true|['"])|\bpytest\.skip\(/g;
/** What a test asserts. */
const ASSERTED =
  /\bexpect[^\S\r\n]*\(|\bassert\w*(?:\.\w+)*!?[^\S\r\n]*\(|^[^\S\r\n]*assert[^\S\r\n]|\.should\b|\bt\.(?:Error|Errorf|Fatal|Fatalf)\(/gm;

/** How a change makes a file of tests test less, in numbers of each. */
export interface FewerTests {
  /** Test cases that are gone. */
  readonly dropped: number;
  /** Marks by which a test, or all others, no longer run. */
  readonly skipped: number;
  /** Assertions that are gone. */
  readonly assertions: number;
}

/** @returns `undefined` if as much is tested as before, as far as the lines show it */
export function fewerTests(before: string, after: string): FewerTests | undefined {
  const less = (pattern: RegExp): number => Math.max(0, countOf(before, pattern) - countOf(after, pattern));
  const skipped = Math.max(0, countOf(after, SKIPPED) - countOf(before, SKIPPED));
  const [dropped, assertions] = [less(CASE), less(ASSERTED)];
  return dropped + skipped + assertions > 0 ? { dropped, skipped, assertions } : undefined;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
