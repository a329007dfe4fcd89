import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { bundleFile, exportBundle, localisedSources } from '../../../scripts/l10n/exportBundle.mjs';
import { readTexts, translationFaults, type AllTexts } from '../../../scripts/l10n/translations.mjs';
import { TempFolder } from '../../support/tempFolder.ts';

type Texts = Readonly<Record<string, string>>;

/** Texts of the code with their German. */
const inGerman = (english: readonly string[], german: Texts): AllTexts => ({
  bundle: Object.fromEntries(english.map(text => [text, text])),
  manifest: {},
  translations: { de: { bundle: german, manifest: {} } },
});

test('every text of the code and of the manifest is there in each language, with the same marks', () => {
  const texts = readTexts();
  assert.deepEqual(translationFaults(texts), []);
  assert.deepEqual(Object.keys(texts.translations), ['de', 'zh-cn']);
});

test('l10n/bundle.l10n.json is what the export makes of the sources', () => {
  assert.equal(fs.readFileSync(bundleFile, 'utf8'), exportBundle(), 'run `npm run l10n`');
});

test('the export takes the texts of localisers that are passed on, and follows the sources', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  const write = (text: string): Promise<string> =>
    folder.file('a.ts', `export const say = (l10n: { t(text: string): string }) => l10n.t('${text}');\n`);
  await write('One');
  assert.deepEqual(JSON.parse(exportBundle(localisedSources(folder.root))), { One: 'One' });
  await write('Another');
  assert.deepEqual(JSON.parse(exportBundle(localisedSources(folder.root))), { Another: 'Another' });
});

test('a text without a translation, an empty one, and one whose text is gone are found', () => {
  assert.deepEqual(translationFaults(inGerman(['Open', 'Close'], { Close: ' ', Shut: 'Zu' })), [
    'bundle.l10n.de.json: "Open" has no translation',
    'bundle.l10n.de.json: "Close" has no translation',
    'bundle.l10n.de.json: "Shut" is the translation of a text that is gone',
  ]);
});

test('other placeholders, icons, code and links than those of the text are found', () => {
  const faults = (text: string, translation: string): string[] =>
    translationFaults(inGerman([text], { [text]: translation }));
  for (const [text, right, wrong] of [
    ['{0} of {1}', '{1}, davon {0}', '{0} von {2}'],
    ['$(check) Applied', '$(check) Angewendet', '$(checks) Angewendet'],
    ['Start `{0}`', '`{0}` starten', '{0} starten'],
    [
      '[Chat](command:redline.chat.focus)',
      '[Chat](command:redline.chat.focus)',
      '[Chat](command:chat.focus)',
    ],
    ['One\nTwo', 'Eins\nZwei', 'Eins Zwei'],
  ] as const) {
    assert.deepEqual(faults(text, right), []);
    assert.equal(faults(text, wrong).length, 1, wrong);
  }
});

test('each language has as many plural forms as it needs, and only the last must have the count', () => {
  const faults = (language: string, translation: string): string[] =>
    translationFaults({
      bundle: { '1 file|{0} files': '1 file|{0} files' },
      manifest: {},
      translations: { [language]: { bundle: { '1 file|{0} files': translation }, manifest: {} } },
    });
  assert.deepEqual(faults('de', 'Eine Datei|{0} Dateien'), []);
  assert.deepEqual(faults('zh-cn', '{0} 个文件'), []);
  assert.match(faults('de', '{0} Dateien').join(), /has 1 plural forms, and needs 2/);
  assert.match(faults('zh-cn', '1 个文件|{0} 个文件').join(), /has 2 plural forms, and needs 1/);
  assert.match(faults('de', 'Eine Datei|Dateien').join(), /has no marks, and needs "\{0\}"/);
});

test('a bundle that says it is in another language is found', () => {
  assert.deepEqual(translationFaults(inGerman(['en'], { en: 'de' })), []);
  assert.equal(translationFaults(inGerman(['en'], { en: 'en' })).length, 1);
});

test('a text of the manifest without a translation, with another link, or gone is found', () => {
  const faults = (manifest: Texts, german: Texts): string[] =>
    translationFaults({ bundle: {}, manifest, translations: { de: { bundle: {}, manifest: german } } });
  assert.deepEqual(faults({ a: 'Set `x`' }, { a: '`x` setzen' }), []);
  assert.deepEqual(
    faults({ a: 'A', b: '[B](command:b)', c: '`c`' }, { b: '[B](command:a)', c: '`c`', d: 'D' }),
    [
      'package.nls.de.json: "a" has no translation',
      'package.nls.de.json: "b" has "](command:a)", and needs "](command:b)"',
      'package.nls.de.json: "d" is the translation of a text that is gone',
    ],
  );
});
