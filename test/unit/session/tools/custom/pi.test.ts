import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readProcesses } from '../../../../../src/agent/base/system/processTable.ts';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import type { LoadedTools } from '../../../../../src/agent/session/tools/custom/loading/toolLoader.ts';
import type { CustomToolApi } from '../../../../../examples/tools/redline.d.ts';
import { CustomToolWorld, toolSource } from '../../../../support/customToolWorld.ts';
import { polled } from '../../../../../scripts/lib/limits.mjs';
import { Gate } from '../../../../support/gate.ts';
import { encodingIn, textIn } from '../../../../support/changes.ts';

const NO_SESSION = 'Pending action store unavailable for custom tools in this runtime.';

let world: CustomToolWorld;
before(async () => {
  world = await CustomToolWorld.create();
});
after(() => world.dispose());

/** The `pi` that a factory gets, and a tool that passes its arguments on to `execute`. */
async function given(): Promise<{ pi: CustomToolApi; loaded: LoadedTools }> {
  let pi: CustomToolApi | undefined;
  const loaded = await world.loader.loadFactory(api => {
    pi = api;
    return { name: 't', description: 'd', parameters: api.zod.object({}), execute: () => ({ content: [] }) };
  }, world.folder.root);
  return { pi: pi ?? assert.fail('the factory was called'), loaded };
}
const loadT = (body: string, parameters = 'pi.zod.object({})'): Promise<LoadedTools> =>
  world.load('t.ts', toolSource('t', body).replace('pi.zod.object({})', parameters));

test('exec returns output and code, and never rejects', async () => {
  const { pi } = await given();
  const script = 'process.stdout.write("out " + process.env.A); process.stderr.write("err"); process.exit(3)';
  assert.deepEqual(await pi.exec(process.execPath, ['-e', script], { env: { A: 'a' } }), {
    stdout: 'out a',
    stderr: 'err',
    code: 3,
    killed: false,
  });
  const missing = await pi.exec('no-such-program-here');
  assert.deepEqual([missing.code, missing.killed], [127, false]);
  assert.match(missing.stderr, /ENOENT/);
  const where = await pi.exec(process.execPath, ['-e', 'process.stdout.write(process.cwd())']);
  assert.equal(where.stdout, world.folder.root);
});

test('exec ends a program that takes too long, or whose signal fires', async () => {
  const { pi } = await given();
  const forever = ['-e', 'setInterval(() => {}, 1000)'];
  assert.equal((await pi.exec(process.execPath, forever, { timeout: 50 })).killed, true);
  const controller = new AbortController();
  const running = pi.exec(process.execPath, forever, { signal: controller.signal });
  controller.abort();
  const { killed, code } = await running;
  assert.deepEqual([killed, code], [true, null]);
});

test('exec settles for commands that cannot be spawned, and when child processes hold the output', async () => {
  const { pi } = await given();
  for (const command of ['', 'a\0b']) {
    const { code, killed, stderr } = await pi.exec(command);
    assert.deepEqual([code, killed], [127, false]);
    assert.match(stderr, /must be|cannot be empty/);
  }
  const forever = 'setInterval(() => {}, 1000)';
  const begin = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(forever)}], { stdio: ['ignore', 'inherit', 'inherit'] })`;
  const printed = world.folder.at('printed');
  const script = `const { pid } = ${begin}; console.log(pid); require('node:fs').writeFileSync(${JSON.stringify(printed)}, ''); ${forever}`;
  const controller = new AbortController();
  const running = pi.exec(process.execPath, ['-e', script], { signal: controller.signal });
  await polled('what the program prints', () => existsSync(printed));
  controller.abort();
  const { killed, stdout } = await running;
  assert.equal(killed, true);
  assert.match(stdout, /^[1-9]\d*\n$/);
  assert.ok(!(await readProcesses()).some(({ pid }) => pid === Number(stdout)));
});

test('ui asks the user; the log names the tool', async () => {
  const { pi } = await given();
  assert.equal(pi.hasUI, true);
  pi.ui.notify('hello', 'warning');
  assert.equal(await pi.ui.confirm('Sure?', 'really'), true);
  assert.equal(await pi.ui.input('Name', 'here'), 'typed');
  assert.equal(await pi.ui.select('Which?', ['a']), 'chosen');
  assert.deepEqual(world.asked.splice(0), [
    ['notify', 'hello', 'warning'],
    ['confirm', 'Sure?', 'really'],
    ['input', 'Name', 'here'],
    ['select', 'Which?', ['a']],
  ]);
  pi.logger.warn('careful');
  assert.equal(world.logged.at(-1), 'warn [another extension] careful');
});

test('zod, TypeBox and JSON Schema describe parameters, with their own rules', async () => {
  for (const parameters of [
    'pi.zod.object({ n: pi.zod.int().min(1), s: pi.zod.string().optional() })',
    'pi.typebox.Type.Object({ n: pi.typebox.Type.Integer({ minimum: 1 }), s: pi.typebox.Type.Optional(pi.typebox.Type.String()) })',
    "{ type: 'object', properties: { n: { type: 'integer', minimum: 1 }, s: { type: 'string' } }, required: ['n'] }",
  ]) {
    const loaded = await loadT('return String(params.n);', parameters);
    assert.deepEqual(loaded.owner.problems, [], parameters);
    const harness = world.harness(loaded);
    assert.deepEqual(loaded.tools[0]?.tool.inputSchema?.['required'], ['n']);
    assert.equal((await harness.run('t', { n: 2 })).content, '2');
    for (const args of [{ n: 0 }, { n: 'x' }, {}, { n: 1, s: 5 }, [], 'x']) {
      const { isError, content } = await harness.run('t', typeof args === 'string' ? '"x"' : args);
      assert.equal(isError, true, `${parameters} ${JSON.stringify(args)}`);
      assert.match(content, /^Invalid arguments for t\. /);
    }
  }
});

test('pushPendingAction: the default source, and three previews from one call in their order', async () => {
  const loaded = await loadT(`
    const ids = ['a', 'b', 'c'].map(label => pi.pushPendingAction({ label, apply() {}, details: { label } }).id);
    return ids.join(' ');`);
  const harness = world.harness(loaded);
  assert.equal((await harness.run('t', {})).content, 'Staged as p1, p2, p3, no file modified yet.\np1 p2 p3');
  assert.deepEqual(
    harness.staged.map(({ label, sourceToolName, details }) => ({ label, sourceToolName, details })),
    ['a', 'b', 'c'].map(label => ({ label, sourceToolName: 'custom_tool', details: { label } })),
  );
  assert.deepEqual([...loaded.owner.staged], ['p1', 'p2', 'p3']);
});

test('a tool that declares itself readOnly cannot stage', async () => {
  const source = toolSource('t', `pi.pushPendingAction({ label: 'x', apply() {} });`);
  const loaded = await world.load('t.ts', source.replace("name: 't',", "name: 't', readOnly: true,"));
  const harness = world.harness(loaded);
  const { content, isError } = await harness.run('t', {});
  assert.deepEqual(
    [isError, content, harness.staged],
    [true, 't is declared readOnly, so it cannot stage a preview.', []],
  );
});

test('nor can code that such a tool started, after the call has ended', async () => {
  const source = toolSource(
    't',
    `globalThis.ticking = new Promise(resolve => setTimeout(resolve)).then(() => pi.pushPendingAction({ label: 'x', apply() {} }));
    globalThis.ticking.catch(() => undefined);
    return 'at once';`,
  );
  const loaded = await world.load('t.ts', source.replace("name: 't',", "name: 't', readOnly: true,"));
  const harness = world.harness(loaded);
  const before = world.staged.length;
  assert.equal((await harness.run('t', {})).content, 'at once');
  await assert.rejects((globalThis as { ticking?: Promise<unknown> }).ticking ?? Promise.resolve(), {
    name: 'ToolError',
    message: 't is declared readOnly, so it cannot stage a preview.',
  });
  assert.deepEqual([harness.staged, world.staged.length], [[], before]);
});

test('undefined and null as sourceToolName mean the default', async () => {
  const harness = world.harness(
    await loadT(
      `pi.pushPendingAction({ label: 'x', sourceToolName: null, reject: null, changes: null, apply() {} });`,
    ),
  );
  await harness.run('t', {});
  assert.deepEqual(
    harness.staged.map(({ sourceToolName, reject, changes }) => [sourceToolName, reject, changes]),
    [['custom_tool', undefined, undefined]],
  );
});

test('callbacks return what the author returns, and throw what the author throws', async () => {
  const loaded = await loadT(
    `pi.pushPendingAction({ label: 'L', apply: reason => 'applied: ' + reason, reject: reason => 'rejected: ' + reason });
    pi.pushPendingAction({ label: 'L', apply: () => { throw new TypeError('plain'); } });
    pi.pushPendingAction({ label: 'L', apply: async () => { throw new pi.ToolError('for the model'); } });
    class ToolError extends Error { name = 'ToolError'; }
    pi.pushPendingAction({ label: 'L', apply: async () => { throw new ToolError('own class'); } });`,
  );
  const harness = world.harness(loaded);
  assert.match((await harness.run('t', {})).content, /\nt ended without a result\.$/);
  const [first, ...throwing] = harness.staged;
  assert.equal(await first?.apply?.('why'), 'applied: why');
  assert.equal(await first?.reject?.('why'), 'rejected: why');
  assert.equal(throwing[0]?.reject, undefined);
  const [plain, forModel, own] = throwing.map(async ({ apply }) => apply?.('why'));
  await assert.rejects(
    plain ?? Promise.resolve(),
    error => !(error instanceof ToolError) && error instanceof TypeError,
  );
  await assert.rejects(
    forModel ?? Promise.resolve(),
    error => error instanceof ToolError && error.message === 'for the model',
  );
  await assert.rejects(
    own ?? Promise.resolve(),
    error => error instanceof ToolError && error.message === 'own class',
  );
});

test('an invalid action is refused with a sentence, and nothing is staged', async () => {
  const cases: readonly [string, RegExp][] = [
    ['undefined', /pass an object/],
    ['{ apply() {} }', /`label` must be a non-empty string/],
    ["{ label: ' ', apply() {} }", /`label` must be a non-empty string/],
    ["{ label: 'x' }", /`apply` must be a function unless `changes` are given/],
    ["{ label: 'x', apply: 1 }", /`apply` must be a function/],
    ["{ label: 'x', apply() {}, reject: 1 }", /`reject` must be a function/],
    ["{ label: 'x', apply() {}, sourceToolName: 1 }", /`sourceToolName` must be a string/],
    ["{ label: 'x', changes: {} }", /`changes` must be an array/],
    ["{ label: 'x', changes: [{ path: 'a', after: 'x' }] }", /`changes\[0\]` needs/],
    ["{ label: 'x', changes: [{ path: '../a', before: null, after: 'x' }] }", /outside the workspace/],
    [
      "{ label: 'x', changes: ['1', '2'].map(after => ({ path: 'a', before: null, after })) }",
      /^a is declared twice\. Declare one change for each file\.$/,
    ],
    [
      "{ label: 'x', changes: [{ path: 'a', before: null, after: 'x'.repeat(6_000_000) }] }",
      /^a would be larger than 5 MB/,
    ],
  ];
  for (const [action, message] of cases) {
    const harness = world.harness(await loadT(`pi.pushPendingAction(${action});`));
    const { content, isError } = await harness.run('t', {});
    assert.equal(isError, true, action);
    assert.match(content, message);
    assert.deepEqual(harness.staged, []);
  }
});

test('declared changes are exact: a file that was read keeps its encoding, any other is UTF-8', async () => {
  const loaded = await loadT(`
    const before = await ctx.readFile('wide.txt');
    pi.pushPendingAction({ label: 'both', changes: [
      { path: 'wide.txt', before, after: before.replace('one', 'two') },
      { path: 'new.txt', before: null, after: 'hello' },
      { path: 'same.txt', before: 'x', after: 'x' },
      { path: 'marked.txt', before: null, after: '\\uFEFFhello' },
    ] });
    return JSON.stringify([before, await ctx.readFile('none.txt')]);`);
  const wide = Buffer.from('\uFEFFone', 'utf16le');
  const harness = world.harness(loaded, { 'wide.txt': wide });
  assert.match((await harness.run('t', {})).content, /\["one",null\]$/);
  const [action] = harness.staged;
  assert.deepEqual(
    action?.changes?.map(({ kind, path: file, after }) => [kind, file, textIn(after), encodingIn(after)]),
    [
      ['modify', 'wide.txt', 'two', { name: 'utf16le', bom: true }],
      ['create', 'new.txt', 'hello', { name: 'utf8', bom: false }],
      ['create', 'marked.txt', 'hello', { name: 'utf8', bom: true }],
    ],
  );
  assert.equal('apply' in (action ?? {}), false);
});

test('a change that the encoding of its file cannot represent is refused', async () => {
  const loaded = await loadT(`
    const before = await ctx.readFile('old.txt');
    pi.pushPendingAction({ label: 'x', changes: [{ path: 'old.txt', before, after: before + ' €' }] });`);
  const harness = world.harness(loaded, { 'old.txt': Buffer.from('caf\u00e9', 'latin1') });
  harness.workspace.encoding = { name: 'iso88591', bom: false };
  const { content, isError } = await harness.run('t', {});
  assert.deepEqual(
    [isError, content],
    [true, 'old.txt is stored in iso88591, which cannot represent "€". Use other characters.'],
  );
});

test('a call gets its id, its session, progress and the signal', async () => {
  const harness = world.harness(
    await loadT(`
    onUpdate('half');
    onUpdate({ content: [{ type: 'text', text: 'done' }] });
    return [id, ctx.sessionId, ctx.cwd, ctx.hasUI, signal instanceof AbortSignal].join(' ');`),
  );
  assert.equal((await harness.run('t', {})).content, 'call_1 s1 /project true true');
  assert.deepEqual(harness.updates, ['half', 'done']);
});

test('without a session nothing can be staged', async () => {
  const { pi, loaded } = await given();
  const push = (): unknown => pi.pushPendingAction({ label: 'late', apply: () => ({ content: [] }) });
  assert.deepEqual(push(), { id: 'late1' }, 'in a session, but in no call: the session takes it');
  const { session } = world;
  world.session = undefined;
  assert.throws(push, { name: 'ToolError', message: NO_SESSION });
  world.session = session;
  loaded.owner.state = 'removed';
  assert.throws(push, { name: 'ToolError', message: NO_SESSION });
  assert.equal(world.staged.length, 1);
});

test('a tool that its extension has removed can no longer stage, even in a running call', async () => {
  const gate = new Gate();
  const loaded = await world.loader.loadFactory(
    pi => ({
      name: 't',
      description: 'd',
      parameters: pi.zod.object({}),
      async execute() {
        await gate.pass();
        pi.pushPendingAction({ label: 'late', apply: () => ({ content: [] }) });
        return { content: [] };
      },
    }),
    '/',
  );
  const harness = world.harness(loaded);
  const running = harness.run('t', {});
  await gate.reached;
  loaded.owner.state = 'removed';
  gate.open();
  const { content, isError } = await running;
  assert.deepEqual([isError, content, harness.staged], [true, NO_SESSION, []]);
});

test('code that Redline runs for a tool does not count as the tool’s', async () => {
  const { session } = world;
  const owners: unknown[] = [];
  const note = (): void => void owners.push(world.loader.runningOwner);
  const stage = (): Preview => {
    note();
    return { id: 'p1' } as Preview;
  };
  world.session = { id: 's1', stage };
  const { pi, loaded } = await given();
  const harness = world.harness(
    await loadT(`globalThis.note(); onUpdate('x'); await ctx.readFile('a'); globalThis.note(); return '';`),
    { a: '' },
  );
  (globalThis as { note?: () => void }).note = note;
  harness.workspace.beforeRead = note;
  pi.pushPendingAction({ label: 'x', apply: () => ({ content: [] }) });
  await harness.run('t', {});
  world.session = session;
  const [staging, before, reading, after] = owners;
  assert.deepEqual([staging, reading], [undefined, undefined]);
  assert.ok(before && before === after && before !== loaded.owner);
});

test('code that continues after its call has ended no longer belongs to the call', async () => {
  const loaded = await loadT(`
    globalThis.later = () => pi.pushPendingAction({ label: 'later', apply() {} });
    const again = globalThis.later;
    globalThis.ticking = new Promise(resolve => setTimeout(() => resolve(again().id), 5));
    return 'at once';`);
  const harness = world.harness(loaded);
  assert.equal((await harness.run('t', {})).content, 'at once');
  const before = world.staged.length;
  assert.equal(await (globalThis as { ticking?: Promise<string> }).ticking, `late${before + 1}`);
  assert.deepEqual(harness.staged, []);
});

test('process.exit in a call becomes an error result and a problem, and ends nothing', async () => {
  const loaded = await loadT('\n    process.exit(1);');
  const { content, isError } = await world.harness(loaded).run('t', {});
  assert.equal(isError, true);
  assert.equal(
    content,
    'The tool called process.exit(1), which would end all extensions, so the call was blocked.',
  );
  assert.deepEqual(loaded.owner.problems, [
    {
      file: world.folder.at('t.ts'),
      line: 5,
      column: 4,
      fault: { kind: 'exitCalled', call: 'process.exit(1)' },
    },
  ]);
});

test('process.exit in the callbacks of a preview keeps it pending, and ends nothing', async () => {
  const exits = '() => process.exit(4)';
  const loaded = await loadT(`pi.pushPendingAction({ label: 'x', apply: ${exits}, reject: ${exits} });`);
  const harness = world.harness(loaded);
  await harness.run('t', {});
  const [action] = harness.staged;
  for (const callback of [action?.apply, action?.reject])
    await assert.rejects(async () => callback?.('why'), /process\.exit\(4\).* so the call was blocked/);
  assert.equal(loaded.owner.problems.length, 1);
});

test('onSession gets the events, and what it throws is a problem of the file', async () => {
  const source = toolSource('t').replace(
    'async execute',
    `onSession(event) { pi.ui.notify(event.reason + ' ' + event.sessionId); if (event.reason === 'switch') throw new Error('oh'); },\n  async execute`,
  );
  const { owner, tools } = await world.load('session.ts', source);
  const [loaded] = tools;
  loaded?.onSession({ reason: 'start', sessionId: 's1' });
  loaded?.onSession({ reason: 'switch', sessionId: 's2', previousSessionId: 's1' });
  await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(world.asked.splice(0), [
    ['notify', 'start s1'],
    ['notify', 'switch s2'],
  ]);
  assert.deepEqual(
    owner.problems.map(({ fault }) => fault),
    [{ kind: 'threwLater', message: 'oh' }],
  );
});

test('defineTool returns the tool unchanged', async () => {
  const { pi } = await given();
  const tool = {
    name: 'x',
    description: 'd',
    parameters: pi.zod.object({}),
    execute: () => ({ content: [] }),
  };
  assert.equal(pi.defineTool(tool), tool);
  assert.equal(path.isAbsolute(pi.cwd), true);
});
