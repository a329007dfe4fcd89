/** The problems of a check that has run. */
import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { CheckWorld } from '../../../../support/checkWorld.ts';

async function problems(
  context: TestContext,
  output: string,
  problemMatcher?: unknown,
): Promise<readonly string[]> {
  const world = new CheckWorld();
  context.after(() => world.checks.dispose());
  world.contributions = [
    { problemMatchers: [{ name: 'odd', pattern: { regexp: '^@(\\S+) (\\d+)$', message: 0 } }] },
  ];
  world.add('lint', () => [1, output], problemMatcher === undefined ? {} : { problemMatcher });
  const { results } = await world.checks.run([], 'human', { compares: false });
  assert.equal(results[0]?.outcome, 'failed');
  return results[0].problems.map(({ path, line, message }) => `${path}:${line} ${message}`);
}

test('a check uses the matchers of extensions, or those that it names', async context => {
  const output = '@a.x 3\nb.ts:1:2: own';
  assert.deepEqual(await problems(context, output), ['a.x:3 @a.x 3', 'b.ts:1 own']);
  assert.deepEqual(await problems(context, output, '$odd'), ['a.x:3 @a.x 3']);
  assert.deepEqual(await problems(context, output, '$gone'), ['b.ts:1 own'], 'instead of none');
});

test('the places in SARIF and JUnit are told, and that of a test that passes is not', async context => {
  const location = {
    physicalLocation: {
      artifactLocation: { uri: 'my%20dir/a.ts' },
      region: { startLine: 3, startColumn: 5 },
    },
  };
  const results = [{ ruleId: 'r', level: 'warning', message: { text: 'no' }, locations: [location] }];
  const sarif = { version: '2.1.0', runs: [{ tool: { driver: { name: 'lint' } }, results }] };
  assert.deepEqual(await problems(context, JSON.stringify(sarif)), ['my dir/a.ts:3 no']);
  const junit =
    '<testsuite><testcase name="one" file="t/ATest.php" line="7"/>' +
    '<testcase name="two" file="t/ATest.php" line="12"><failure message="1 is not 2"/></testcase></testsuite>';
  assert.deepEqual(await problems(context, junit), ['t/ATest.php:12 1 is not 2']);
});
