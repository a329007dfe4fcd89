import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { modify } from '../../support/changes.ts';
import { ProvenWorld } from '../../support/provenWorld.ts';
import { enginesHere } from '../../support/sandboxWorld.ts';

for (const engine of await enginesHere())
  suite(`Auto if Checks Pass on disk, engine ${engine}`, () => {
    async function open(
      t: TestContext,
      ...[files, ...checks]: Parameters<typeof ProvenWorld.create> extends [unknown, ...infer Rest]
        ? Rest
        : never
    ): Promise<ProvenWorld> {
      const world = await ProvenWorld.create(engine, files, ...checks);
      t.after(() => world.remove());
      return world;
    }

    test('a check that only reads proves a vote', async t => {
      const world = await open(t, { 'a.txt': 'old\n' }, { command: 'grep -q new a.txt' });
      const voted = await world.vote(world.stage(modify('a.txt', 'old\n', 'new\n')));
      assert.equal(voted.state, 'applied', voted.told);
      assert.deepEqual(
        voted.checks?.map(({ outcome }) => outcome),
        ['passed'],
      );
      assert.equal(world.sandbox.read('a.txt'), 'new\n');
    });

    for (const [what, command, told] of [
      ['writes a snapshot', 'cp a.txt snap.txt; cmp a.txt snap.txt', /test changed snap\.txt/],
      ['mends what it checks', 'echo mended > a.txt', /test changed a\.txt/],
      [
        'generates a file',
        'echo 1 > generated.ts; echo 2 > made.ts',
        /test changed generated\.ts and made\.ts/,
      ],
      ['deletes a file', 'rm snap.txt', /test changed snap\.txt/],
      ['sets permission bits', 'chmod +x snap.txt', /test changed snap\.txt/],
      ['leaves what no preview can hold', 'mkfifo pipe', /test changed pipe/],
      [
        'writes more than can be reviewed',
        'i=0; while [ $i -lt 2100 ]; do echo $i > f$i; i=$((i+1)); done',
        /test changed f\S+, f\S+, f\S+ and [\d,]+ more/,
      ],
    ] as const)
      test(`a check that ${what} proves nothing, and the file is named`, async t => {
        const world = await open(t, { 'a.txt': 'old\n', 'snap.txt': 'old\n' }, { command });
        const preview = world.stage(modify('a.txt', 'old\n', 'new\n'));
        const voted = await world.vote(preview);
        assert.equal(voted.state, 'pending', voted.told);
        assert.match(voted.told, told);
        assert.equal(world.sandbox.read('a.txt'), 'old\n');
        const [mark] = world.checks.marksOf([preview]);
        assert.equal(mark?.state, 'changedFiles');
      });

    test('what git ignores is an output, and may be written', async t => {
      const world = await open(
        t,
        { 'a.txt': 'old\n' },
        { command: 'mkdir -p out; cp a.txt out/a; touch a.log' },
      );
      assert.equal((await world.vote(world.stage(modify('a.txt', 'old\n', 'new\n')))).state, 'applied');
    });
  });
