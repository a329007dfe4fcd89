import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { builtInTools } from '../../../../src/agent/session/tools/builtIn.ts';
import type { ModelAuthority } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import { callableTools, ToolRegistry } from '../../../../src/agent/session/tools/registry.ts';
import { specOf } from '../../../../src/agent/session/tools/toolSpec.ts';
import { defineTool, type Tool } from '../../../../src/agent/session/tools/tool.ts';

const tool = (name: string, over: Partial<Tool> = {}): Tool =>
  defineTool({
    name,
    label: name,
    description: `does ${name}`,
    parameters: z.object({}),
    execute: () => Promise.resolve(textResult('')),
    ...over,
  });
const registryOf = (...tools: Tool[]): ToolRegistry => {
  const registry = new ToolRegistry();
  for (const each of tools) registry.register(each);
  return registry;
};
const names = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);

test('the first to take a name keeps it', () => {
  const first = tool('a');
  const registry = registryOf(first);
  assert.throws(() => registry.register(tool('a')), /^ToolError: There is already a tool named a\.$/);
  assert.equal(registry.get('a'), first);
  assert.equal(registry.get('b'), undefined);
});

test('hidden tools are not listed but can be called', () => {
  const registry = registryOf(tool('a'), tool('secret', { hidden: true }));
  assert.deepEqual(names(registry.list()), ['a']);
  assert.equal(registry.get('secret')?.name, 'secret');
});

test('by default a session gets all tools, in the order of registration', () => {
  const registry = registryOf(tool('b'), tool('secret', { hidden: true }), tool('a'));
  assert.deepEqual(names(registry.createTools()), ['b', 'secret', 'a']);
});

test('a session gets the requested tools and every hidden one', () => {
  const registry = registryOf(tool('a'), tool('b'), tool('secret', { hidden: true }));
  assert.deepEqual(names(registry.createTools(['b', 'nothing'])), ['b', 'secret']);
  assert.deepEqual(names(registry.createTools([])), ['secret']);
  assert.deepEqual(names(registry.createTools(['secret'])), ['secret']);
});

test('resolve is always offered, and can be called unless only the user resolves; plans are always submitted', () => {
  const offered = builtInTools().createTools(['edit_file']);
  assert.deepEqual(names(offered), ['edit_file', 'resolve']);
  const callable = (planMode: boolean, authority: ModelAuthority) =>
    names(callableTools(offered, { planMode, authority }));
  assert.deepEqual(callable(false, 'recommend'), ['edit_file', 'resolve']);
  assert.deepEqual(callable(false, 'none'), ['edit_file']);
  assert.deepEqual(callable(true, 'none'), ['resolve']);
});

test('of the built-in tools, resolve is hidden and those that change nothing are readOnly', () => {
  const registry = builtInTools();
  assert.deepEqual(names(registry.list()), [
    'read_file',
    'list_files',
    'edit_file',
    'write_file',
    'delete_file',
    'rename_file',
    'pending',
    'todo',
  ]);
  assert.deepEqual(names(registry.list().filter(({ readOnly }) => readOnly)), [
    'read_file',
    'list_files',
    'pending',
    'todo',
  ]);
});

test('a tool is offered with JSON Schema, as the same object each time', () => {
  const typed = tool('typed', {
    parameters: z.object({ n: z.int().describe('How many.'), s: z.string().optional() }),
  });
  const spec = specOf(typed);
  assert.equal(specOf(typed), spec);
  assert.equal(spec.name, 'typed');
  assert.equal(spec.description, 'does typed');
  assert.equal(spec.parameters['type'], 'object');
  assert.equal('$schema' in spec.parameters, false);
  assert.deepEqual(spec.parameters['required'], ['n']);
  const { n } = spec.parameters['properties'] as { n: { type: string; description: string } };
  assert.deepEqual([n.type, n.description], ['integer', 'How many.']);
});

test('each built-in tool has an object schema and a description', () => {
  for (const each of builtInTools().createTools()) {
    const spec = specOf(each);
    assert.equal(spec.parameters['type'], 'object', each.name);
    assert.ok(spec.description.length > 20, each.name);
    assert.doesNotThrow(() => JSON.stringify(spec));
  }
});

test('a default is optional for the model', () => {
  const spec = specOf(tool('d', { parameters: z.object({ n: z.number().default(1) }) }));
  assert.deepEqual(spec.parameters['required'] ?? [], []);
});
