import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withHome } from '../../../scripts/packaging/homeOfPackage.mjs';
import { read } from '../../support/docs/pages.ts';

const manifest = JSON.parse(read('package.json')) as Record<string, unknown>;

test('package.json names no address; a repository that publishes gives it all of them', () => {
  for (const name of ['repository', 'homepage', 'bugs']) assert.equal(manifest[name], undefined);
  const home = withHome(manifest, 'https://github.com/owner/name');
  assert.equal(home.homepage, 'https://github.com/owner/name#readme');
  assert.equal(home.bugs.url, 'https://github.com/owner/name/issues');
  assert.equal(home.repository.url, 'https://github.com/owner/name.git');
});

test('the badge is that of the workflow that tests, on github.com, whose badges vsce takes', () => {
  assert.equal(manifest['badges'], undefined);
  const { badges } = withHome(manifest, 'https://github.com/owner/name');
  const workflow = 'https://github.com/owner/name/actions/workflows/ci.yml';
  assert.deepEqual(badges, [{ url: `${workflow}/badge.svg`, href: workflow, description: 'Tests' }]);
  assert.match(read('.github/workflows/ci.yml'), /^name: ci$/m);
  assert.equal(withHome(manifest, 'https://git.example.org/owner/name').badges, undefined);
});

for (const address of [
  '',
  '/',
  'https://github.com/owner',
  'git@github.com:owner/name',
  'https://github.com/a/b?c',
])
  test(`“${address}” is no address of a repository`, () => {
    assert.throws(() => withHome(manifest, address), /is no address of a repository/);
  });
