import { test } from 'node:test';
import * as path from 'node:path';
import assert from 'node:assert/strict';
import { emptyReport, fuzz } from '../../support/fuzz/fuzz.ts';
import { buildWorkers } from '../../support/fuzz/fuzzWorld.ts';

test('whatever a model calls: no exception escapes a tool, nothing outside the workspace changes, and every change is in the ledger', async () => {
  const report = emptyReport();
  const workers = await buildWorkers(path.resolve('out', 'fuzz', `${process.pid}`));
  await fuzz({ seed: 1, calls: 2_000, workers }, report);
  assert.deepEqual(report.violations, []);
  assert.ok(report.applied > 0, 'something was applied');
});
