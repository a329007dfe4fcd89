import { rm } from 'node:fs/promises';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { builtInTools } from '../../../../../src/agent/session/tools/builtIn.ts';
import { CustomTools } from '../../../../../src/agent/session/tools/custom/customTools.ts';
import type { ToolPlace } from '../../../../../src/agent/session/tools/custom/loading/toolFiles.ts';
import { ToolLoader } from '../../../../../src/agent/session/tools/custom/loading/toolLoader.ts';
import type { ToolRegistry } from '../../../../../src/agent/session/tools/registry.ts';
import { revertToStateTool } from '../../../../../src/agent/session/tools/revertToState.ts';
import { CustomToolWorld, toolSource } from '../../../../support/customToolWorld.ts';
import { Gate } from '../../../../support/gate.ts';
import { createTestSession } from '../../../../support/testSession.ts';

let world: CustomToolWorld;
let registry: ToolRegistry;
let places: ToolPlace[];
let tools: CustomTools;
let expired: string[];
let loaders: number;
beforeEach(async () => {
  world = await CustomToolWorld.create();
  registry = builtInTools();
  places = [{ path: world.folder.at('tools'), cwd: world.folder.root, trusted: true }];
  expired = [];
  loaders = 0;
  tools = new CustomTools({
    registry,
    places: () => places,
    loader: onProblem => {
      loaders++;
      return Promise.resolve(new ToolLoader({ host: world.host, onProblem }));
    },
    sessionId: () => 's1',
    expire: id => void expired.push(id),
    logger: world.logger,
  });
});
afterEach(async () => {
  tools.dispose();
  await world.dispose();
});

const BUILT_IN = builtInTools().list().length;
const custom = (): string[] =>
  registry
    .list()
    .slice(BUILT_IN)
    .map(({ name }) => name);
const faults = (): unknown[] => tools.problems.map(({ fault }) => fault);
const write = (name: string, source: string): Promise<string> => world.folder.file(`tools/${name}`, source);
const call = (name: string): Promise<string> => {
  const { tool } = { tool: registry.get(name) ?? assert.fail(`${name} is registered`) };
  return world
    .harness({ owner: undefined as never, tools: [{ tool, onSession: () => undefined }] })
    .run(name, {})
    .then(({ content }) => content);
};

test('the files of a place and the index files of its folders are tools, sorted by name', async () => {
  for (const name of ['d.ts', 'a.js', 'b.mjs', 'folder/index.ts', 'other/index.cjs']) {
    const source = toolSource(name.replaceAll(/\W/g, '_'));
    await write(name, name.endsWith('.cjs') ? source.replace('export default', 'module.exports =') : source);
  }
  await write('both/index.js', toolSource('second_choice'));
  await write('both/index.ts', toolSource('both'));
  for (const ignored of [
    'types.d.ts',
    'readme.md',
    'data.json',
    '.hidden.js',
    'folder/helper.ts',
    'empty/none.txt',
    'deep/er/index.ts',
    'node_modules/index.js',
  ])
    await write(ignored, 'throw new Error("not a tool")');
  await tools.refresh();
  assert.deepEqual(faults(), []);
  assert.deepEqual(custom(), ['a_js', 'b_mjs', 'both', 'd_ts', 'folder_index_ts', 'other_index_cjs']);
});

test('the loader is not loaded if there are no tools', async () => {
  await tools.refresh();
  await write('readme.md', 'text');
  await tools.refresh();
  assert.equal(loaders, 0);
  assert.deepEqual(custom(), []);
});

test('a single file may be a place; a missing place is ignored', async () => {
  const file = await world.folder.file('one.ts', toolSource('one'));
  places = [
    { path: world.folder.at('nowhere'), cwd: '/', trusted: true },
    { path: file, cwd: '/', trusted: true },
  ];
  await tools.refresh();
  assert.deepEqual(custom(), ['one']);
});

test('a change of a file or a module it imports reloads the tool; unchanged places are not run again', async () => {
  await write('t.ts', `import { n } from './lib/n.ts';\n${toolSource('t', 'return String(n);')}`);
  await write('lib/n.ts', 'export const n = 1;');
  await tools.refresh();
  const first = registry.get('t');
  await tools.refresh();
  assert.equal(registry.get('t'), first, 'nothing changed');
  assert.equal(await call('t'), '1');
  await write('lib/n.ts', 'export const n = 22;');
  await tools.refresh();
  assert.equal(await call('t'), '22');
  await rm(world.folder.at('tools/t.ts'));
  await tools.refresh();
  assert.deepEqual(custom(), []);
});

test('a running call finishes on the version that it began with', async () => {
  const gate = new Gate();
  (globalThis as { gate?: Gate }).gate = gate;
  await write('t.ts', toolSource('t', "await globalThis.gate.pass(); return 'old';"));
  await tools.refresh();
  const running = call('t');
  await gate.reached;
  await write('t.ts', toolSource('t', "return 'newer';"));
  await tools.refresh();
  assert.equal(await call('t'), 'newer');
  gate.open();
  assert.equal(await running, 'old');
});

test('reload loads unchanged tools again', async () => {
  await write('t.ts', toolSource('t'));
  await tools.refresh();
  const first = registry.get('t');
  await tools.reload();
  assert.notEqual(registry.get('t'), first);
  assert.deepEqual(custom(), ['t']);
});

test('built-in names are always taken, others by the first tool; a name that becomes free is reused', async () => {
  await write('a.ts', toolSource('same'));
  await write('b.ts', toolSource('same'));
  await write('c.ts', toolSource('edit_file'));
  await tools.refresh();
  assert.deepEqual(custom(), ['same']);
  assert.deepEqual(
    tools.problems.map(({ file, line, column, fault }) => [file, line, column, fault]),
    [
      [
        world.folder.at('tools/b.ts'),
        1,
        8,
        { kind: 'nameTaken', name: 'same', by: world.folder.at('tools/a.ts') },
      ],
      [world.folder.at('tools/c.ts'), 1, 8, { kind: 'nameTaken', name: 'edit_file' }],
    ],
  );
  await write('a.ts', toolSource('other'));
  await tools.refresh();
  assert.deepEqual(custom(), ['other', 'same']);
  assert.deepEqual(faults(), [{ kind: 'nameTaken', name: 'edit_file' }]);
});

test('the name of a disabled built-in tool is taken too, and the other tools still load', async () => {
  registry.register(revertToStateTool(() => false));
  await write('a.ts', toolSource('revert_to_state'));
  await write('b.ts', toolSource('b'));
  await tools.refresh();
  assert.deepEqual(custom(), ['b']);
  assert.deepEqual(faults(), [{ kind: 'nameTaken', name: 'revert_to_state' }]);
});

test('all folders to watch are known, including new ones', async () => {
  await write('t.ts', toolSource('t'));
  await write('lib/n.ts', 'export const n = 1;');
  await write('node_modules/p/index.js', '');
  const folders = (): string[] => tools.folders.map(each => path.relative(world.folder.root, each)).sort();
  await tools.refresh();
  assert.deepEqual(folders(), ['tools', path.join('tools', 'lib')]);
  await world.folder.folder('tools/more');
  await tools.refresh();
  assert.deepEqual(folders(), ['tools', path.join('tools', 'lib'), path.join('tools', 'more')]);
});

test('folders with links that form cycles are read only once', async () => {
  await write('t.ts', toolSource('t'));
  for (const name of ['loop/x', 'loop/y'])
    await world.folder.link(`tools/${name}`, world.folder.at('tools/loop'));
  await tools.refresh();
  assert.deepEqual(custom(), ['t']);
});

test('the first place wins, and a file that cannot be loaded does not take the name', async () => {
  const second = { path: world.folder.at('more'), cwd: '/', trusted: true };
  places.push(second);
  await world.folder.file('more/t.ts', toolSource('same', "return 'second';"));
  await write('bad.ts', 'export default 1 +;');
  await write('t.ts', toolSource('same', "return 'first';"));
  await tools.refresh();
  assert.equal(await call('same'), 'first');
  assert.equal(tools.problems.length, 2);
  places.shift();
  await tools.refresh();
  assert.equal(await call('same'), 'second');
  assert.deepEqual(faults(), [], 'the problems of a place that is gone are gone');
});

test('a problem disappears when its file is fixed', async () => {
  await write('t.ts', 'export default 1 +;');
  await tools.refresh();
  assert.equal(faults().length, 1);
  await write('t.ts', toolSource('t'));
  await tools.refresh();
  assert.deepEqual(faults(), []);
  assert.deepEqual(custom(), ['t']);
});

test('untrusted files are listed but not run; once trusted they are loaded', async () => {
  await write('t.ts', `globalThis.ran = true;\n${toolSource('t')}`);
  const [place] = places;
  assert.ok(place);
  places = [{ ...place, trusted: false }];
  let told = 0;
  tools.onDidChange(() => told++);
  await tools.refresh();
  assert.equal((globalThis as { ran?: boolean }).ran, undefined);
  assert.deepEqual(tools.withheld, [world.folder.at('tools/t.ts')]);
  assert.deepEqual([custom(), told, loaders], [[], 1, 0]);
  places = [place];
  await tools.refresh();
  assert.deepEqual([tools.withheld, custom()], [[], ['t']]);
});

test('later problems fire onDidChange', async () => {
  await write('t.ts', toolSource('t', 'process.exit(2);'));
  await tools.refresh();
  let told = 0;
  tools.onDidChange(() => told++);
  await call('t');
  await call('t');
  assert.deepEqual([told, faults()], [1, [{ kind: 'exitCalled', call: 'process.exit(2)' }]]);
});

/**
 * Stands in for the handlers of uncaught errors, which run in the async context of the code that threw: tools pass their
 * errors to `globalThis.reportUncaught`. Settles with the first one.
 */
function followLate(): Promise<void> {
  return new Promise(resolve => {
    (globalThis as { reportUncaught?: (error: unknown) => void }).reportUncaught = error => {
      tools.reportUncaught(error);
      resolve();
    };
  });
}

for (const [what, thrown, message] of [
  ['an error', 'new Error("late")', 'late'],
  ['a string, which names no file', '"late"', 'late'],
] as const) {
  test(`an uncaught error is a problem of the tool that threw it: ${what}`, async () => {
    await write(
      't.ts',
      toolSource('t', `setTimeout(() => globalThis.reportUncaught(${thrown})); return '';`),
    );
    const blamed = followLate();
    await tools.refresh();
    await call('t');
    await blamed;
    assert.deepEqual(faults(), [{ kind: 'threwLater', message }]);
  });
}

test('an error that a module of a tool throws later is the tool’s problem', async () => {
  await write(
    'lib/h.ts',
    `export const h = (): void => void setTimeout(() => globalThis.reportUncaught(new Error('of the helper')));`,
  );
  await write('t.ts', `import { h } from './lib/h.ts';\n${toolSource('t', `h(); return '';`)}`);
  const blamed = followLate();
  await tools.refresh();
  await call('t');
  await blamed;
  assert.deepEqual(faults(), [{ kind: 'threwLater', message: 'of the helper' }]);
});

test('an error of a tool’s old code is not a problem of the new one', async () => {
  const gate = new Gate();
  (globalThis as { gate?: Gate }).gate = gate;
  void followLate();
  await write(
    't.ts',
    toolSource(
      't',
      `try { await globalThis.gate.pass(); throw new Error('old'); } catch (e) { globalThis.reportUncaught(e); }`,
    ),
  );
  await tools.refresh();
  const running = call('t');
  await gate.reached;
  await write('t.ts', toolSource('t', `return 'mended';`));
  await tools.refresh();
  gate.open();
  await running;
  assert.deepEqual(faults(), []);
  assert.match(world.logged.at(-1) ?? '', /threwLater, message: old\n/, 'the log has it');
});

test('a timer that keeps throwing fills neither the memory nor the Problems view', async () => {
  await write(
    't.ts',
    toolSource(
      't',
      `for (let i = 0; i < 1000; i++) globalThis.reportUncaught(new Error('no ' + i)); return '';`,
    ),
  );
  void followLate();
  await tools.refresh();
  await call('t');
  assert.equal(faults().length, 20);
});

test('a file without a tool can no longer stage once it is replaced', async () => {
  await write(
    't.ts',
    `export default pi => { globalThis.push = () => pi.pushPendingAction({ label: 'x', apply() {} }); return []; };`,
  );
  await tools.refresh();
  const { push } = globalThis as { push?: () => unknown };
  push?.();
  await write('t.ts', 'export default () => [];\n');
  await tools.refresh();
  assert.throws(() => push?.(), /Pending action store unavailable/);
  assert.equal(world.staged.length, 1);
});

test('another extension registers a tool; disposing of it removes the tool and expires its previews', async () => {
  const registration = tools.register(
    pi => ({
      name: 'brought',
      description: 'd',
      parameters: pi.zod.object({}),
      execute: () => {
        pi.pushPendingAction({ label: 'x', apply: () => ({ content: [] }) });
        return { content: [{ type: 'text', text: 'ok' }] };
      },
    }),
    '/',
  );
  await tools.refresh();
  assert.deepEqual(custom(), ['brought']);
  await call('brought');
  registration.dispose();
  registration.dispose();
  assert.deepEqual([custom(), expired], [[], ['p1']]);
});

test('a registration that is disposed of before it is loaded has no effect; a factory that throws is contained', async () => {
  tools.register(() => assert.fail('it was called'), '/').dispose();
  tools.register(() => {
    throw new Error('their own');
  }, '/');
  await tools.refresh();
  assert.deepEqual(custom(), []);
  assert.match(
    world.logged.at(-1) ?? '',
    /^error Custom tool another extension: factoryThrew, message: their own\n/,
  );
});

test('previews of a registration that is disposed of while it loads expire', async () => {
  const gate = new Gate();
  let push = (): unknown => assert.fail('the factory was called');
  const registration = tools.register(async pi => {
    push = () => pi.pushPendingAction({ label: 'x', apply: () => ({ content: [] }) });
    await gate.pass();
    // It stages as soon as it may, before anything else learns that it is loaded.
    const pushSoon = (turns: number): void =>
      queueMicrotask(() => {
        try {
          push();
        } catch {
          if (turns > 0) pushSoon(turns - 1);
        }
      });
    pushSoon(100);
    return [];
  }, '/');
  await gate.reached;
  registration.dispose();
  gate.open();
  await tools.refresh();
  assert.deepEqual([world.staged.length, expired], [1, ['late1']]);
  assert.throws(push, /Pending action store unavailable/);
});

test('tools get the events of the session that they are used in', async () => {
  const source = toolSource('t').replace(
    'async execute',
    'onSession(event) { pi.ui.notify(event.reason); },\n  async execute',
  );
  await write('t.ts', source);
  const told = (): unknown[] => world.asked.splice(0).map(([, reason]) => reason);
  await tools.refresh();
  assert.deepEqual(told(), ['start']);
  await tools.refresh();
  tools.sendSessionEvent({ reason: 'switch', sessionId: 's2', previousSessionId: 's1' });
  assert.deepEqual(told(), ['switch']);
  await tools.reload();
  assert.deepEqual(told(), ['shutdown', 'start']);
  tools.dispose();
  assert.deepEqual([told(), custom()], [['shutdown'], []]);
});

test('a session offers what is on disk at each request', async () => {
  const t = createTestSession({
    prepareTools: () => tools.refresh(),
    registry,
    script: [
      async () => {
        await write('t.ts', toolSource('t', "return 'called';"));
        return { toolCalls: [{ name: 'read_file', arguments: { path: 'a' } }] };
      },
      { toolCalls: [{ name: 't', arguments: {} }] },
      async () => {
        await rm(world.folder.at('tools/t.ts'));
        return { toolCalls: [{ name: 't', arguments: {} }] };
      },
      { text: 'done' },
    ],
  });
  await t.session.prompt('Go.');
  const offered = t.requests.map(({ tools: specs }) => specs.some(({ name }) => name === 't'));
  assert.deepEqual(offered, [false, true, true, false]);
  assert.equal(t.results()[1]?.content, 'called');
  t.assertSound();
});

test('a stop does not wait for tools to load', async () => {
  const gate = new Gate();
  const t = createTestSession({ prepareTools: () => gate.pass(), script: [] });
  const prompt = t.session.prompt('Go.');
  await gate.reached;
  t.session.stop();
  await prompt;
  assert.equal(t.session.state, 'idle');
  assert.equal(t.answers()[0]?.stopReason, 'aborted');
  gate.open();
});
