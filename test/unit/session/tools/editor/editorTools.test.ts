import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CommandRuns } from '../../../../../src/agent/sandbox/commands/commandRuns.ts';
import { EditorTools, offeredName } from '../../../../../src/agent/session/tools/editor/editorTools.ts';
import { callableTools, ToolRegistry } from '../../../../../src/agent/session/tools/registry.ts';
import { specOf } from '../../../../../src/agent/session/tools/toolSpec.ts';
import { defineTool } from '../../../../../src/agent/session/tools/tool.ts';
import { FakeToolHost } from '../../../../support/fakeToolHost.ts';
import { textResult } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import * as z from 'zod/mini';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';

function setUp(settings: { toolsFromVsCode?: string[]; readOnlyTools?: string[] } = {}) {
  const host = new FakeToolHost();
  const registry = new ToolRegistry();
  const allowed = { toolsFromVsCode: ['*'], readOnlyTools: [], ...settings };
  const logged: string[] = [];
  const editorTools = new EditorTools({
    host,
    registry,
    runs: new CommandRuns(),
    timeLimit: () => 5,
    settings: () => allowed,
    logger: { ...silentLogger, warn: text => void logged.push(text), error: text => assert.fail(text) },
  });
  const names = (): string[] => registry.list().map(({ name }) => name);
  return { host, registry, allowed, logged, editorTools, names };
}

test('only tools that the setting names are offered, with their description and schema as they are', async () => {
  const { host, registry, editorTools, names } = setUp({ toolsFromVsCode: ['mcp_git_*', 'lookup'] });
  const inputSchema = {
    type: 'object',
    $defs: { a: { const: 1 } },
    properties: { a: { $ref: '#/$defs/a' } },
  };
  host.offer({ mcp_git_log: { inputSchema }, mcp_web_get: {}, lookup: {}, lookup_all: {} });
  await editorTools.refresh();
  assert.deepEqual(names(), ['lookup', 'mcp_git_log']);
  const tool = registry.get('mcp_git_log') ?? assert.fail();
  assert.deepEqual(specOf(tool), {
    name: 'mcp_git_log',
    description: 'Does mcp_git_log.',
    parameters: inputSchema,
  });
});

test('tools come and go with VS Code and with the setting; one that stays is the same, so that requests stay byte-identical', async () => {
  const { host, registry, allowed, editorTools, names } = setUp();
  host.offer({ a: {}, b: {} });
  await editorTools.refresh();
  const b = registry.get('b');
  host.offer({ b: {}, c: {} });
  await editorTools.refresh();
  assert.deepEqual(names(), ['b', 'c']);
  assert.equal(registry.get('b'), b);
  host.offer({ b: { description: 'Another one.' }, c: {} });
  await editorTools.refresh();
  assert.equal(registry.get('b')?.description, 'Another one.');
  allowed.toolsFromVsCode = ['c'];
  await editorTools.refresh();
  assert.deepEqual(names(), ['c']);
  allowed.toolsFromVsCode = [];
  await editorTools.refresh();
  assert.deepEqual(names(), []);
});

test('in a workspace that is not trusted none is offered', async () => {
  const { host, editorTools, names } = setUp();
  host.offer({ a: {} });
  host.trusted = false;
  await editorTools.refresh();
  assert.deepEqual(names(), []);
});

test('no tool only reads unless the user says so; in plan mode only those are offered', async () => {
  const { host, registry, editorTools } = setUp({ readOnlyTools: ['get_*'] });
  host.offer({ get_issue: {}, make_issue: {} });
  await editorTools.refresh();
  const offered = (planMode: boolean): string[] =>
    callableTools(registry.createTools(), { planMode, authority: 'apply' }).map(({ name }) => name);
  assert.deepEqual(offered(false), ['get_issue', 'make_issue']);
  assert.deepEqual(offered(true), ['get_issue']);
});

test('a name that is taken or invalid gets a valid one of its own, whatever else there is', async () => {
  const { host, registry, logged, editorTools, names } = setUp();
  registry.register(
    defineTool({
      name: 'edit_file',
      label: '',
      description: '',
      parameters: z.object({}),
      execute: async () => textResult('ours'),
    }),
  );
  const long = 'x'.repeat(80);
  host.offer({ edit_file: {}, 'a.b': {}, 'a b': {}, a_b: {}, [long]: {}, 'ein Gerät': {} });
  await editorTools.refresh();
  assert.equal(names().length, 7);
  for (const name of names()) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(registry.get('edit_file')?.label, '', 'ours keeps its name');
  assert.ok(names().includes('a_b'));
  const dotted = names().find(name => registry.get(name)?.label === 'a.b');
  host.offer({ 'a.b': {} });
  await editorTools.refresh();
  assert.ok(dotted && names().includes(dotted), 'although a_b is gone');
  assert.notEqual(
    offeredName('a.b', () => false),
    offeredName('a b', () => false),
  );
  assert.deepEqual(logged, []);
});

test('the number and the size of the tools are bounded; what is left out is logged, once', async () => {
  const { host, logged, editorTools, names } = setUp();
  const tools = Array.from({ length: 70 }, (_, i) => [`t${String(i).padStart(2, '0')}`, {}] as const);
  const huge = { type: 'object', description: 'x'.repeat(60_000) };
  host.offer({ ...Object.fromEntries(tools), a_huge: { inputSchema: huge } });
  await editorTools.refresh();
  await editorTools.refresh();
  assert.equal(names().length, 64);
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /\na_huge: its schema has 60\d+ characters\nt64: there are more than 64/);

  const wordy = {
    description: 'y'.repeat(100_000),
    inputSchema: { ...huge, description: 'x'.repeat(40_000) },
  };
  host.offer({ a: wordy, b: wordy, c: wordy, d: wordy, e: wordy, f: wordy, g: wordy });
  await editorTools.refresh();
  assert.deepEqual(names(), ['a', 'b', 'c', 'd', 'e', 'f']);
  assert.match(logged[1] ?? '', /\ng: all together are too long$/);
});
