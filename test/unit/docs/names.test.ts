import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandTitles, faultsOfNames, manifest, paletteCommands, settings, unknownLabels } from './names.ts';
import { documentPages, parsePage, read } from '../../support/docs/pages.ts';

test('every setting, command, key and npm script that a page names exists', () => {
  assert.deepEqual(documentPages().flatMap(faultsOfNames), []);
});

test('every label in italics on a page for users is a text of the extension', () => {
  const pages = documentPages().filter(({ path }) => path === 'README.md' || /^docs\/[^/]+\.md$/.test(path));
  assert.deepEqual(
    pages.flatMap(page => unknownLabels(page)),
    [],
  );
});

test('docs/settings.md names every setting, every command of the palette, and its keys', () => {
  const page = read('docs/settings.md');
  const missing = [
    ...Object.keys(settings).filter(name => !page.includes(`### \`${name}\`\n`)),
    ...paletteCommands.filter(id => !page.includes(`| ${commandTitles.get(id)} | \`${id}\` |`)),
  ];
  assert.deepEqual(missing, []);
  for (const { command, key } of manifest.contributes.keybindings) {
    const row = page.split('\n').find(line => line.includes(`\`${command}\``)) ?? '';
    assert.ok(row.toLowerCase().includes(key), `${command}: ${key}`);
  }
});

/** Prose with a fault, and what is said of it. */
const FAULTS: readonly (readonly [string, RegExp])[] = [
  ['Set `redline.gone.away`.', /there is no setting, command or view redline\.gone\.away/],
  ['`"redline.preview.opens": 1`', /redline\.preview\.opens/],
  ['**Redline: Do Nothing**', /the palette has no command “Redline: Do Nothing”/],
  ['“Redline: Do Nothing”', /the palette has no command “Redline: Do Nothing”/],
  ['*Redline: Settle Conflict*', /the palette has no command “Redline: Settle Conflict”/],
  ['Press Ctrl+Shift+Q.', /there is no key Ctrl\+Shift\+Q/],
  ['Press Alt+F9.', /there is no key Alt\+F9/],
  ['Press F9.', /there is no key F9/],
  ['`npm run everything`', /there is no npm script everything/],
  ['`/aply p1`', /there is no slash command \/aply/],
];
for (const [prose, expected] of FAULTS)
  test(`a fault is found: ${prose}`, () => {
    const [fault, ...more] = faultsOfNames(parsePage('a.md', `\n${prose}\n`));
    assert.match(fault ?? '', expected);
    assert.match(fault ?? '', /^a\.md:2: /);
    assert.deepEqual(more, []);
  });

test('a label that the extension does not have is found, also over two lines', () => {
  const page = parsePage('a.md', 'Click *Apply All*, *Apply Everything\nAt Once* or *not a label*.');
  assert.deepEqual(unknownLabels(page, 'Apply All'), [
    'a.md:1: no text of the extension is “Apply Everything At Once”',
  ]);
});

test('what is right is no fault', () => {
  const prose =
    '*Redline: Select\nModel…*, `redline.provider`, `redline.preview.apply`, Ctrl+K Ctrl+Backspace, F5';
  assert.deepEqual(faultsOfNames(parsePage('a.md', prose)), []);
});
