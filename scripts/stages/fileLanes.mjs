/** Runs test files of `node:test` in lanes: a few processes that take the next file when they are done with one. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endOf } from '../lib/command.mjs';
import { quietMs } from '../lib/limits.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { runLanes, sumOf } from './lanes.mjs';

const script = fileURLToPath(new URL('./fileLane.mjs', import.meta.url));
const reporter = new URL('./laneReporter.mjs', import.meta.url).href;

/** The lanes import much the same: the first to compile a module does it for the others, and for the next run. */
const COMPILED = { NODE_COMPILE_CACHE: inRepo('out', 'compile-cache') };

/** Stands for the name of a test where the process of a file broke off. */
export const BROKE = 'the process';

/**
 * A test that has ended, or the failure of its file.
 * @typedef {{ file: string, name: string, outcome: 'passed' | 'failed' | 'skipped', error?: string }} EndedTest
 */

/**
 * @param {readonly string[]} files relative to the repository's root, with slashes
 * @param {object} options
 * @param {number} options.lanes
 * @param {readonly string[]} [options.first] those of the files that begin first, since they take longer than their size tells
 * @param {readonly string[]} [options.alone] those of the files that do not bear another one in their process
 * @param {string} [options.grep] runs only tests whose name, or the name of whose file, matches
 * @param {Record<string, string>} [options.env] added to the environment of the tests
 * @param {number} [options.quiet] how long no test may begin or end, in milliseconds
 * @param {(test: EndedTest) => unknown} [options.onTest] is told of each test
 * @param {(text: string) => unknown} [options.write] prints the lanes' output
 * @returns {Promise<import('./lanes.mjs').LaneCounts>} a file that breaks off, hangs or has no tests counts as a failure; the other files are run
 */
export async function runFiles(
  files,
  { lanes, first = [], alone = [], grep, env, quiet = quietMs(), onTest = () => {}, write },
) {
  const sizes = new Map(files.map(file => [file, fs.statSync(path.resolve(repoRoot, file)).size]));
  const bySize = files.toSorted((a, b) => sizes.get(b) - sizes.get(a));
  // Longest first, because then the lanes end at about the same time.
  const waiting = [...first, ...bySize.filter(file => !first.includes(file))];
  const options = { waiting, alone: new Set(alone), grep, env, quiet, onTest };
  const run = async print => {
    const counted = [];
    while (waiting.length > 0) counted.push(await new LaneProcess({ ...options, print }).ended);
    return sumOf(counted);
  };
  return sumOf(await runLanes(Math.min(lanes, files.length), run, write));
}

/** A process that runs files until none is left for it, or one of them breaks it. */
class LaneProcess {
  #options;
  #child;
  #timer;
  #counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  /** The file that runs, or the last one. */
  #file;
  #running = false;
  /** It waits for the next file. */
  #isFree = false;
  /** It has been free once: it could be started. */
  #hasStarted = false;
  #tests = 0;
  /** The test that began last. */
  #test;

  constructor(options) {
    this.#options = options;
    const { grep, env, print } = options;
    const args = [
      '--disable-warning=ExperimentalWarning',
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[`--test-reporter=${reporter}`, '--test-reporter-destination=stderr'],
      ...(grep ? [`--test-name-pattern=${grep}`] : []),
      script,
    ];
    this.#child = spawn(process.execPath, args, {
      cwd: repoRoot,
      // A test of ours may start lanes: to node:test they are no part of it.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...COMPILED, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', print);
    this.#child.on('message', message => this.#told(message));
    this.ended = this.#end();
  }

  async #end() {
    const reason = await endOf(this.#child);
    const reported = [...this.#counts.failures];
    clearTimeout(this.#timer);
    if (!this.#hasStarted) {
      // Another one would fare no better.
      this.#fail(`No process for tests could be started: ${reason}`);
      this.#options.waiting.length = 0;
    } else if (this.#running) {
      this.#fail(
        `${this.#file} broke off${this.#test ? ` in "${this.#test}"` : ''} (${reason ?? 'its process ended'})`,
      );
      // The report at the end of the process is missing.
      for (const failure of reported) this.#options.print(`✖ ${failure}\n`);
    } else if (reason && this.#counts.failed === 0) {
      this.#fail(`A process that ran tests, the last of them in ${this.#file}, ended with ${reason}`);
    }
    return this.#counts;
  }

  #told(message) {
    this.#stir();
    if (message.type === 'free') this.#isFree = this.#hasStarted = true;
    else if (message.type === 'began') this.#test = message.name;
    else this.#testEnded(message);
    // Messages of the last file may still be on their way. One in which no test has the wanted name tells nothing.
    if (this.#isFree && (!this.#running || this.#options.grep)) this.#next();
  }

  #testEnded({ name, isFile, isSuite, outcome, error }) {
    // The tests of a suite that is skipped are not told of.
    const isTest = !isSuite || outcome === 'skipped';
    if (isTest) {
      this.#counts[outcome]++;
      this.#tests++;
    } else if (error) this.#counts.failed++;
    if (isTest || error) this.#options.onTest({ file: this.#file, name, outcome, error });
    if (error) this.#counts.failures.push(`${this.#file}: ${name}\n${error}`);
    if (!isFile) return;
    this.#running = false;
    if (this.#tests === 0 && !error && !this.#options.grep) this.#fail(`${this.#file} has no tests`);
  }

  #next() {
    this.#isFree = false;
    const file = this.#take();
    this.#running = file !== null;
    this.#tests = 0;
    this.#test = undefined;
    if (file !== null) this.#file = file;
    this.#child.send(file);
  }

  /** Takes a file that waits; null when none is left that this process may run. */
  #take() {
    const { waiting, alone, grep } = this.#options;
    const isFirst = this.#file === undefined;
    // After a file in which no test has the wanted name, node:test would run no other.
    if (!isFirst && (grep !== undefined || alone.has(this.#file))) return null;
    const index = waiting.findIndex(file => isFirst || !alone.has(file));
    return index < 0 ? null : waiting.splice(index, 1)[0];
  }

  /** Something has happened. When nothing does for long, the process is ended. */
  #stir() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#options.print(
        `Nothing has happened in ${this.#file} for ${Math.round(this.#options.quiet / 1_000)} s.\n`,
      );
      this.#child.kill('SIGKILL');
    }, this.#options.quiet);
  }

  #fail(text) {
    this.#counts.failed++;
    this.#counts.failures.push(text);
    this.#options.onTest({ file: this.#file ?? '', name: BROKE, outcome: 'failed', error: text });
    this.#options.print(`✖ ${text}\n`);
  }
}
