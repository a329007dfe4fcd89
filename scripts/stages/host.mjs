/** The stages "host" and "hostRest": Mocha in the extension hosts of real VS Codes; `extensionHost.mjs` says which ones. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { oldestVersion, whichVscode } from '../headless/releases.mjs';
import { runInExtensionHost } from '../lib/extensionHost.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { copyExampleWorkspace } from '../lib/workspaceCopy.mjs';
import { bundleHostTests, hostBundles } from './hostBundles.mjs';
import { runLanes, sumOf } from './lanes.mjs';
import { NOT_ON_OLDEST } from './laterVscode.mjs';

/** VS Codes that run test files side by side. A host test mostly waits. */
const LANES = Math.min(2, os.availableParallelism());

/** Suites around the core that take long: other programs and models, commands, every notice and every kind of editor. */
const REST = [
  'agentSetUp',
  'badInput',
  'stageApplied',
  'conflicts',
  'diagnostics',
  'drafts',
  'editorCorners',
  'elsewhere',
  'followedFiles',
  'languageModel',
  'manners',
  'nativeChat',
  'problems',
  'runCommand',
  'symbols',
];
const isRest = file => REST.includes(file.replace(/\.test\.cjs$/, ''));

const isOldest = () => whichVscode().version === oldestVersion();

/** @type {import('./runStages.mjs').Stage} the core; with a name to look for, and in the oldest VS Code, all host tests */
export const host = ({ grep }) => run('host', file => grep || isOldest() || !isRest(file), grep);

/** @type {import('./runStages.mjs').Stage} all other host tests */
export const hostRest = async ({ grep }) =>
  isOldest()
    ? { passed: 0, failed: 0, skipped: 0, notRun: 'all host tests run in the stage host there' }
    : run('hostRest', isRest, grep);

async function run(stage, isWanted, grep) {
  const { kind, version } = whichVscode();
  const leaveOut = isOldest() ? NOT_ON_OLDEST : {};
  await bundleHostTests();
  const files = fs.readdirSync(path.join(hostBundles, 'suite')).filter(isWanted);
  const shares = sharesOf(files, grep ? 1 : LANES);
  const lanes = await runLanes(shares.length, async (print, index) => {
    const results = path.join(hostBundles, `${stage}-${index + 1}.json`);
    const env = { REDLINE_GREP: grep, REDLINE_HOST_LEAVE_OUT: JSON.stringify(Object.keys(leaveOut)) };
    const failure = await runHostTests(shares[index], results, { env, print });
    return countsOf(results, failure, print);
  });
  console.log(`The host tests ran in ${kind} VS Code ${version}.`);
  for (const [title, why] of Object.entries(leaveOut)) console.log(`Not run there: ${title} (${why}).`);
  const unknown = Object.keys(leaveOut).filter(
    title => !lanes.some(({ leftOut }) => leftOut.includes(title)),
  );
  const sum = sumOf(lanes);
  const failures = unknown.map(title => `laterVscode.mjs names a test that there is not: ${title}`);
  for (const failure of failures) console.log(`✖ ${failure}`);
  return { ...sum, failed: sum.failed + failures.length, failures: [...sum.failures, ...failures] };
}

/**
 * Runs host tests in a VS Code of their own.
 * @param {readonly string[]} files names of bundled test files
 * @param {string} results the file for the results
 * @param {{ env: Record<string, string | undefined>, print?: (text: string | Uint8Array) => void }} options
 * @returns {Promise<string | undefined>} how the run failed, if it did
 */
export async function runHostTests(files, results, { env, print }) {
  const fixtures = ['drawings', 'modelVendor', 'toolVendor'].map(name => inRepo('test/host/fixtures', name));
  try {
    await runInExtensionHost({
      suite: path.join(hostBundles, 'runner.cjs'),
      workspace: copyExampleWorkspace(),
      extensions: [inRepo('examples', 'bookmarks'), ...fixtures],
      env: {
        ...env,
        REDLINE_HOST_SUITE: path.join(hostBundles, 'suite'),
        REDLINE_HOST_FILES: files.join(),
        REDLINE_HOST_RESULTS: results,
        REDLINE_REPO: repoRoot,
      },
      print,
    });
  } catch (error) {
    return error.message;
  }
}

/** Divides the files so that each share has about as many bytes as any other. */
function sharesOf(files, number) {
  const sizes = new Map(
    files.map(file => [file, fs.statSync(inRepo('test/host/suite', sourceOf(file))).size]),
  );
  const shares = Array.from({ length: number }, () => ({ size: 0, files: [] }));
  for (const [file, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
    const smallest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    smallest.files.push(file);
    smallest.size += size;
  }
  return shares.map(share => share.files);
}

const sourceOf = bundle => bundle.replace(/\.cjs$/, '.ts');

/** Reads the runner's report. A run that broke off counts as one more failure. */
function countsOf(file, failure, print) {
  const results = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
  const {
    passed = 0,
    failed = 0,
    skipped = 0,
    leftOut = Object.keys(NOT_ON_OLDEST),
    tests = [],
  } = results ?? {};
  const failures = tests
    .filter(({ state }) => state === 'failed')
    .map(({ title, error }) => `${title}\n${error ?? ''}`);
  const broke = whyItBroke(results, failure);
  if (broke === undefined) return { passed, failed, skipped, failures, leftOut };
  print(`${broke}\n`);
  return { passed, failed: failed + 1, skipped, failures: [...failures, broke], leftOut };
}

function whyItBroke(results, failure) {
  if (!results) return `The host tests did not start: ${failure}`;
  const { finished, running, failed } = results;
  if (!finished) return `The host tests broke off${running ? ` in "${running}"` : ''}: ${failure}`;
  return failed === 0 ? failure : undefined;
}
