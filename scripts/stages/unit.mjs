/** Stage "unit": everything that runs without VS Code, in plain Node. */
import { runNodeTests } from '../lib/nodeTests.mjs';

export const unit = ({ grep }) => runNodeTests('unit', 'test/unit/**/*.test.ts', { grep });
