import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CommandRuns } from '../../../src/agent/sandbox/commands/commandRuns.ts';
import { builtInTools } from '../../../src/agent/session/tools/builtIn.ts';
import { runChecksTool } from '../../../src/agent/session/tools/runChecksTool.ts';
import { MemoryProblems } from '../../support/memoryProblems.ts';
import { createTestSession } from '../../support/testSession.ts';

/** The most bytes that the system prompt and the specs of all built-in tools take in each request. */
const LIMIT = 12 * 1_024;

test('system prompt and the schemas of all tools of Redline fit into 12 KB', async () => {
  const never = (): never => assert.fail('not called');
  const registry = builtInTools({
    textSearch: { search: never },
    astSearcher: { engine: { run: never }, scope: { folders: never, unsaved: never } } as never,
    commands: { runner: {} as never, runs: new CommandRuns() },
    problems: new MemoryProblems(),
    symbols: { services: never, files: {} as never, isAvailable: () => true },
    git: { isAvailable: () => true, program: never, locate: never },
    hosts: { isAvailable: () => true, isNamed: never, ask: never },
    askUser: never,
    isRevertEnabled: () => true,
  });
  registry.register(runChecksTool({ list: never, withBase: never, run: never }));
  const t = createTestSession({ registry, settings: { revertEnabled: true }, script: [{ text: 'ok' }] });
  await t.session.prompt('Hello.');
  const [request] = t.requests;
  assert.ok(request);
  const tools = request.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const names = [
    'run_command',
    'ast_edit',
    'search_text',
    'symbols',
    'git',
    'todo',
    'fetch_url',
    'ask_user',
    'get_diagnostics',
    'revert_to_state',
    'resolve',
    'run_checks',
  ];
  for (const name of names)
    assert.ok(
      tools.some(tool => tool.name === name),
      name,
    );
  const bytes = Buffer.byteLength(request.system ?? '') + Buffer.byteLength(JSON.stringify(tools));
  assert.ok(bytes <= LIMIT, `${bytes} bytes`);
});
