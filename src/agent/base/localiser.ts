/** The part of `vscode.l10n` that sentences need, so that the core and tests do without VS Code. */
export interface Localiser {
  /** The text in the user's language, with `args` for its placeholders `{0}`, `{1}`, … */
  t(message: string, ...args: string[]): string;
}

/** A sentence that is said in the language of whoever reads it. */
export type Sentence = (l10n: Localiser) => string;

/** For the log, and wherever no other one is given. */
export const english: Localiser = { t: fill };

/** Fills `values` into the placeholders `{0}`, `{1}`, … of a text. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index: string) => String(values[Number(index)] ?? place));
}
