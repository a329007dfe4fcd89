/** What interrupts agents at work: other windows, a closed one, a machine that sleeps, a newer version of the agent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { writeOwner } from '../../../../src/agent/clients/view/viewOwner.ts';
import { openWindows, windowsFolder } from '../../../../src/agent/clients/windowFiles.ts';
import { AgentView } from '../../../../src/agent/sandbox/agentView/agentView.ts';
import { mountFor, whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { viewPace } from '../../../../src/agent/clients/view/liveView.ts';
import type { AgentViewsHost } from '../../../../src/agent/clients/view/viewsHost.ts';
import { SimulatedPace } from '../../../support/simulatedPace.ts';
import { FREEZE_WORKER } from '../../../support/freezeWorker.ts';
import { Looks, ViewWorld } from '../../../support/viewWorld.ts';

const HOUR = 3_600_000;
const FILES = { 'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'src/b.ts': 'b\n' };

const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

for (const mount of obstacle ? (['copy'] as const) : (['overlay', 'copy'] as const))
  suite(`agents that are interrupted (${mount})`, () => {
    async function opened(t: TestContext, options: Partial<AgentViewsHost> = {}): Promise<ViewWorld> {
      const folders = (): { name: string; fsPath: string }[] => [{ name: 'w', fsPath: world.root }];
      const world: ViewWorld = await ViewWorld.create(FILES, {
        mount: () => mountFor(folders(), world.storage, mount),
        ...options,
      });
      t.after(() => world.remove());
      return world;
    }

    test('two windows on one folder, an agent terminal each: each has its own previews, and neither takes those of the other', async t => {
      const world = await opened(t);
      const second = await world.second();
      t.after(() => second.closeWindow());
      const one = world.start('/bin/sh', [], {}, await world.terminal());
      const two = second.start('/bin/sh', [], {}, await second.terminal());
      await one.run('sed -i s/one/ONE/ src/a.ts');
      await two.run('sed -i s/six/SIX/ src/a.ts; echo two > two.ts');
      assert.equal((await world.previews(1)).length, 1);
      assert.match((await second.previews(1))[0] ?? '', /^sh: src\/a\.ts: .*SIX; two\.ts: ∅ => two$/s);
      await world.vote('p1', 'apply');
      await second.userWrites({ 'src/a.ts': world.read('src/a.ts') ?? '' });
      const [{ id = '' } = {}] = second.store.all();
      await second.votesOnFiles(id, { apply: ['src/a.ts'], discard: [] });
      assert.equal(world.read('src/a.ts'), 'ONE\ntwo\nthree\nfour\nfive\nSIX\n');

      // The first window starts again beside an agent of the second one.
      await world.closeWindow();
      assert.equal(await world.openWindow(), true);
      await world.terminal();
      await two.run('echo more > more.ts');
      await polled('what it wrote then', async () =>
        (await second.previews(1)).some(each => /more/.test(each)),
      );
      assert.equal(await one.exit(), 0);
      assert.deepEqual(
        world.store.all().map(({ state }) => state.kind),
        ['applied'],
      );

      // With the second window go its previews, and not what the agent wrote.
      await second.closeWindow();
      assert.equal(await two.exit(), 0);
      assert.match(two.output, /VS Code is closed/);
      await world.closeWindow();
      assert.equal(await world.openWindow(), false);
      assert.deepEqual((await world.previews(2)).slice(1), ['sh: more.ts: ∅ => more; two.ts: ∅ => two']);
      await polled('the views to be gone', () => fs.readdirSync(world.storage).every(each => each === ''));
    });

    test('an agent that goes on in a second window, and then in the first again, loses nothing', async t => {
      const world = await opened(t);
      const second = await world.second();
      t.after(() => second.closeWindow());
      const agent = world.start();
      await agent.run('echo one > one.ts');
      await world.previews(1);
      await world.closeWindow();
      await agent.run('echo two > two.ts');
      await polled('what the second window takes', async () => {
        await second.rest();
        return second.store.all().some(({ label }) => label.includes('two.ts'));
      });
      assert.equal(await world.openWindow(), true);
      await second.closeWindow();
      await agent.exit();
      if (/VS Code is closed/.test(agent.output)) {
        await world.closeWindow();
        await world.openWindow();
      }
      assert.deepEqual(await world.previews(1), ['sh: one.ts: ∅ => one', 'sh: two.ts: ∅ => two']);
    });

    test('a second window that reloads goes on with its agent, and the first one takes nothing of it', async t => {
      const world = await opened(t);
      const second = await world.second();
      t.after(() => second.closeWindow());
      const agent = second.start('/bin/sh', [], {}, await second.terminal());
      await agent.run('echo one > one.ts');
      await second.previews(1);
      await second.closeWindow();
      await agent.run('echo two > two.ts');
      await second.openWindow();
      // Its earlier previews were in memory.
      assert.deepEqual(await second.previews(1), ['sh: one.ts: ∅ => one; two.ts: ∅ => two']);
      const [{ id = '' } = {}] = second.store.all();
      await second.vote(id, 'discard', 'Not this.');
      await second.rest();
      assert.match(await agent.run('cat REDLINE.md'), /Not this\./);
      assert.equal(await agent.exit(), 0);
      assert.deepEqual(world.store.all(), []);
    });

    test('two windows that reload at the same moment keep their terminals, and one that takes the storage over gets those of the other', async t => {
      const world = await opened(t);
      const second = await world.second();
      t.after(() => second.closeWindow());
      const [one, two] = [await world.terminal(), await second.terminal()];
      const socketOf = (terminal: readonly string[]): unknown =>
        (JSON.parse(fs.readFileSync(terminal[1] ?? '', 'utf8')) as { socket: unknown }).socket;
      const first = world.start('/bin/sh', [], {}, one);
      await first.run('echo one > one.ts');
      await world.previews(1);
      const other = second.start('/bin/sh', [], {}, two);
      await other.run('echo other > other.ts');
      await second.previews(1);
      await Promise.all([world, second].map(each => each.closeWindow()));
      const gone = [socketOf(one), socketOf(two)];
      await second.openWindow();
      assert.deepEqual([socketOf(one) === gone[0], socketOf(two) === gone[1]], [true, false]);
      assert.equal(await world.openWindow(), true);
      assert.notEqual(socketOf(one), gone[0]);
      await first.run('echo more > more.ts');
      assert.equal((await world.previews(2))[1], 'sh: more.ts: ∅ => more');
      assert.ok(second.store.all().every(({ label }) => label === 'other.ts'));

      await world.closeWindow();
      await second.takeOver();
      assert.equal(socketOf(one), socketOf(two));
      await first.run('echo late > late.ts');
      await polled('what the second window takes', async () => {
        await second.rest();
        return second.store.all().some(({ label }) => label === 'late.ts');
      });
      for (const agent of [first, other]) assert.equal(await agent.exit(), 0, agent.output);
      const labels = second.store.all().map(({ label }) => label);
      const all = ['late.ts', 'more.ts', 'one.ts', 'other.ts'];
      assert.deepEqual(labels.toSorted(), all, 'nothing is proposed twice');
    });

    test('of two windows that store no previews, one that reloads leaves the other its terminal; if both do, the first that is back has both', async t => {
      const world = await opened(t);
      const [two, three] = [await world.second(), await world.second()];
      for (const each of [two, three]) t.after(() => each.closeWindow());
      const terminals = [await two.terminal(), await three.terminal()];
      const sockets = (): unknown[] => terminals.map(([, file = '']) => fs.readFileSync(file, 'utf8'));
      const agents = [two, three].map((each, n) => each.start('/bin/sh', [], {}, terminals[n]));
      for (const [n, agent] of agents.entries()) await agent.run(`echo x > ${n}.ts`);
      for (const each of [two, three]) await each.previews(1);
      const [, before] = sockets();
      await two.closeWindow();
      await two.openWindow();
      assert.equal(sockets()[1], before);
      for (const each of [two, three]) await each.closeWindow();
      await three.openWindow();
      await two.openWindow();
      assert.equal(new Set(sockets()).size, 1);
      const labels = (): readonly string[] => three.store.all().map(({ label }) => label);
      await polled('what both agents have written', async () => {
        await three.rest();
        return labels().length === 2;
      });
      for (const agent of agents) assert.equal(await agent.exit(), 0, agent.output);
      assert.deepEqual([labels().toSorted(), two.store.all()], [['0.ts', '1.ts'], []]);
    });

    test('agents may connect no longer, and later again: those at work go on, and terminals of the window need no port', async t => {
      const world = await opened(t);
      const own = world.start('/bin/sh', [], {}, await world.terminal());
      const other = world.start();
      await own.run('echo one > own.ts');
      await other.run('echo one > other.ts');
      await world.previews(2);
      const [{ port = 0 } = {}] = await openWindows(windowsFolder(world.temp.at('home')));
      await world.stopServer();
      await assert.rejects(once(net.connect(port, '127.0.0.1'), 'connect'), /ECONNREFUSED/);
      await own.run('echo two > own2.ts');
      await other.run('echo two > other2.ts');
      await world.previews(4);
      const next = world.start('/bin/sh', [], {}, await world.terminal());
      await next.run('echo three > next.ts');
      await world.previews(5);
      const refused = world.start('/bin/true');
      assert.equal(await refused.ended, 125);
      assert.match(refused.output, /agents may not connect to it/);
      await world.startServer();
      const again = world.start();
      await again.run('echo four > again.ts');
      const labels = (await world.previews(6)) && world.store.all().map(({ label }) => label);
      const all = ['again.ts', 'next.ts', 'other.ts', 'other2.ts', 'own.ts', 'own2.ts'];
      assert.deepEqual(labels.toSorted(), all);
      for (const agent of [own, other, next, again]) assert.equal(await agent.exit(), 0, agent.output);
      await polled('the views to be gone', () =>
        fs.readdirSync(world.storage).every(name => name.startsWith('window-')),
      );
    });

    test('a second window that has taken over the storage leaves nothing to propose again, decided or not', async t => {
      const world = await opened(t);
      const second = await world.second();
      t.after(() => second.closeWindow());
      const agent = second.start('/bin/sh', [], {}, await second.terminal());
      await agent.run('sed -i s/one/ONE/ src/a.ts');
      await second.previews(1);
      await agent.run('echo refused > refused.ts');
      await second.previews(2);
      const [applied = '', refused = ''] = second.store.all().map(({ id }) => id);
      await second.vote(applied, 'apply');
      await second.vote(refused, 'discard');
      await second.rest();
      await second.userWrites({ 'src/a.ts': 'the next day\n' });
      await world.closeWindow();
      await second.takeOver();
      await agent.run('echo then > then.ts');
      await second.previews(3);
      await second.closeWindow();
      await agent.run('echo last > last.ts');
      await agent.exit();
      await world.openWindow();
      assert.deepEqual(await world.previews(4), [
        'sh: src/a.ts: one\ntwo\nthree\nfour\nfive\nsix => ONE\ntwo\nthree\nfour\nfive\nsix',
        'sh: refused.ts: ∅ => refused',
        'sh: then.ts: ∅ => then',
        'sh: last.ts: ∅ => last',
      ]);
    });

    test('a window that starts while others remove a finished view says nothing of it, and nothing is left', async t => {
      const errors: string[] = [];
      const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
      const logger = { ...quiet, error: (text: string) => errors.push(text) };
      const world = await opened(t, { logger });
      const copying = { progress: world.copies, signal: new AbortController().signal };
      const folder = path.join(world.storage, 'finished-view');
      const view = await AgentView.create(
        [{ name: 'w', fsPath: world.root }],
        ...[
          folder,
          { bytes: 1e9, files: 1_000, worker: FREEZE_WORKER },
          mount === 'copy' ? copying : undefined,
        ],
      );
      await writeOwner(folder, { view: '/', agent: { name: 'sh', version: '' }, sessionId: 's' });
      for (let each = 0; each < 2_000; each++) fs.writeFileSync(path.join(folder, 'known', `${each}`), '');
      let isRemoved = false;
      const removed = view.remove().finally(() => (isRemoved = true));
      const known = (): number => fs.readdirSync(path.join(folder, 'known')).length;
      for (const all = known(); known() === all;) await setImmediate();
      while (!isRemoved) await world.recover();
      await removed;
      assert.deepEqual([errors, world.troubles, fs.readdirSync(world.storage)], [[], [], []]);

      // A view whose state cannot be read is still told of, and a terminal in it can come back.
      fs.mkdirSync(path.join(folder, 'known'), { recursive: true });
      const terminal = path.join(world.storage, 'window-gone.json');
      fs.writeFileSync(terminal, '{"socket":"/nowhere"}');
      await world.recover();
      assert.match(errors.join(), /^What an agent has written is still in .*finished-view: .*ENOENT/);
      assert.ok(fs.existsSync(terminal));
    });

    test('a log that git ignores and that grows all the time does not delay what else is written', async t => {
      const looks = new Looks(viewPace);
      const world = await opened(t, { pace: looks });
      const agent = world.start();
      /** Milliseconds until the files are in a preview, if the log has grown before each look. */
      const takes = async (command: string, count: number): Promise<number> => {
        const began = looks.now();
        await agent.run(command);
        while (world.store.all().length < count && looks.now() - began < 20_000) {
          await agent.run('date >> app.log');
          await world.look();
        }
        return looks.now() - began;
      };
      await takes('echo one > one.ts', 1);
      const ms = await takes('echo two > two.ts', 2);
      assert.ok(ms < viewPace.restMs + 1_000, `it took ${ms} ms`);
      await agent.exit();
    });

    test('nothing waits longer than ten seconds while a file is written all the time, and the agent reads which one is waited for', async t => {
      const looks = new Looks(viewPace);
      const world = await opened(t, { pace: looks });
      const agent = world.start();
      await agent.run('echo B > src/b.ts');
      const rested = Math.ceil(Number(await agent.run('stat -c %.3Z src/b.ts')) * 1_000);
      // All that is written from now on is still being written, however fast the test goes.
      const { mock } = t.mock.method(Date, 'now', () => rested + viewPace.restMs);
      while (world.store.all().length === 0 && looks.now() < 10_000) {
        await agent.run('date >> src/noisy.ts');
        await world.look();
      }
      mock.restore();
      assert.deepEqual(await world.previews(1), ['sh: src/b.ts: b => B']);
      assert.match(
        await agent.run('cat REDLINE.md'),
        /^Not proposed yet, since it is still being written: src\/noisy\.ts\.$/m,
      );
      await agent.exit();
    });

    test('a window that is closed for an hour while the agent works takes all of it, and goes on', async t => {
      const pace = new SimulatedPace();
      const world = await opened(t, { pace });
      const agent = world.start();
      await agent.run('echo one >> src/b.ts');
      await world.previews(1);
      await world.closeWindow();
      for (let each = 0; each < 6; each++) {
        pace.pass(HOUR / 6);
        await agent.run(`echo ${each} >> src/b.ts; echo ${each} > src/${each}.ts; echo ${each} >> dev.log`);
      }
      assert.equal(await world.openWindow(), true);
      const [, late] = await world.previews(2);
      assert.match(
        late ?? '',
        /^sh: src\/0\.ts: ∅ => 0; .*src\/5\.ts: ∅ => 5; src\/b\.ts: b\none => b\none\n0\n1\n2\n3\n4\n5$/s,
      );
      await world.vote('p1', 'discard', 'Not this.');
      await polled('the refusal', async () => (await agent.run('cat REDLINE.md')).includes('Not this.'));
      await agent.exit();
      assert.equal(world.store.all().length, 2);
    });

    test('a program that comes back to a window that is closing is sent away, and the next window takes its changes', async t => {
      const world = await opened(t);
      const agent = world.start();
      await agent.run('echo one >> src/b.ts');
      await world.previews(1);
      const [id = ''] = fs.readdirSync(world.storage);
      await world.closeWindow();
      assert.equal(await world.comeBack(id), '');
      await agent.run('echo two >> notes.md');
      await world.openWindow();
      await world.previews(2);
      await agent.exit();
      assert.deepEqual(world.troubles, []);
    });

    test('a machine that sleeps for eight hours, also while a view is looked at: nothing waits longer than before, ends twice or is lost', async t => {
      const pace = new SimulatedPace();
      const world = await opened(t, { pace });
      const agent = world.start();
      await agent.run('echo one > one.ts');
      await world.previews(1);
      pace.sleepsInLook(8 * HOUR);
      await agent.run('echo two > two.ts');
      assert.equal((await world.previews(2))[1], 'sh: two.ts: ∅ => two');
      assert.ok(pace.longest <= pace.longestMs, `the next look was due after ${pace.longest} ms`);
      pace.pass(8 * HOUR);
      await world.vote('p1', 'discard', 'Not one.');
      await polled('the refusal', async () => (await agent.run('cat REDLINE.md')).includes('Not one.'));
      assert.equal(await agent.run('ls one.ts two.ts 2>/dev/null'), 'two.ts');
      pace.pass(8 * HOUR);
      assert.equal(await agent.exit(3), 3);
      assert.deepEqual(
        world.store.all().map(({ state }) => state.kind),
        ['discarded', 'pending'],
      );
      assert.deepEqual([world.notTaken, world.troubles], [[], []]);
      assert.match(agent.output, /^redline: 1 preview waits for you in VS Code\.$/m);
    });

    test('an agent that is replaced by a newer version goes on, and the newer one starts with what is pending', async t => {
      const world = await opened(t);
      const program = world.temp.at('bin', 'claude');
      const put = (version: number): void => {
        fs.writeFileSync(`${program}.new`, `#!/bin/sh\necho "version ${version}"\nexec /bin/sh\n`, {
          mode: 0o755,
        });
        fs.renameSync(`${program}.new`, program);
      };
      fs.mkdirSync(path.dirname(program));
      put(1);
      const first = world.start(program);
      await first.wrote('version 1');
      await first.run('echo one > one.ts');
      put(2);
      await first.run('echo two > two.ts');
      await world.previews(1);
      assert.match(await first.run(`sh -c '"${program}" < /dev/null'`), /^version 2$/m);
      assert.equal(await first.exit(), 0);
      const second = world.start(program);
      await second.wrote('version 2');
      await second.run('until test -e REDLINE.md; do sleep 0.05; done');
      assert.equal(await second.run('cat one.ts two.ts'), 'one\ntwo');
      await second.exit();
      assert.deepEqual(await world.previews(1), ['Claude Code: one.ts: ∅ => one; two.ts: ∅ => two']);
    });
  });
