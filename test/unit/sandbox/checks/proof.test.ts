import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { create, modify, remove } from '../../../support/changes.ts';
import { ProvenWorld } from '../../../support/provenWorld.ts';
import { enginesHere } from '../../../support/sandboxWorld.ts';

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

    test('a check whose program is not there says so', async t => {
      const world = await open(t, { 'a.txt': 'old\n' }, { command: 'no-such-program-1' });
      const { results } = await world.checks.run([], 'human');
      assert.match(results[0]?.output ?? '', /no-such-program-1: /);
      if (engine === 'overlay') assert.deepEqual(results[0]?.missing, ['no-such-program-1']);
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

    for (const [what, command] of [
      ['writes', 'echo more >> out/deep/tool.sh'],
      ['removes the folder of', 'rm -rf out; mkdir out'],
    ] as const)
      test(`a check that ${what} an ignored file which is pending proves nothing`, async t => {
        const world = await open(t, { 'a.txt': 'old\n', 'out/deep/tool.sh': 'one\n' }, { command });
        const preview = world.stage(modify('out/deep/tool.sh', 'one\n', 'two\n'));
        const { results } = await world.checks.run([preview], 'human');
        assert.equal(results[0]?.outcome, 'changedFiles');
        assert.deepEqual(results[0].changed?.first, ['out/deep/tool.sh']);
      });

    const SUITE = {
      'a.txt': 'good\n',
      'tests/a.sh': 'grep -q good a.txt\n',
      'tests/old.sh': 'grep -q never a.txt\n',
      'test.sh': `n=0; code=0
for each in tests/*.sh; do
  n=$((n+1))
  if sh $each; then echo "ok $n - $each"; else echo "not ok $n - $each"; code=1; fi
done
echo "1..$n"; exit $code
`,
    };

    /** Writes a report of JUnit of tests that are lines: `name ok` or `name bad`. */
    const REPORTER = `mkdir -p out
awk 'BEGIN { print "<testsuites><testsuite name=\\"s\\">" }
  { print "<testcase name=\\"" $1 "\\">" ($2 == "ok" ? "" : "<failure/>") "</testcase>" }
  END { print "</testsuite></testsuites>" }' tests.txt > out/junit.xml
sh after.sh; ! grep -q bad tests.txt
`;
    const REPORTED = {
      'tests.txt': 'a ok\nb bad\n',
      'run.sh': REPORTER,
      'after.sh': 'true\n',
    };
    for (const [what, change, isProved] of [
      ['an unrelated change', create('c.txt', 'c\n'), true],
      ['another failure', modify('tests.txt', REPORTED['tests.txt'], 'a bad\nb bad\n'), false],
      ['a test that is gone', modify('tests.txt', REPORTED['tests.txt'], 'b bad\n'), false],
      [
        'a report that is cut off',
        modify('after.sh', 'true\n', 'head -c 60 out/junit.xml > x.log; mv x.log out/junit.xml\n'),
        false,
      ],
      ['the old report of the disk', modify('run.sh', REPORTER, 'false\n'), false],
    ] as const)
      test(`in a suite that reports to a file, ${what} ${isProved ? 'lands' : 'waits'}`, async t => {
        const world = await open(t, REPORTED, { command: 'sh run.sh', report: 'out/junit.xml' });
        world.sandbox.write({
          'out/junit.xml':
            '<testsuites><testsuite name="s"><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite></testsuites>\n',
        });
        const { state, told, checks } = await world.vote(world.stage(change));
        assert.equal(state, isProved ? 'applied' : 'pending', told);
        if (isProved) assert.equal(checks?.[0]?.outcome, 'asBefore');
      });

    for (const [what, changes, isProved] of [
      ['an unrelated change', [create('b.txt', 'b\n')], true],
      ['a new test that passes', [create('tests/b.sh', 'true\n')], true],
      ['a change that breaks another test', [modify('a.txt', 'good\n', 'bad\n')], false],
      ['a new test that fails', [create('tests/b.sh', 'false\n')], false],
      ['a test that is gone', [remove('tests/a.sh', SUITE['tests/a.sh'])], false],
      ['a test that fails and is gone', [remove('tests/old.sh', SUITE['tests/old.sh'])], true],
      [
        'a test that is renamed',
        [remove('tests/a.sh', SUITE['tests/a.sh']), create('tests/c.sh', SUITE['tests/a.sh'])],
        false,
      ],
      [
        'a report that ends too early',
        [modify('test.sh', SUITE['test.sh'], SUITE['test.sh'].replace('echo "1..$n"', 'true'))],
        false,
      ],
      [
        'something else that fails and is not reported',
        [modify('test.sh', SUITE['test.sh'], SUITE['test.sh'].replace('exit', 'echo no type; exit'))],
        false,
      ],
    ] as const)
      test(`in a suite with one old failure, ${what} ${isProved ? 'lands' : 'waits'}`, async t => {
        const world = await open(t, SUITE, { command: 'sh test.sh' });
        const preview = world.stage(...changes);
        const { state, told, checks } = await world.vote(preview);
        assert.equal(state, isProved ? 'applied' : 'pending', told);
        if (!isProved) assert.match(told, /test failed \(exit code 1\)/);
        else if (what.endsWith('is gone')) assert.equal(checks?.[0]?.outcome, 'passed');
        else assert.deepEqual([checks?.[0]?.outcome, checks?.[0]?.failures], ['asBefore', 1]);
      });
  });
