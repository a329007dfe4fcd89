/** Stage "unit": everything that runs without VS Code, in plain Node. */
import { runNodeTests } from '../lib/nodeTests.mjs';

/** @param {{ grep?: string, env?: Record<string, string> }} options `env` is added to the environment of the tests */
export const unit = ({ grep, env }) => runNodeTests('unit', 'test/unit/**/*.test.ts', { grep, env });
