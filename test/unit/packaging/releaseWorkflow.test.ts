import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { askedTargets } from '../../../scripts/packaging/targets.mjs';

const workflow = fs.readFileSync('.github/workflows/release.yml', 'utf8');
const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  [name: string]: unknown;
};

test('the release workflow calls commands that there are, and builds every target', () => {
  const called = [...workflow.matchAll(/npm run (\S+)(?: -- (.*))?/g)];
  assert.equal(called.length, 1);
  for (const [, name = '', args = ''] of called) {
    assert.ok(name in manifest.scripts, name);
    assert.deepEqual(askedTargets(args.split(' ')), askedTargets(['--target=all']));
  }
});

test('package.json names no address; the release workflow gives it those of its repository, and the badge of the tests', () => {
  for (const name of ['repository', 'homepage', 'bugs', 'badges']) {
    assert.equal(manifest[name], undefined);
    assert.match(workflow, new RegExp(`npm pkg set [^]*\\b${name}\\b`));
  }
  assert.match(workflow, /tests="\$home\/actions\/workflows\/ci\.yml"/);
  assert.match(fs.readFileSync('.github/workflows/ci.yml', 'utf8'), /^name: ci$/m);
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
