/** Stage "unit": the core in plain Node. */
import { runNodeTests } from '../nodeTests.mjs';

export const unit = ({ grep }) => runNodeTests('unit', 'test/unit/**/*.test.ts', { grep });
