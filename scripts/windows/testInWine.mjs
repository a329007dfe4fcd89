/** Runs unit tests under Wine and says how they ended: the whole of `npm run test:windows`. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { run } from '../lib/command.mjs';
import { limitMs } from '../lib/limits.mjs';
import { inRepo } from '../lib/paths.mjs';
import { fetchEngine, findEngine } from '../packaging/engines.mjs';
import { ALONE } from '../stages/unit.mjs';
import { endWine, prepareWine, windowsPath } from './wine.mjs';
import { judge } from './judge.mjs';

/** How long no test may begin or end, on our machine: one that takes 80 s took longer while others used both cores. */
const QUIET_MS = 300_000;

/**
 * @param {readonly string[]} files relative to the repository's root
 * @param {{ grep?: string }} options
 * @returns {Promise<number>} an exit status
 */
export async function testInWine(files, { grep }) {
  const started = performance.now();
  const listed = JSON.parse(fs.readFileSync(new URL('./notInWine.json', import.meta.url), 'utf8'));
  const isLeftOut = file =>
    Object.values(listed.notRun)
      .flat()
      .some(one => path.matchesGlob(file, one));
  const run = files.filter(file => !isLeftOut(file));
  await fetchEngine('win32-x64');
  const wine = await prepareWine();
  const folder = inRepo('out', 'windows');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const at = name => path.join(folder, name);
  const job = {
    files: run,
    // They would come last, one of them long after all else.
    first: Object.keys(ALONE).filter(file => run.includes(file)),
    alone: Object.keys(ALONE),
    grep,
    lanes: os.availableParallelism(),
    quiet: limitMs(QUIET_MS),
    output: windowsPath(at('output.txt')),
    results: windowsPath(at('results.jsonl')),
  };
  fs.writeFileSync(at('job.json'), JSON.stringify(job));
  console.log(
    `redline: running ${run.length} files of tests under Wine: out/windows/output.txt has their output …`,
  );
  const status = await runInWine(wine, at('job.json'), at('console.txt'));
  const lines = fs.existsSync(at('results.jsonl')) ? fs.readFileSync(at('results.jsonl'), 'utf8') : '';
  const tests = lines
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
  const isWhole = tests.at(-1) === null;
  const verdict = judge(tests.filter(Boolean), listed, { isPart: grep !== undefined });
  console.log(verdict.text);
  if (!isWhole)
    console.log(
      `${fs.readFileSync(at('console.txt'), 'utf8')}✖ The run broke off with status ${status}: not all files were run.`,
    );
  console.log(`${files.length - run.length} files are not run here; ${minutes(performance.now() - started)}`);
  console.log(`${verdict.passed} passed, ${verdict.failed} failed`);
  return isWhole && verdict.failed === 0 && verdict.passed > 0 ? 0 : 1;
}

/** The Windows Node cannot use a pipe as its console: that is a file. */
async function runInWine({ node, env }, job, consoleFile) {
  const preload = windowsPath(inRepo('scripts', 'windows', 'keepAlive.cjs')).replaceAll('\\', '/');
  const script = windowsPath(inRepo('scripts', 'windows', 'inWine.mjs'));
  try {
    return await run('sh', ['-c', 'exec wine "$@" >"$0" 2>&1', consoleFile, node, script, windowsPath(job)], {
      env: {
        ...env,
        NODE_OPTIONS: `--disable-warning=DEP0111 --require="${preload}"`,
        NAPI_RS_NATIVE_LIBRARY_PATH: windowsPath(findEngine('win32-x64')),
      },
    });
  } finally {
    await endWine(env);
  }
}

const minutes = ms => `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
