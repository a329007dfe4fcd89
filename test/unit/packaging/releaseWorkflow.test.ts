import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { askedTargets } from '../../../scripts/packaging/targets.mjs';

const workflow = fs.readFileSync('.github/workflows/release.yml', 'utf8');
const commands = (JSON.parse(fs.readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> })
  .scripts;

test('the release workflow calls commands that there are, and builds every target', () => {
  const called = [...workflow.matchAll(/npm run (\S+)(?: -- (.*))?/g)];
  assert.equal(called.length, 1);
  for (const [, name = '', args = ''] of called) {
    assert.ok(name in commands, name);
    assert.deepEqual(askedTargets(args.split(' ')), askedTargets(['--target=all']));
  }
});

test('the release workflow publishes to a marketplace only with its secret, which no condition reads', () => {
  const secrets = [...workflow.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name);
  assert.deepEqual(secrets, ['VSCE_PAT', 'OVSX_PAT']);
  for (const [line] of workflow.matchAll(/^\s*(?:- )?if:.*$/gm)) assert.doesNotMatch(line, /secrets\./);
  const steps = workflow.split(/^ {6}- /m).filter(step => /\bpublish --/.test(step));
  assert.equal(steps.length, 2);
  for (const [index, step] of steps.entries())
    assert.match(step, new RegExp(`if \\[ -z "\\$${secrets[index]}" \\]; then .*exit 0; fi\\n.* publish --`));
});
