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

/** Deals the files out, longest first and there and back, so that the shares have about as many bytes each. */
function sharesOf(files, number) {
  const sizeOf = file => fs.statSync(inRepo('test/host/suite', file.replace(/\.cjs$/, '.ts'))).size;
  const bySize = files.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return Array.from({ length: number }, (_, share) =>
    bySize.filter((_, n) => [share, 2 * number - 1 - share].includes(n % (2 * number))),
  );
}

/** Reads the runner's report. A run that broke off counts as one more failure. */
function countsOf(file, failure, print) {
  const started = fs.existsSync(file) && JSON.parse(fs.readFileSync(file, 'utf8'));
  const none = { passed: 0, failed: 0, skipped: 0, leftOut: Object.keys(NOT_ON_OLDEST), tests: [] };
  const { passed, failed, skipped, leftOut, tests, finished, running } = started || none;
  const failures = tests
    .filter(({ state }) => state === 'failed')
    .map(({ title, error }) => `${title}\n${error ?? ''}`);
  // Without an end of the tests, or a failure among them, the run as a whole has failed.
  if (finished && (failed > 0 || !failure)) return { passed, failed, skipped, failures, leftOut };
  const broke = `The host tests broke off${running ? ` in "${running}"` : ''}: ${failure}`;
  print(`${broke}\n`);
  return { passed, failed: failed + 1, skipped, failures: [...failures, broke], leftOut };
}
