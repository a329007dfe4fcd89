import * as fs from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { create, modify } from '../../../support/changes.ts';
import { ProvenWorld } from '../../../support/provenWorld.ts';
import { enginesHere } from '../../../support/sandboxWorld.ts';

/** A build tool that goes by times: it makes `out/app` if `a.txt` is newer. */
const BUILD =
  'mkdir -p out; if [ ! -e out/app ] || [ -n "$(find a.txt -newer out/app)" ]; then cp a.txt out/app; fi; ';
const TEST = `${BUILD}grep -q good out/app`;

for (const engine of await enginesHere())
  suite(`what was made from other files proves nothing, engine ${engine}`, () => {
    async function open(
      t: TestContext,
      files: Readonly<Record<string, string>>,
      command: string,
    ): Promise<ProvenWorld> {
      const world = await ProvenWorld.create(engine, files, { command });
      t.after(() => world.remove());
      return world;
    }

    for (const what of ['was discarded', 'is still pending'])
      test(`an output of a preview that ${what} does not prove the next one`, async t => {
        const world = await open(t, { 'a.txt': 'bad\n' }, TEST);
        const first = world.stage(modify('a.txt', 'bad\n', 'good\n'));
        const second = world.stage(create('b.txt', 'b\n'));
        const { results } = await world.checks.run([first, second], 'human');
        assert.equal(results[0]?.outcome, 'passed');
        if (what === 'was discarded') await world.discard(first);
        const { state, told } = await world.vote(second);
        assert.equal(state, 'pending', told);
        assert.match(told, /test failed/);
        assert.equal(world.sandbox.read('b.txt'), undefined);
      });

    test('a tool that a check or a command has changed is as on disk again', async t => {
      const script = 'sh node_modules/tester/run.sh\n';
      const world = await open(t, { 'app.txt': 'good\n', 'check.sh': script }, 'sh check.sh');
      world.sandbox.write({ 'node_modules/tester/run.sh': 'grep -q good app.txt\n' });
      const poison = 'echo "exit 0" > node_modules/tester/run.sh; mkdir -p node_modules/more';
      const first = world.stage(modify('check.sh', script, `${poison}; ${script}`));
      const { results } = await world.checks.run([first], 'human');
      assert.equal(results[0]?.outcome, 'passed');
      await world.discard(first);
      await world.sandbox.run(poison);
      const second = world.stage(modify('app.txt', 'good\n', 'evil\n'));
      const { state, told } = await world.vote(second);
      assert.equal(state, 'pending', told);
      assert.equal(world.sandbox.read('app.txt'), 'good\n');
      const { output } = await world.sandbox.run('cat node_modules/tester/run.sh');
      assert.equal(output, 'exit 0\n', 'commands keep theirs');
    });

    test('outputs of the disk are older than what is pending, and newer than what they were made from', async t => {
      const world = await open(t, { 'a.txt': 'good\n' }, `${TEST} && [ ! -e out/left ] && touch out/left`);
      world.sandbox.write({ 'out/app': 'good and made by the user\n' });
      const passed = await world.vote(world.stage(create('b.txt', 'b\n')));
      assert.equal(passed.state, 'applied', passed.told);
      const broken = await world.vote(world.stage(modify('a.txt', 'good\n', 'bad\n')));
      assert.equal(broken.state, 'pending', broken.told);
      const mended = await world.vote(world.stage(create('c.txt', 'c\n')));
      assert.equal(mended.state, 'applied', mended.told);
    });

    test('what a person breaks and saves after a build is built again', async t => {
      const world = await open(t, { 'a.txt': 'good\n' }, TEST);
      world.sandbox.write({ 'out/app': 'good\n', 'a.txt': 'bad\n' });
      const minuteAgo = new Date(Date.now() - 60_000);
      fs.utimesSync(world.sandbox.at('out/app'), minuteAgo, minuteAgo);
      const { state, told } = await world.vote(world.stage(create('b.txt', 'b\n')));
      assert.equal(state, 'pending', told);
    });

    test('for commands, too, time only goes forward', async t => {
      const { sandbox } = await open(t, { 'a.txt': 'bad\n' }, TEST);
      const run = async (text: string | undefined): Promise<number | undefined> =>
        (await sandbox.run(TEST, text === undefined ? {} : { pending: { 'a.txt': text } })).exitCode;
      assert.equal(await run(undefined), 1, 'on disk');
      assert.equal(await run('good\n'), 0, 'pending');
      assert.equal(await run(undefined), 1, 'discarded');
      assert.equal(await run('good\n'), 0, 'pending again');
      assert.equal(await run('also bad\n'), 1, 'another revision');
      assert.equal(await run(undefined), 1, 'discarded again');
      const made = await sandbox.run(`${TEST}; stat -c %Y.%y out/app`);
      const kept = await sandbox.run(`${TEST}; stat -c %Y.%y out/app`);
      assert.equal(kept.output, made.output, 'what nobody changed is not made again');
      assert.deepEqual([kept.changes, kept.leftOut], [[], []]);
    });

    test('outputs of a command that changed too many files for a preview are not kept', async t => {
      const { sandbox } = await open(t, { 'src/a.txt': 'bad\n', 'src/b.txt': 'b\n' }, 'true');
      const build = TEST.replaceAll('a.txt', 'src/a.txt');
      assert.equal((await sandbox.run(`${build}`)).exitCode, 1);
      const many = 'i=0; while [ $i -lt 2100 ]; do echo $i > f$i; i=$((i+1)); done';
      const ran = await sandbox.run(`${many}; echo good > src/a.txt; rm src/b.txt; ${build}`);
      assert.deepEqual([ran.exitCode, ran.effects.length], [0, 0]);
      assert.equal((await sandbox.run(build)).exitCode, 1, 'as on disk');
      assert.deepEqual([ran.changed.length, ran.changed.includes('src/b.txt')], [2_102, true]);
      if (engine === 'overlay') assert.match(ran.notes.join(), /Ignored files were removed from the sandbox/);
    });

    test('all names of a file hold what is pending for one of them', async t => {
      const { sandbox } = await open(t, { 'a.txt': 'good\n', 'src/c.txt': 'c\n' }, 'true');
      fs.linkSync(sandbox.at('a.txt'), sandbox.at('src/link.txt'));
      const pending = { 'a.txt': 'bad\n' };
      const seen = await sandbox.run('cat a.txt src/link.txt', { pending });
      assert.deepEqual([seen.output, seen.changes], ['bad\nbad\n', []]);
      const more = await sandbox.run('echo more >> src/link.txt; cat a.txt', { pending });
      assert.deepEqual([more.output, more.changes], ['bad\nmore\n', ['a.txt: bad => bad\nmore']]);
      const replaced = await sandbox.run('rm src/link.txt; echo new > src/link.txt', { pending });
      assert.deepEqual(replaced.changes, ['src/link.txt: bad => new']);
      assert.equal((await sandbox.run('cat a.txt src/link.txt')).output, 'good\ngood\n');
      assert.equal(fs.statSync(sandbox.at('a.txt')).nlink, 2);
    });

    test('what is saved with the size and the time that the file had is seen', async t => {
      const { sandbox } = await open(t, { 'a.txt': 'good\n' }, 'true');
      assert.equal((await sandbox.run('cat a.txt')).output, 'good\n');
      const { atime, mtime } = fs.statSync(sandbox.at('a.txt'));
      sandbox.write({ 'a.txt': 'evil\n' });
      fs.utimesSync(sandbox.at('a.txt'), atime, mtime);
      assert.equal((await sandbox.run('cat a.txt')).output, 'evil\n');
    });

    test('a cache that knows files by their second and size knows none that is pending', async t => {
      const { sandbox } = await open(t, { 'a.txt': 'good\n' }, 'true');
      const build = 'mkdir -p out; key=out/$(stat -c %Y-%s a.txt); [ -e $key ] || cat a.txt > $key; cat $key';
      for (let n = 0; n < 3; n++) {
        sandbox.write({ 'a.txt': 'good\n' });
        const { mtimeMs, size } = fs.statSync(sandbox.at('a.txt'));
        sandbox.write({ [`out/${Math.floor(mtimeMs / 1000)}-${size}`]: 'good\n' });
        assert.equal((await sandbox.run(build, { pending: { 'a.txt': 'evil\n' } })).output, 'evil\n');
      }
    });

    test('a link in the place of an ignored folder is a change, as what is written through it is', async t => {
      const { sandbox } = await open(t, { 'src/c.txt': 'c\n' }, 'true');
      sandbox.write({ 'out/app': 'made\n' });
      const { changes } = await sandbox.run('rm -r out; ln -s src out; echo new > out/d.txt');
      assert.deepEqual(changes, ['out: ∅ => → src', 'src/d.txt: ∅ => new']);
    });

    test('a preview of an ignored file is forgotten with it', async t => {
      const { sandbox } = await open(t, { 'a.txt': 'a\n' }, 'true');
      sandbox.write({ 'out/on.log': 'disk\n' });
      const pending = { '.env.log': 'KEY=1\n', 'out/new.log': 'new\n', 'out/on.log': null };
      const seen = 'cat .env.log out/new.log out/on.log 2>/dev/null';
      assert.equal(
        (await sandbox.run(`${seen}; echo made > out/own.log`, { pending })).output,
        'KEY=1\nnew\n',
      );
      assert.equal((await sandbox.run(`${seen} out/own.log`)).output, 'disk\nmade\n');
      sandbox.write({ '.env.log': 'of the disk\n', 'out/on.log': 'later\n' });
      assert.equal((await sandbox.run(seen)).output, 'of the disk\nlater\n');
    });
  });
