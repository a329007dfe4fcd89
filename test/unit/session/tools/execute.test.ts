import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod';
import { ToolError } from '../../../../src/agent/base/errors.ts';
import { textResult, type AgentToolResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { interruptedResult } from '../../../../src/agent/session/loop.ts';
import { defineTool, type Tool, type ToolContext } from '../../../../src/agent/session/tools/tool.ts';
import { create } from '../../../support/changes.ts';
import { Gate } from '../../../support/gate.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

/** A tool with this `execute` and no parameters. */
const tool = (execute: (context: ToolContext) => Promise<AgentToolResult>): Tool =>
  defineTool({
    name: 'custom',
    label: 'Custom',
    description: '',
    parameters: z.object({}),
    execute: (_, context) => execute(context),
  });
const run = (execute: Parameters<typeof tool>[0], harness = new ToolHarness({}, [tool(execute)])) =>
  harness.run('custom', {});
const action = { label: 'A', sourceToolName: 'custom', changes: [create('a', 'x')] };

test('a result names its call and its tool, and keeps the details', async () => {
  assert.deepEqual(await run(() => Promise.resolve(textResult('done', { n: 1 }))), {
    role: 'tool',
    toolCallId: 'call_1',
    toolName: 'custom',
    content: 'done',
    isError: false,
    details: { n: 1 },
  });
});

test('the parts of a result become lines; isError is kept', async () => {
  const parts = ['one', 'two'].map(text => ({ type: 'text' as const, text }));
  const result = await run(() => Promise.resolve({ content: parts, isError: true }));
  assert.equal(result.content, 'one\ntwo');
  assert.equal(result.isError, true);
});

test('an unknown tool is an error that names the available tools', async () => {
  for (const name of ['edit', 'constructor', '']) {
    const result = await new ToolHarness().run(name, {});
    assert.equal(result.isError, true);
    assert.equal(
      result.content,
      `There is no tool named ${name || '""'}. Available: read_file, list_files, edit_file, write_file, delete_file, rename_file, pending, resolve, todo.`,
    );
    assert.equal(result.toolName, name);
  }
});

for (const args of ['', '{', '{"path":"a"', "{'path':'a'}", '{"path": "a"} trailing']) {
  test(`arguments that are no JSON (${args}) are an error that says so`, async () => {
    const result = await new ToolHarness({ a: 'x' }).run('read_file', args);
    assert.equal(result.isError, true);
    assert.match(result.content, /^The arguments of read_file are not valid JSON \(.*Send one JSON object/s);
  });
}

test('arguments that are nested too deeply are an error that says so, and never reach the schema', async () => {
  const tree: z.ZodType = z.lazy(() => z.object({ in: z.optional(tree) }));
  const walks = defineTool({ ...tool(() => Promise.resolve(textResult('done'))), parameters: tree });
  const harness = new ToolHarness({}, [walks]);
  const nested = (levels: number): string => `${'{"in":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
  assert.equal((await harness.run('custom', nested(100))).content, 'done');
  for (const levels of [101, 4_000, 1_000_000]) {
    const result = await harness.run('custom', nested(levels));
    assert.equal(
      result.content,
      'The arguments of custom are nested more than 100 levels deep. Send flatter ones and call it again.',
    );
  }
  assert.deepEqual(harness.errors, []);
});

for (const args of ['null', '[]', '"a"', '1', '{}', '{"path":5}', '{"path":null}']) {
  test(`arguments that do not fit (${args}) are an error that names the field`, async () => {
    const result = await new ToolHarness({ a: 'x' }).run('read_file', args);
    assert.equal(result.isError, true);
    assert.match(
      result.content,
      /^Invalid arguments for read_file\. (path|arguments): .+\. Correct them and call it again\.$/,
    );
  });
}

test('every invalid field is named', async () => {
  const { content } = await new ToolHarness().run('read_file', { startLine: -2, endLine: 'x' });
  for (const field of ['path: ', 'startLine: ', 'endLine: ']) assert.ok(content.includes(field), field);
});

test('of a ToolError and of any other error the model gets the message; only the other is logged, with its stack', async () => {
  const harness = new ToolHarness({}, [tool(() => Promise.reject(new ToolError('Do that first.')))]);
  const expected = await harness.run('custom', {});
  assert.deepEqual([expected.content, expected.isError], ['Do that first.', true]);
  assert.deepEqual(harness.errors, []);

  const broken = new ToolHarness({}, [
    tool(() => {
      throw new TypeError('x is undefined');
    }),
  ]);
  const result = await broken.run('custom', {});
  assert.deepEqual([result.content, result.isError], ['x is undefined', true]);
  assert.match(broken.errors[0] ?? '', /^Tool custom threw: TypeError: x is undefined\n\s+at /);
});

for (const garbage of [undefined, null, {}, { content: 'text' }]) {
  test(`a tool that answers ${JSON.stringify(garbage)} still gives one result, an error`, async () => {
    const result = await run(() => Promise.resolve(garbage as unknown as AgentToolResult));
    assert.equal(result.isError, true);
    assert.equal(result.toolCallId, 'call_1');
  });
}

test('a result that is too long is cut and says by how much', async () => {
  const { content } = await run(() => Promise.resolve(textResult('x'.repeat(100_010))));
  assert.equal(content, `${'x'.repeat(100_000)}\n[Cut off: 10 more characters.]`);
  assert.equal((await run(() => Promise.resolve(textResult('x'.repeat(100_000))))).content.length, 100_000);
});

test('half a character is not sent, since servers refuse it', async () => {
  const { content } = await run(() => Promise.resolve(textResult(`${'x'.repeat(99_999)}😀`)));
  assert.ok(content.isWellFormed());
  assert.equal((await run(() => Promise.resolve(textResult('a\ud800b')))).content, 'a\ufffdb');
});

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
for (const [what, details] of [
  ['a cycle', cycle],
  ['a BigInt', { n: 1n }],
  ['a million characters', 'x'.repeat(1_000_001)],
] as const) {
  test(`details with ${what}, which no log can hold, are told to be that`, async () => {
    const result = await run(() => Promise.resolve(textResult('done', details)));
    assert.equal(result.content, 'done');
    assert.match(String(result.details), /^\[not storable: /);
  });
}

test('a tool may throw any value', async () => {
  const thrown = Object.create(null) as Error;
  const result = await run(() => Promise.reject(thrown));
  assert.deepEqual([result.isError, result.content], [true, 'a value without a text was thrown']);
});

test('progress is reported, in limited length, until the call has ended', async () => {
  let late: (() => void) | undefined;
  const harness = new ToolHarness({}, [
    tool(({ onUpdate }) => {
      onUpdate?.('half');
      onUpdate?.(`${'x'.repeat(1_000_000)} end`);
      late = () => onUpdate?.('too late');
      return Promise.resolve(textResult('done'));
    }),
  ]);
  await harness.run('custom', {});
  late?.();
  assert.deepEqual(harness.updates, ['half', `${'x'.repeat(9_996)} end`]);
});

test('all staged previews are named in one line before the result', async () => {
  const result = await run(async context => {
    context.stage(action);
    context.stage(action);
    return textResult('Two files.');
  });
  assert.equal(result.content, 'Staged as p1, p2, no file modified yet.\nTwo files.');
  assert.deepEqual(result.pending, ['p1', 'p2']);
});

test('a result that only looks as if something was staged names no pending preview', async () => {
  const result = await run(() => Promise.resolve(textResult('Staged as p1, no file modified yet.')));
  assert.equal(result.pending, undefined);
});

test('when only the user resolves, the staged line says so', async () => {
  const harness = new ToolHarness({}, [
    tool(async context => {
      context.stage(action);
      return textResult('ok');
    }),
  ]);
  harness.userReviews = true;
  assert.equal(
    (await harness.run('custom', {})).content,
    'Staged as p1, no file modified yet. The user reviews it.\nok',
  );
});

test('previews that were staged before the tool failed are named too', async () => {
  const result = await run(async context => {
    context.stage(action);
    throw new Error('then it broke');
  });
  assert.equal(result.isError, true);
  assert.equal(result.content, 'Staged as p1, no file modified yet.\nthen it broke');
});

test('a call in a stopped turn does not run', async () => {
  const harness = new ToolHarness({}, [tool(() => assert.fail('it was run'))]);
  harness.controller.abort();
  const result = await harness.run('custom', {});
  assert.equal(result.isError, true);
  assert.equal(result.content, 'Interrupted by the user while it ran.');
});

test('a stop answers the call at once even if the tool ignores it, and the tool can no longer stage', async () => {
  const gate = new Gate();
  let late: (() => unknown) | undefined;
  const harness = new ToolHarness({}, [
    tool(async context => {
      await gate.pass();
      late = () => context.stage(action);
      return textResult('too late');
    }),
  ]);
  const call = harness.run('custom', {});
  await gate.reached;
  harness.controller.abort(new DOMException('Stopped by the user.', 'AbortError'));
  const result = await call;
  assert.equal(result.content, 'Interrupted by the user while it ran.');
  assert.deepEqual(harness.errors, [], 'a stop is no fault');
  gate.open();
  await new Promise(resolve => setImmediate(resolve));
  assert.throws(late ?? assert.fail('it went on'), { name: 'AbortError' });
  assert.deepEqual(harness.staged, []);
});

test('an error of the tool itself during a stop keeps its message', async () => {
  const harness = new ToolHarness({}, [
    tool(() => {
      harness.controller.abort();
      throw new ToolError('own');
    }),
  ]);
  assert.equal((await harness.run('custom', {})).content, 'own');
});

test('a call that never ran has a result too', () => {
  assert.deepEqual(interruptedResult({ id: 'c', name: 'custom', arguments: '{}' }), {
    role: 'tool',
    toolCallId: 'c',
    toolName: 'custom',
    content: 'Interrupted by the user before it ran.',
    isError: true,
  });
});
