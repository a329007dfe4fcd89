import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workbench, WorkbenchOptions } from './workbench.mjs';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import {
  startScriptedServer,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../support/scriptedServer.ts';
import { withWorkbench } from './sharedWorkbench.ts';

/** The longest a test may take, in milliseconds. */
const TIMEOUT_MS = limitMs(240_000);

/**
 * A test with a window of its own: the packaged extension, an empty profile and a fresh copy of the example workspace.
 * {@link withWorkbench} says in which VS Code, and what is kept when it fails.
 */
export function uiTest(
  name: string,
  options: WorkbenchOptions,
  body: (workbench: Workbench) => Promise<void>,
): void {
  test(name, { timeout: TIMEOUT_MS }, t => withWorkbench(t, options, body));
}

export interface ModelTestOptions {
  readonly server?: ScriptedServerOptions;
  readonly workbench?: WorkbenchOptions;
}

/** A {@link uiTest} whose model follows the script. It also fails if Redline sent an invalid request. */
export function modelTest(
  name: string,
  script: Script,
  body: (workbench: Workbench, server: ScriptedServer) => Promise<void>,
  options: ModelTestOptions = {},
): void {
  test(name, { timeout: TIMEOUT_MS }, async t => {
    const server = await startScriptedServer(script, options.server);
    const { settings, ...others } = options.workbench ?? {};
    const connected = {
      'redline.openai.baseUrl': server.baseUrl,
      'redline.openai.model': 'scripted',
      'redline.resolve.forcing': 'forced',
    };
    try {
      await withWorkbench(t, { ...others, settings: { ...connected, ...settings } }, async workbench => {
        await body(workbench, server);
        assert.deepEqual(server.violations, []);
      });
    } finally {
      await server.close();
    }
  });
}
