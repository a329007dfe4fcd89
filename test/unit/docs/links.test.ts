import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorsOf, faultsOfLinks, linkCount } from '../../support/docs/links.ts';
import { linkingPages, parsePage } from '../../support/docs/pages.ts';

test('every link leads to a file, a heading or a known host', () => {
  const pages = linkingPages();
  assert.ok(pages.reduce((sum, page) => sum + linkCount(page), 0) > 140);
  assert.deepEqual(pages.flatMap(faultsOfLinks), []);
});

test('every page of docs/ is in its index', () => {
  const pages = linkingPages();
  const index = pages.find(({ path }) => path === 'docs/README.md');
  const missing = pages
    .map(({ path }) => path)
    .filter(path => /^docs\/[^/]+\.md$/.test(path) && path !== index?.path)
    .filter(path => !index?.prose.includes(`(${path.slice('docs/'.length)})`));
  assert.deepEqual(missing, []);
});

/** A link with a fault, and what is said of it. */
const FAULTS: readonly (readonly [string, RegExp])[] = [
  ['[a](gone.md)', /there is no such file/],
  ['[a](../../outside.md)', /leaves the repository/],
  ['[a](#gone)', /there is no such heading/],
  ['[a](models.md#gone)', /there is no such heading/],
  ['[a](../package.json#name)', /only pages have headings/],
  ['![a](images/gone.png)', /there is no such file/],
  ['[a](http://github.com/a)', /is not https/],
  ['[a](https://example.com/a)', /not among the known hosts/],
  ['[a](https://me@github.com/a)', /contains a user/],
  ['<https://example.com>', /not among the known hosts/],
  ['[a]: gone.md', /there is no such file/],
];
for (const [link, expected] of FAULTS)
  test(`a fault is found: ${link}`, () => {
    const [fault] = faultsOfLinks(parsePage('docs/page.md', `# Page\n\n${link}\n`));
    assert.match(fault ?? '', expected);
    assert.match(fault ?? '', /^docs\/page\.md:3: /);
  });

test('what is right is no fault, and code is no link', () => {
  const text = '# A `b`, *c*\n\n[a](models.md) [b](models.md#models-that-vs-code-offers) `[c](gone.md)`\n';
  assert.deepEqual(faultsOfLinks(parsePage('docs/page.md', text)), []);
});

test('anchors are those of GitHub', () => {
  const text = '# Go back\n## `@redline` in VS Code’s own chat\n## Go back\n### What, then? (a_b)\n';
  assert.deepEqual(
    [...anchorsOf(parsePage('a.md', text))],
    ['go-back', 'redline-in-vs-codes-own-chat', 'go-back-1', 'what-then-a_b'],
  );
});
