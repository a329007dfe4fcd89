import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedPages, withGenerated } from '../../../scripts/pages/generatedPages.mjs';
import { readFacts } from '../../../scripts/pages/factsOfOthers.mjs';
import { keyName, tablesOf } from '../../../scripts/pages/settingsTables.mjs';
import { read } from '../../support/docs/pages.ts';

for (const [page, makePart] of Object.entries(generatedPages))
  test(`${page} is what \`npm run docs\` writes`, async () => {
    assert.equal(read(page), await withGenerated(read(page), makePart));
  });

test('a page is stale once a part differs; a page without a mark is an error', async () => {
  const page = 'before\n<!-- written by npm run docs -->\n\nold\n\n<!-- end -->\nafter';
  const fresh = await withGenerated(page, async () => 'new $& text\n');
  assert.equal(fresh, 'before\n<!-- written by npm run docs -->\n\nnew $& text\n\n<!-- end -->\nafter');
  assert.notEqual(fresh, page);
  const two =
    '<!-- written by npm run docs: a -->\n<!-- end -->\n<!-- written by npm run docs: b -->\n<!-- end -->';
  assert.equal(
    await withGenerated(two, async name => `${name}\n`),
    '<!-- written by npm run docs: a -->\n\na\n\n<!-- end -->\n<!-- written by npm run docs: b -->\n\nb\n\n<!-- end -->',
  );
  await assert.rejects(
    withGenerated('nothing', async () => 'x'),
    /has no part/,
  );
});

test('what is said of another program has a source and a date, and stands on the page', () => {
  const page = read('docs/comparison.md');
  const today = new Date().toISOString().slice(0, 10);
  for (const { topic, program, claim, evidence, how, date } of readFacts()) {
    assert.ok(page.includes(`written by npm run docs: ${topic} -->`), `${topic} has a part`);
    assert.match(claim, /^[A-Z*].*\.$/, program);
    assert.ok(evidence.length > 0, claim);
    for (const { title, url } of evidence)
      assert.ok(title !== '' && new URL(url).protocol === 'https:', claim);
    assert.ok(['read', 'ran'].includes(how), claim);
    assert.match(date, /^\d{4}-\d\d-\d\d$/);
    assert.ok(date <= today, `${claim} ${date}`);
  }
});

test('the tables have what the manifest has, in its words', () => {
  const contributes = {
    configuration: {
      properties: {
        'a.b': {
          type: 'string',
          scope: 'machine',
          default: 'x',
          enum: ['x'],
          enumDescriptions: ['%x%'],
          markdownDescription: '%s%',
          order: 2,
        },
        'a.c': { type: 'number', default: 1, minimum: 0, maximum: 9, markdownDescription: 'first', order: 1 },
      },
    },
    commands: [
      { command: 'a.shown', title: '%t%' },
      { command: 'a.hidden', title: 'Hidden' },
    ],
    menus: { commandPalette: [{ command: 'a.hidden', when: 'false' }] },
    keybindings: [
      { command: 'a.shown', key: 'ctrl+k ctrl+pagedown', mac: 'cmd+k cmd+pagedown' },
      { command: 'a.shown', key: 'ctrl+k ctrl+pagedown', mac: 'cmd+k cmd+pagedown' },
    ],
  };
  const tables = tablesOf(contributes, { x: 'the x', s: 'What it is. `#a.c#`', t: 'Show' });
  assert.match(
    tables,
    /### `a\.c`[^]*first[^]*Default: `1`, at least 0, at most 9\. Set by: you, or the workspace\.[^]*### `a\.b`/,
  );
  assert.match(
    tables,
    /What it is\. `a\.c`\n\nDefault: `"x"`\. Set by: you, in the user or remote settings of each machine\.\n\n- `x`: the x\n/,
  );
  assert.match(tables, /\| Show \| `a\.shown` \| Ctrl\+K Ctrl\+PageDown \(Mac: Cmd\+K Cmd\+PageDown\) \|/);
  assert.doesNotMatch(tables, /hidden/i);
  assert.throws(() => tablesOf(contributes, {}), /There is no text/);
  assert.equal(keyName('shift+alt+pageup'), 'Shift+Alt+PageUp');
});
