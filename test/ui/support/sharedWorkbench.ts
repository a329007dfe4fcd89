import { after, type TestContext } from 'node:test';
import { STILL_SETTINGS } from '../../../scripts/headless/settings.mjs';
import { Workbench, type WorkbenchOptions } from './workbench.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';

/** The VS Code that the last test of this process left, and what it was started with. */
let idle: { readonly workbench: Workbench; readonly start: string } | undefined;

/** Ends the VS Code that the last test left, if there is one. */
async function closeIdle(): Promise<void> {
  const left = idle;
  idle = undefined;
  await left?.workbench.close();
}

// A lane runs several files, and is disconnected after the last one.
if (process.connected) process.once('disconnect', () => void closeIdle());
else after(closeIdle);

/**
 * Runs the body of a test in the one VS Code of its process, with a window, a folder and a profile of its own, which
 * `Workbench.reset` makes. VS Code is started for the first test, and once more for one that needs it started in another
 * way, after one that failed or ran out of time, and when something of the test before could not be cleared away.
 *
 * When the body fails, a picture of the window is kept in out/ui-failures, and the extension's log is printed.
 */
export async function withWorkbench(
  t: TestContext,
  options: WorkbenchOptions,
  body: (workbench: Workbench) => Promise<void>,
): Promise<void> {
  const start = startOf(options);
  const settings = { ...STILL_SETTINGS, ...options.settings };
  const workbench = await prepare(t, start, { pictures: inRepo('out', 'ui-failures'), ...options, settings });
  // What is left of a test whose time is up then fails at once, and touches no window of the next one.
  const end = (): void => void workbench.close();
  t.signal.addEventListener('abort', end);
  try {
    t.signal.throwIfAborted();
    await body(workbench);
    t.signal.throwIfAborted();
  } catch (error) {
    const picture = await workbench.screenshot(t.name).catch((reason: unknown) => `none: ${String(reason)}`);
    t.diagnostic(`picture: ${picture}`);
    t.diagnostic(workbench.extensionLog());
    await workbench.close();
    throw error;
  } finally {
    t.signal.removeEventListener('abort', end);
  }
  idle = { workbench, start };
}

/** Resets the idle VS Code if it was started as wanted; else, or if that fails, ends it and starts a new one. */
async function prepare(t: TestContext, start: string, options: WorkbenchOptions): Promise<Workbench> {
  const used = idle;
  idle = undefined;
  if (used?.start === start) {
    try {
      await used.workbench.reset(options);
      return used.workbench;
    } catch (error) {
      t.diagnostic(`VS Code is started anew: ${String(error)}`);
    }
  }
  await used?.workbench.close();
  return Workbench.open(options);
}

/** What cannot be changed while VS Code runs. */
function startOf({ env, settings }: WorkbenchOptions): string {
  return JSON.stringify([env, settings?.['security.workspace.trust.enabled']]);
}
