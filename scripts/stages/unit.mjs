/** The stages "unit", "unitRest" and "rounds": everything that runs without VS Code, in plain Node. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { ensureBubblewrap } from '../lib/apt.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { runFiles } from './fileLanes.mjs';

const TESTS = 'test/unit/**/*.test.ts';

/** Files that change their whole process, each with the change. */
export const ALONE = {
  'test/unit/hold/text/encodings.test.ts': 'loads the tables of encodings, which others have loaded already',
  'test/unit/hold/preview/log/compaction.test.ts':
    'replaces setTimeout, also for the modules that it is the first to load',
  'test/unit/hold/preview/log/previewLog.test.ts': 'finds the tables of encodings not loaded yet',
  'test/unit/session/model/languageModel/provider.test.ts': 'listens for rejections that nobody handles',
};

/** Files that start hundreds of programs: the stage "unitRest". */
const LONG = [
  'test/unit/clients/view/agentViews.test.ts',
  'test/unit/clients/view/copyViews.test.ts',
  'test/unit/clients/view/interrupted.test.ts',
  'test/unit/sandbox/checks/freshProof.test.ts',
  'test/unit/sandbox/view/hardCases.test.ts',
  'test/unit/sandbox/view/sandbox.test.ts',
];

/** @type {import('./runStages.mjs').Stage} all but the long ones */
export const unit = ({ grep }) => run(file => !LONG.includes(file), { grep });

/** @type {import('./runStages.mjs').Stage} */
export const unitRest = ({ grep }) => run(file => LONG.includes(file), { grep });

/** @type {import('./runStages.mjs').Stage} the files that use `rounds.ts`, with all of their rounds */
export const rounds = ({ grep }) => run(hasRounds, { grep, env: { REDLINE_ALL_ROUNDS: '1' } });

const contains = (file, text) => fs.readFileSync(inRepo(file), 'utf8').includes(text);
const hasRounds = file => contains(file, '/rounds.ts');
/** Short files that play much by chance take longer than their size tells. */
const isLong = file => hasRounds(file) || contains(file, '/fuzz/fuzz.ts');

async function run(isWanted, { grep, env }) {
  await ensureBubblewrap();
  const files = fs.globSync(TESTS, { cwd: repoRoot }).filter(isWanted);
  return runFiles(files, {
    lanes: os.availableParallelism(),
    first: files.filter(isLong),
    alone: Object.keys(ALONE),
    grep,
    env,
  });
}
