/** Agents whose views lie on a disk that fills up. There it is small: the file runs itself where it may mount one. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mountFor, whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { ViewWorld } from '../../../support/viewWorld.ts';
import { runThere } from '../../sandbox/view/otherMachine.ts';

const MAKE = 'mount -t tmpfs -o size=48m,nr_inodes=4k tmpfs "$1"';
const FULL = /No space left on device/;
const small = process.env['REDLINE_SMALL_DISK'];

if (small === undefined) {
  const temp = await TempFolder.create();
  const obstacle = await whyNoOverlay([], temp.root);
  await temp.remove();
  test('on a small disk', { skip: obstacle !== undefined }, async t => {
    const own = fileURLToPath(import.meta.url);
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const { status, stdout, stderr } = await runThere(
      ...[t, MAKE],
      folder => ['env', `REDLINE_SMALL_DISK=${folder}`, process.execPath, '--test', own],
      env,
    );
    assert.equal(status, 0, stdout + stderr);
  });
} else
  for (const engine of ['overlay', 'copy'] as const)
    suite(`the storage of a view fills (${engine})`, () => {
      const storage = path.join(small, engine);

      async function opened(t: TestContext): Promise<ViewWorld> {
        const folders = (): { name: string; fsPath: string }[] => [{ name: 'w', fsPath: world.root }];
        const world: ViewWorld = await ViewWorld.create(
          { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' },
          { storage, mount: () => mountFor(folders(), storage, engine) },
        );
        t.after(() => world.remove());
        return world;
      }

      test('the agent’s write fails, the person is told once, nothing is proposed twice or lost, and all goes on once there is room', async t => {
        const world = await opened(t);
        const agent = world.start();
        await agent.run('echo A > src/a.ts');
        await world.previews(1);
        assert.match(await agent.run('echo B > src/b.ts; head -c 60m /dev/zero > big.bin'), FULL);
        await world.rest();
        await world.vote('p1', 'discard', 'Leave a.');
        await world.rest();
        assert.deepEqual(
          world.store.all().map(({ id, state }) => `${id} ${state.kind}`),
          ['p1 discarded'],
        );
        assert.equal(world.troubles.length, 1, world.troubles.join());
        assert.match(world.troubles[0] ?? '', /^ENOSPC: /);
        await agent.run('rm big.bin');
        assert.equal((await world.previews(2))[1], 'sh: src/b.ts: b => B');
        assert.equal(await agent.run('cat src/a.ts src/b.ts'), 'a\nB');
        assert.match(await agent.run('cat REDLINE.md'), /^- src\/a\.ts: refused\. Reason: Leave a\.$/m);
        await agent.exit();
        assert.equal(world.store.all().length, 2);
        assert.equal(world.troubles.length, 1);
        assert.equal(world.git('status', '--porcelain'), '');
      });

      test('an agent that ends while the disk is full is told so, and what it wrote is taken by the next window that has room', async t => {
        const world = await opened(t);
        const agent = world.start();
        await agent.run('echo A > src/a.ts');
        await world.previews(1);
        await agent.run('echo B > src/b.ts');
        const ballast = path.join(small, 'ballast');
        assert.throws(() => fs.writeFileSync(ballast, Buffer.alloc(60e6)), { code: 'ENOSPC' });
        assert.equal(await agent.exit(3), 3);
        assert.match(
          agent.output,
          /^redline: VS Code failed: ENOSPC: .*\. Changes become previews once it has this folder open again\.$/m,
        );
        const before = world.troubles.length;
        await world.closeWindow();
        await world.openWindow();
        assert.equal(world.troubles.length, before + 1, 'the next window tells, too');
        assert.equal(world.store.all().length, 1);
        fs.rmSync(ballast);
        await world.closeWindow();
        await world.openWindow();
        assert.deepEqual(await world.previews(2), ['sh: src/a.ts: a => A', 'sh: src/b.ts: b => B']);
        assert.deepEqual(fs.readdirSync(storage), []);
      });
    });
