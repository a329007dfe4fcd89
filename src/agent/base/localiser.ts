/** The part of `vscode.l10n` that sentences need, so that the core and tests do without VS Code. */
export interface Localiser {
  /** The text in the user's language, with `args` for its placeholders `{0}`, `{1}`, … */
  t(message: string, ...args: string[]): string;
}

/** A sentence in the reader's language. */
export type Sentence = (l10n: Localiser) => string;

/** The localiser of the log, and the default elsewhere. */
export const english: Localiser = { t: fill };

/** Fills `values` into the placeholders `{0}`, `{1}`, … of a text. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index: string) => String(values[Number(index)] ?? place));
}

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
  // Each bundle names its own language: a window without a bundle has English texts and plural rules.
  const { rules, categories } = pluralsOf(l10n.t('en'));
  return (count, ...more) => {
    const form = categories.indexOf(rules.select(count));
    return fill(texts[form] ?? texts.at(-1) ?? '', count, ...more);
  };
}

interface Plurals {
  readonly rules: Intl.PluralRules;
  readonly categories: readonly Intl.LDMLPluralRule[];
}

/** Cached by language: every row of a list has a count, and creating the rules takes longer than creating the row. */
const known = new Map<string, Plurals>();

function pluralsOf(language: string): Plurals {
  let plurals = known.get(language);
  if (!plurals) {
    const rules = new Intl.PluralRules(language);
    const { pluralCategories } = rules.resolvedOptions();
    plurals = { rules, categories: CATEGORIES.filter(category => pluralCategories.includes(category)) };
    known.set(language, plurals);
  }
  return plurals;
}
