import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { enginesHere, SandboxWorld } from '../../../support/sandboxWorld.ts';

for (const engine of await enginesHere())
  suite(`engine ${engine}, what git ignores and a command has changed`, () => {
    async function open(t: TestContext): Promise<SandboxWorld> {
      const world = await SandboxWorld.create(engine, { 'a.txt': 'a' });
      t.after(() => world.remove());
      world.write({ 'node_modules/x/index.js': 'x\n', 'node_modules/y.js': 'y\n', 'out/b': 'disk\n' });
      return world;
    }

    const WHERE = 'That is no change of the workspace, and the next command finds it as on disk.';

    for (const removal of ['rm -r node_modules out', 'rm -r node_modules/* out/*'])
      test(`what was removed is told by name and comes back: ${removal}`, async t => {
        const world = await open(t);
        const { notes, changes } = await world.run(removal);
        assert.deepEqual(notes, [`It removed what git ignores: node_modules, out. ${WHERE}`]);
        assert.deepEqual(changes, []);
        const next = await world.run('cat node_modules/x/index.js node_modules/y.js out/b');
        assert.equal(next.output, 'x\ny\ndisk\n');
        assert.deepEqual(next.notes, []);
      });

    test('what was removed and made anew stays, and so does what was removed in a folder that is there', async t => {
      const world = await open(t);
      const { notes } = await world.run('rm -r out && mkdir out && echo new >out/n; rm node_modules/y.js');
      assert.deepEqual(notes, []);
      assert.equal((await world.run('ls out node_modules')).output, 'node_modules:\nx\n\nout:\nn\n');
    });

    test('what is newer on disk wins', async t => {
      const world = await open(t);
      await world.run('echo sandbox >out/b; echo kept >node_modules/x/index.js');
      assert.equal((await world.run('cat out/b node_modules/x/index.js')).output, 'sandbox\nkept\n');
      world.write({ 'out/b': 'rebuilt\n' });
      const { output, notes } = await world.run('cat out/b node_modules/x/index.js');
      assert.equal(output, 'rebuilt\nkept\n');
      if (engine === 'overlay')
        assert.deepEqual(notes, [
          'Newer on disk than in the sandbox, so this command found it as on disk: out.',
        ]);
      fs.rmSync(world.at('out'), { recursive: true });
      fs.writeFileSync(world.at('out'), 'a file now\n');
      assert.equal((await world.run('cat out')).output, 'a file now\n');
    });

    test('a folder that was removed on disk is gone, with all that commands have left in it', async t => {
      const world = await open(t);
      await world.run('echo sandbox >out/b; echo new >out/n; mkdir build.log; echo own >build.log/n');
      fs.rmSync(world.at('out'), { recursive: true });
      const { output } = await world.run('ls out 2>/dev/null || echo none; cat build.log/n');
      assert.equal(output, 'none\nown\n');
      world.write({ 'out/b': 'again\n' });
      assert.equal((await world.run('ls out; cat out/b')).output, 'b\nagain\n');
    });

    test('a folder that was made anew in the sandbox hides nothing that came to the disk later', async t => {
      const world = await open(t);
      await world.run('rm -r out && mkdir out && echo new >out/b');
      world.write({ 'out/later': 'later\n' });
      assert.match((await world.run('cat out/later')).output, /^later$/m);
    });

    test('a reset makes it as on disk, and it is busy while a command runs', async t => {
      const world = await open(t);
      await world.run('echo sandbox >out/b; echo new >out/n; rm node_modules/y.js');
      const sandbox = await world.sandboxes.of('s1');
      assert.equal(sandbox?.isBusy, false);
      const seen: (boolean | undefined)[] = [];
      await world.run('echo runs', { onOutput: () => seen.push(sandbox.isBusy) });
      assert.deepEqual(seen, [true]);
      await sandbox.reset();
      const { output } = await world.run('cat out/* node_modules/y.js');
      assert.equal(output, 'disk\ny\n');
    });
  });
