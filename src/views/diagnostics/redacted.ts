import { beginningOf } from '../../agent/base/cutText.ts';
import { redact } from '../../agent/session/model/openai/failure.ts';

/** Data that must not appear in a text for strangers. */
export interface Private {
  /** Keys and the like. */
  readonly secrets: readonly string[];
  /** Folders of this machine, with their replacements. */
  readonly folders: readonly (readonly [folder: string, name: string])[];
}

/** The most characters of one error. */
const MAX_ERROR = 2_000;

/** Forms by which keys of well-known services are recognized, a private key as a whole. */
const KEYS = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|hf|gsk|npm|xai|xox[abeprs]|xapp|pypi|dop_v1|AIza|eyJ|ya29|SG|r8|nvapi|tvly)[-_.\w]{12,}`,
    String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{12,}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
  ].join('|'),
  'g',
);

/** Values assigned to a name that suggests a secret, in an environment, an option or JSON. */
const ASSIGNED =
  /((?:api[-_]?key|access[-_]?key|secret|token|passw(?:or)?d|passphrase|credentials?|auth)["']?(?:[=:] ?| (?=\w)(?<=--[-\w]{1,40} )))(?:"[^"]*"|'[^']*'|[^\s"',;&]+)/gi;

/** The text without secrets, credentials in addresses, and folders that reveal the user's identity. */
export function redacted(text: string, { secrets, folders }: Private): string {
  const longestFirst = folders.toSorted(([a], [b]) => b.length - a.length);
  return longestFirst
    .flatMap(([folder, name]) => [[folder, name] as const, [folder.replaceAll('\\', '/'), name] as const])
    .reduce((result, [folder, name]) => redact(result, [folder], name), redact(text, secrets))
    .replace(/(?<![\w.-])(?:[A-Za-z]:)?([\\/]{1,4})(?:Users|home)\1[^\\/\s:"'`]+/gi, '~')
    .replace(/\b([a-z][\w+.-]*:\/\/)[^\s/@"'`]+@/gi, '$1')
    .replace(/(\bhttps?:\/\/[^\s?"'`]*\?)[^\s"'`]+/gi, '$1***')
    .replace(/\b(Bearer|Basic)\s+[^\s"'`,;]+/gi, '$1 ***')
    .replace(KEYS, '***')
    .replace(ASSIGNED, '$1***');
}

/** The value of a setting. For objects, such as checks with their commands, only their number is given. */
export function settingText(value: unknown): string {
  const isOfObjects = Array.isArray(value) && value.some(each => typeof each === 'object');
  return isOfObjects ? `${value.length} entries` : JSON.stringify(value);
}

/** A list line for each error, cut only after redaction: half a key cannot be recognized as one. */
export function errorLines(errors: readonly string[], hidden: Private): readonly string[] {
  return errors.map(error => `- ${beginningOf(redacted(error, hidden), MAX_ERROR).replaceAll('\n', '\n  ')}`);
}
