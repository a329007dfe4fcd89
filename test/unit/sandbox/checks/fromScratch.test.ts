import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { isSameEnd } from '../../../../src/agent/sandbox/checks/check.ts';
import { modify } from '../../../support/changes.ts';
import { ProvenWorld } from '../../../support/provenWorld.ts';
import { enginesHere } from '../../../support/sandboxWorld.ts';

for (const engine of await enginesHere())
  suite(`checks from scratch, engine ${engine}`, () => {
    async function open(t: TestContext, command: string): Promise<ProvenWorld> {
      const world = await ProvenWorld.create(engine, { 'a.txt': 'old\n' }, { command });
      t.after(() => world.remove());
      return world;
    }

    for (const [text, outcome] of [
      ['good\n', 'passed'],
      ['bad\n', 'failed'],
    ] as const)
      test(`a check that ${outcome} in the sandbox does so in a full copy, which is removed`, async t => {
        const world = await open(t, 'cat node_modules/tool.txt; grep -q good a.txt');
        world.sandbox.write({ 'node_modules/tool.txt': 'of the disk\n' });
        const previews = [world.stage(modify('a.txt', 'old\n', text))];
        const report = await world.checks.run(previews, 'human');
        const before = fs.readdirSync(world.sandbox.temp.at('storage', 'sandbox'));
        const [[result, copy] = []] = await world.checks.runFromScratch(report, previews);
        assert.ok(result && copy && isSameEnd(result, copy));
        assert.equal(copy.outcome, outcome);
        assert.match(copy.output, /of the disk/);
        assert.deepEqual(fs.readdirSync(world.sandbox.temp.at('storage', 'sandbox')), before);
      });

    for (const [copied, isSame] of [
      ['not ok 1 - old', true],
      ['not ok 1 - new', false],
    ] as const)
      test(`failures as before stay so where the copy ${isSame ? 'has the same' : 'has others'}`, async t => {
        const world = await open(
          t,
          `case "$PWD" in */sandbox/2/*) echo "${copied}";; *) echo "not ok 1 - old";; esac; echo 1..1; exit 1`,
        );
        const preview = world.stage(modify('a.txt', 'old\n', 'good\n'));
        const report = await world.checks.run([preview], 'human');
        assert.equal(report.results[0]?.outcome, 'asBefore');
        const [[result, copy] = []] = await world.checks.runFromScratch(report, [preview]);
        assert.ok(result && copy);
        assert.equal(isSameEnd(result, copy), isSame);
        const [mark] = world.checks.marksOf([preview]);
        assert.equal(mark?.state, isSame ? 'asBefore' : 'failed');
      });

    test('what passes in the sandbox and fails in the copy does not land', async t => {
      // Only the copy that is made for it, after the sandbox of the checks, is at such a path.
      const world = await open(t, 'case "$PWD" in */sandbox/2/*) exit 3;; esac; pwd');
      const preview = world.stage(modify('a.txt', 'old\n', 'good\n'));
      const report = await world.checks.run([preview], 'human');
      const [[result, copy] = []] = await world.checks.runFromScratch(report, [preview]);
      assert.deepEqual([result?.outcome, copy?.outcome, copy?.exitCode], ['passed', 'failed', 3]);
      assert.ok(result && copy && !isSameEnd(result, copy));
      const { isProved } = await world.checks.prove([preview]);
      assert.equal(isProved, false);
      assert.equal(world.checks.marksOf([preview])[0]?.isFlaky, true);
    });
  });
