import { test, type TestContext } from 'node:test';

/** A test of what only Windows has, declared only there: elsewhere nobody has to read that it is skipped. */
export function windowsTest(name: string, run: (context: TestContext) => Promise<void>): void {
  if (process.platform === 'win32') void test(name, run);
}
