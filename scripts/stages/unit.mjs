/** Stage "unit": everything that runs without VS Code, in plain Node. */
import * as os from 'node:os';
import { runNodeTests } from '../lib/nodeTests.mjs';

/** Node would leave a processor free. */
const concurrency = os.availableParallelism();

/** @param {{ grep?: string, env?: Record<string, string> }} options `env` is added to the environment of the tests */
export const unit = ({ grep, env }) =>
  runNodeTests('unit', 'test/unit/**/*.test.ts', { grep, concurrency, env });
