import { fill, type Localiser } from './localiser.ts';

/** The plural categories of all languages, in the order in which a text has its forms. */
const CATEGORIES: readonly Intl.LDMLPluralRule[] = ['zero', 'one', 'two', 'few', 'many', 'other'];

/** Writes a text for a count. The count is `{0}`; `more` fills the other placeholders. */
export type CountText = (count: number, ...more: readonly (string | number)[]) => string;

/**
 * A text that has a form for each plural category of its language.
 * @param forms a localised text, with a bar between its forms: `1 file|{0} files` in English, `{0} 个文件` in Chinese
 */
export function countText(forms: string, l10n: Localiser): CountText {
  const texts = forms.split('|');
  // Each bundle tells its own language: a window in a language without one has the texts and the rules of English.
  const language = l10n.t('en');
  return (count, ...more) => {
    const form = pluralForms(language).indexOf(new Intl.PluralRules(language).select(count));
    return fill(texts[form] ?? texts.at(-1) ?? '', count, ...more);
  };
}

/** The plural categories of a language, in the order of their forms. */
export function pluralForms(language: string): readonly Intl.LDMLPluralRule[] {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  return CATEGORIES.filter(category => pluralCategories.includes(category));
}
