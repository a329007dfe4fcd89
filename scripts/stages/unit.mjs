/** Stage "unit": everything that runs without VS Code, in plain Node. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { ensureBubblewrap } from '../lib/apt.mjs';
import { repoRoot } from '../lib/paths.mjs';
import { runFiles } from './fileLanes.mjs';

const TESTS = 'test/unit/**/*.test.ts';

/** Files that change their whole process, each with what they change. */
export const ALONE = {
  'test/unit/text/encodings.test.ts': 'loads the tables of encodings, which others have loaded already',
  'test/unit/model/languageModel/provider.test.ts': 'listens for rejections that nobody handles',
};

/** @param {{ grep?: string, env?: Record<string, string> }} options `env` is added to the environment of the tests */
export async function unit({ grep, env }) {
  await ensureBubblewrap();
  return runFiles('unit', fs.globSync(TESTS, { cwd: repoRoot }), {
    lanes: os.availableParallelism(),
    alone: Object.keys(ALONE),
    grep,
    env,
  });
}
