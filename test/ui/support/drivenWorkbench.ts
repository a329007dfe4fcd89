import { test } from 'node:test';
import type { WorkbenchOptions } from './workbench.mjs';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import { DrivenWorkbench, withDriver } from './driver.ts';
import { withWorkbench } from './sharedWorkbench.ts';

export type { DrivenWorkbench } from './driver.ts';

/** The longest a test may take, in milliseconds. On a busy machine VS Code needs half a minute to start. */
const TEST_MS = limitMs(240_000);

/**
 * A test with a {@link DrivenWorkbench}. {@link withWorkbench} says in which VS Code, and what is kept when it fails.
 * @param timeout the longest it may take, in milliseconds
 */
export function drivenTest(
  name: string,
  options: WorkbenchOptions,
  body: (driven: DrivenWorkbench) => Promise<void>,
  timeout = TEST_MS,
): void {
  test(name, { timeout }, async t => {
    await withWorkbench(t, await withDriver(options), async workbench =>
      body(await DrivenWorkbench.of(workbench)),
    );
  });
}
