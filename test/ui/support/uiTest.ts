import { test } from 'node:test';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { Workbench, type WorkbenchOptions } from '../../../scripts/lib/workbench.mjs';

/** The longest a test may take, in milliseconds. */
const TIMEOUT_MS = 120_000;

/**
 * A test with a VS Code window of its own: the packaged extension, a fresh profile and a fresh copy of the example
 * workspace. When it fails, a picture of the window and the extension's log are kept in out/ui-failures.
 */
export function uiTest(
  name: string,
  options: WorkbenchOptions,
  body: (workbench: Workbench) => Promise<void>,
): void {
  test(name, { timeout: TIMEOUT_MS }, async t => {
    const workbench = await Workbench.open({ pictures: inRepo('out', 'ui-failures'), ...options });
    try {
      await body(workbench);
    } catch (error) {
      t.diagnostic(`picture: ${await workbench.screenshot(name)}`);
      t.diagnostic(workbench.extensionLog());
      throw error;
    } finally {
      await workbench.close();
    }
  });
}
