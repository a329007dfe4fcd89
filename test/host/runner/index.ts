/**
 * The suite's entry, which VS Code calls in the extension host. It runs bundled test files with Mocha, and writes the results
 * after every test, so that a run that breaks off is noticed.
 */
import type Mocha from 'mocha';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { limitMs } from '../../../scripts/lib/limits.mjs';

/** The results that `scripts/stages/host.mjs` reads. */
interface Results {
  finished: boolean;
  /** The test that is running: when the run breaks off, this is where. */
  running: string | undefined;
  passed: number;
  failed: number;
  skipped: number;
  /** Full titles of tests that were not run, because they are not for this VS Code. */
  leftOut: string[];
  tests: { title: string; state: 'passed' | 'failed' | 'skipped'; milliseconds: number; error?: string }[];
}

const TIMEOUT_MS = limitMs(60_000);

/** Resolves when all tests passed. */
export async function run(): Promise<void> {
  const folder = variable('REDLINE_HOST_SUITE');
  const file = variable('REDLINE_HOST_RESULTS');
  const grep = process.env['REDLINE_GREP'];
  // Mocha is an ES module, which an older Node gives to `require` in another form.
  const { default: Runner } = await import('mocha');
  const mocha = new Runner({
    ui: 'tdd',
    timeout: TIMEOUT_MS,
    color: false,
    forbidOnly: true,
    ...(grep ? { grep } : {}),
  });
  const files = process.env['REDLINE_HOST_FILES']?.split(',') ?? fs.readdirSync(folder);
  for (const name of files.sort()) mocha.addFile(path.join(folder, name));
  await mocha.loadFilesAsync();
  const results: Results = {
    finished: false,
    running: undefined,
    passed: 0,
    failed: 0,
    skipped: 0,
    leftOut: [],
    tests: [],
  };
  const notHere = JSON.parse(process.env['REDLINE_HOST_LEAVE_OUT'] ?? '[]') as string[];
  leaveOut(mocha.suite, new Set(notHere), results.leftOut);
  const write = (): void => fs.writeFileSync(file, JSON.stringify(results, null, 2));
  write();
  await new Promise<void>(resolve => {
    const runner = mocha.run(() => resolve());
    const record = (test: Mocha.Runnable, state: 'passed' | 'failed' | 'skipped', error?: unknown): void => {
      results[state]++;
      results.tests.push({
        title: test.fullTitle(),
        state,
        milliseconds: test.duration ?? 0,
        ...(error instanceof Error ? { error: error.stack ?? error.message } : {}),
      });
      write();
    };
    runner.on('test', test => {
      results.running = test.fullTitle();
      write();
    });
    runner.on('pass', test => record(test, 'passed'));
    runner.on('pending', test => record(test, 'skipped'));
    runner.on('fail', (test, error) => record(test, 'failed', error));
  });
  results.finished = true;
  results.running = undefined;
  write();
  if (results.failed > 0) throw new Error(`${results.failed} host tests failed`);
  if (results.passed === 0) throw new Error('no host test ran');
}

/** Takes tests out of a suite and the suites in it. */
function leaveOut(suite: Mocha.Suite, titles: ReadonlySet<string>, left: string[]): void {
  const isLeft = (test: Mocha.Test): boolean => titles.has(test.fullTitle());
  left.push(...suite.tests.filter(isLeft).map(test => test.fullTitle()));
  suite.tests = suite.tests.filter(test => !isLeft(test));
  for (const inner of suite.suites) leaveOut(inner, titles, left);
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the host tests with npm test -- --only=host`);
  return value;
}
