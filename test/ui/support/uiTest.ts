import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { Workbench, type WorkbenchOptions } from '../../../scripts/lib/workbench.mjs';
import {
  startScriptedServer,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../support/scriptedServer.ts';

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

export interface ModelTestOptions {
  readonly server?: ScriptedServerOptions;
  readonly workbench?: WorkbenchOptions;
}

/** A {@link uiTest} whose model says what the script says; in the end no request may have been wrong. */
export function modelTest(
  name: string,
  script: Script,
  body: (workbench: Workbench, server: ScriptedServer) => Promise<void>,
  options: ModelTestOptions = {},
): void {
  test(name, { timeout: TIMEOUT_MS }, async t => {
    const server = await startScriptedServer(script, options.server);
    const { settings, ...others } = options.workbench ?? {};
    const workbench = await Workbench.open({
      pictures: inRepo('out', 'ui-failures'),
      settings: { 'redline.openai.baseUrl': server.baseUrl, 'redline.openai.model': 'scripted', ...settings },
      ...others,
    });
    try {
      await body(workbench, server);
      assert.deepEqual(server.violations, []);
    } catch (error) {
      t.diagnostic(`picture: ${await workbench.screenshot(name)}`);
      t.diagnostic(workbench.extensionLog());
      throw error;
    } finally {
      await workbench.close();
      await server.close();
    }
  });
}
