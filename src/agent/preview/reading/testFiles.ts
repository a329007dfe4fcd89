const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e)\//;
const TEST_NAME =
  /(?:[._-](?:test|spec|cy)\.[^./]+|_(?:test|spec)\.[^./]+|(?:Test|Tests|Spec)\.(?:java|kt|scala|cs|php|swift))$/;

/** Whether a path is that of a test, or of something that tests use, as projects usually name them. */
export function isTestFile(path: string): boolean {
  return TEST_FOLDER.test(path) || TEST_NAME.test(path) || /(?:^|\/)(?:test_[^/]*|conftest)\.py$/.test(path);
}
