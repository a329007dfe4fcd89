import { beginningOf } from '../../agent/base/cutText.ts';
import { redact } from '../../agent/session/model/openai/failure.ts';

/** What a text for strangers must not contain. */
export interface Private {
  /** Keys and the like. */
  readonly secrets: readonly string[];
  /** Folders of this machine, and what is written instead. */
  readonly folders: readonly (readonly [folder: string, name: string])[];
}

/** The most characters of one error. */
const MAX_ERROR = 2_000;

/** Forms by which keys of well-known services are recognized. */
const KEYS = /\b(?:sk|pk|rk|gh[opsu]|github_pat|glpat|hf|gsk|xox[abps]|AIza|AKIA|eyJ)[-_.\w]{12,}/g;

/** The text without secrets, credentials in addresses, and folders that tell who the user is. */
export function redacted(text: string, { secrets, folders }: Private): string {
  const longestFirst = folders.toSorted(([a], [b]) => b.length - a.length);
  return longestFirst
    .flatMap(([folder, name]) => [[folder, name] as const, [folder.replaceAll('\\', '/'), name] as const])
    .reduce((result, [folder, name]) => redact(result, [folder], name), redact(text, secrets))
    .replace(/(?<![\w.-])(?:[A-Za-z]:)?([\\/]{1,4})(?:Users|home)\1[^\\/\s:"'`]+/gi, '~')
    .replace(/\b([a-z][\w+.-]*:\/\/)[^\s/@"'`]+@/gi, '$1')
    .replace(/(\bhttps?:\/\/[^\s?"'`]*\?)[^\s"'`]+/gi, '$1***')
    .replace(/\b(Bearer|Basic)\s+[^\s"'`,;]+/gi, '$1 ***')
    .replace(KEYS, '***');
}

/** A line of a list for each error, cut once it holds nothing private: of half a key, no one knows that it is one. */
export function errorLines(errors: readonly string[], hidden: Private): readonly string[] {
  return errors.map(error => `- ${beginningOf(redacted(error, hidden), MAX_ERROR).replaceAll('\n', '\n  ')}`);
}
