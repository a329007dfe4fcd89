import { safeName } from './safeName.ts';

/**
 * A count with its English noun: "1 file", "2 files". For texts for the model and the log; texts for people are localised as whole
 * sentences.
 * @param many the plural, if it is not `one` with an s.
 */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The most names that a text for the model lists. */
const MOST = 20;

/**
 * Names for a text for the model, as `safeName` shows them: `a, b and 3 more`. The model can ask for more; thousands would fill its
 * context.
 */
export function listed(names: readonly string[]): string {
  const shown = names
    .slice(0, MOST)
    .map(name => safeName(name))
    .join(', ');
  return names.length > MOST ? `${shown} and ${names.length - MOST} more` : shown;
}

let collator: Intl.Collator | undefined;

/** The order in which people read names: `part2.ts` before `part10.ts`. Only equal names are equal. */
export function naturally(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/**
 * A foreign text, such as a program's output, between fences that it cannot end. The system prompt declares fenced text to be data,
 * so none of it passes for the user or for Redline.
 */
export function fenced(text: string, language = ''): string {
  const fence = fenceFor(text);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** A Markdown fence that is longer than any in the text, so that the text cannot end it. */
export function fenceFor(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}
