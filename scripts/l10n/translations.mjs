/** Compares the translations with the English texts. */
import * as fs from 'node:fs';
import { inRepo } from '../lib/paths.mjs';

/** The languages, as VS Code names them. */
export const LANGUAGES = ['de', 'zh-cn'];

/** The text that each bundle translates with its own language: `countText` chooses plural forms by it. */
const LANGUAGE_KEY = 'en';

/**
 * @typedef {Readonly<Record<string, string>>} Texts
 * @typedef {object} AllTexts
 * @property {Texts} bundle the English texts of the code
 * @property {Texts} manifest the English texts of package.json
 * @property {Readonly<Record<string, { readonly bundle: Texts, readonly manifest: Texts }>>} translations by language
 */

/** @returns {AllTexts} */
export function readTexts() {
  const read = (...file) => JSON.parse(fs.readFileSync(inRepo(...file), 'utf8'));
  const translation = language => ({
    bundle: read('l10n', `bundle.l10n.${language}.json`),
    manifest: read(`package.nls.${language}.json`),
  });
  return {
    bundle: read('l10n', 'bundle.l10n.json'),
    manifest: read('package.nls.json'),
    translations: Object.fromEntries(LANGUAGES.map(language => [language, translation(language)])),
  };
}

/**
 * The faults of the translations, a line each.
 * @param {AllTexts} texts
 * @returns {string[]}
 */
export function translationFaults({ bundle, manifest, translations }) {
  return Object.entries(translations).flatMap(([language, translated]) => [
    ...faultsOf(`bundle.l10n.${language}.json`, bundle, translated.bundle, language),
    ...faultsOf(`package.nls.${language}.json`, manifest, translated.manifest, language),
  ]);
}

function faultsOf(file, texts, translated, language) {
  const gone = Object.keys(translated).filter(key => !(key in texts));
  return [
    ...Object.entries(texts).flatMap(([key, text]) =>
      translated[key]?.trim()
        ? textFaults(key, text, translated[key], language).map(fault => [key, fault])
        : [[key, 'has no translation']],
    ),
    ...gone.map(key => [key, 'is the translation of a text that is gone']),
  ].map(([key, fault]) => `${file}: ${JSON.stringify(key)} ${fault}`);
}

function textFaults(key, text, translation, language) {
  if (key !== LANGUAGE_KEY)
    return [...formFaults(text, translation, language), ...markFaults(text, translation)];
  return translation === language ? [] : [`is "${translation}", and must be "${language}"`];
}

/** A text with a form for each plural category needs one for each of the other language. */
function formFaults(text, translation, language) {
  const wanted = text.includes('|')
    ? new Intl.PluralRules(language).resolvedOptions().pluralCategories.length
    : 1;
  const forms = translation.split('|').length;
  return forms === wanted ? [] : [`has ${forms} plural forms, and needs ${wanted}`];
}

/** The parts of a text beside its words: placeholders, icons, code, links, arguments of commands. */
const MARKS = /\{\d+\}|\$\([\w~-]+\)|`[^`]*`|\]\([^)]*\)|<[^<>]+>|\*\*\/\w+\*\*|#[\w.]+#|\n/g;

function markFaults(text, translation) {
  // The first of several forms may say the count in words.
  const last = text.split('|').at(-1) ?? '';
  return translation.split('|').flatMap((form, i, forms) => {
    const isCount = mark => mark === '{0}' && i < forms.length - 1;
    const wanted = marksOf(last).filter(mark => !isCount(mark));
    const found = marksOf(form).filter(mark => !isCount(mark));
    return wanted.join() === found.join() ? [] : [`has ${list(found)}, and needs ${list(wanted)}`];
  });
}

function marksOf(text) {
  return (text.match(MARKS) ?? []).toSorted();
}

function list(marks) {
  return marks.length === 0 ? 'no marks' : marks.map(mark => JSON.stringify(mark)).join(' ');
}
