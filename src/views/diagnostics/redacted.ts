import { beginningOf } from '../../agent/base/cutText.ts';
import { isRecord } from '../../agent/base/json.ts';
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
    String.raw`\b(?:[spr]k|gh[oprsu]|github_pat|gl[a-z]{2,5}(?=-)|hf|gsk|npm|xai|xox[abeprs]|xapp|pypi|do[opr]_v1|AIza|eyJ|ya29|GOCSPX|SG|r8|nvapi|tvly|pplx|csk(?=-)|shp[a-z]{2}(?=_)|whsec|lin_api|ATATT3x|dckr_pat|dapi(?=[\da-f])|hv[bs](?=\.)|(?:sbp|nfp|ntn)(?=_)|PMAK|rubygems|AGE-SECRET-KEY)[-_.\w]{12,}`,
    String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{12,}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`,
    String.raw`\b(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks)/[-\w/]+`,
  ].join('|'),
  'g',
);

/** Values assigned to a name that suggests a secret, in an environment, an option, a header or JSON. */
const ASSIGNED =
  /((?:(?:api|access|account|private|signing)[-_]?key|secret|token|passw(?:or)?d|passphrase|credentials?|auth)["']?(?: ?[=:] ?| (?=\w)(?<=--[-\w]{1,40} )))(?:"[^"]*"|'[^']*'|[^\s"',;&]+)/gi;
const HEADER = /(\bauthorization["']? ?: ?["']?(?:\w{1,20} )?)[^\s"',;]+/gi;
/** A user and a password passed to curl. */
const OF_USER = /(\s(?:-u|--user)[ =]["']?[^\s:"']{1,80}:)[^\s"']+/g;
/** A variable of the environment, with a name of several words. */
const VARIABLE = /\b([A-Z][A-Z0-9_]{0,80})=(?:"[^"]*"|'[^']*'|[^\s"',;&]+)/g;
const SECRET_WORD = /(?:^|_)(?:KEY|SECRET|TOKEN|PASS|PWD|PAT|AUTH|DSN)(?:_|$)/;

/** The text without secrets, credentials in addresses, and folders that reveal the user's identity. */
export function redacted(text: string, { secrets, folders }: Private): string {
  const longestFirst = folders.toSorted(([a], [b]) => b.length - a.length);
  return longestFirst
    .flatMap(([folder, name]) => [[folder, name] as const, [folder.replaceAll('\\', '/'), name] as const])
    .reduce((result, [folder, name]) => redact(result, [folder], name), redact(text, secrets))
    .replace(/(?<![\w.-])(?:[A-Za-z]:)?([\\/]{1,4})(?:Users|home)\1[^\\/\s:"'`]+/gi, '~')
    .replace(/\b([a-z][\w+.-]{0,30}:\/\/)[^\s/@"'`]+@/gi, '$1')
    .replace(/(\bhttps?:\/\/[^\s?"'`]*\?)[^\s"'`]+/gi, '$1***')
    .replace(/\b(Bearer|Basic)\s+[^\s"'`,;]+/gi, '$1 ***')
    .replace(KEYS, '***')
    .replace(ASSIGNED, '$1***')
    .replace(HEADER, '$1***')
    .replace(OF_USER, '$1***')
    .replace(VARIABLE, (whole, name: string) => (SECRET_WORD.test(name) ? `${name}=***` : whole));
}

/**
 * The value of a setting. For objects, such as checks with their commands, only their number is given.
 * @param isPrivate gives only the number for any value: settings.json may hold anything
 */
export function settingText(value: unknown, isPrivate = false): string {
  const values = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  const isHidden = isPrivate || isRecord(value) || values.some(each => typeof each === 'object');
  return isHidden ? `${values.length} entries` : JSON.stringify(value);
}

/** A list line for each error, cut only after redaction: half a key cannot be recognized as one. */
export function errorLines(errors: readonly string[], hidden: Private): readonly string[] {
  return errors.map(error => `- ${beginningOf(redacted(error, hidden), MAX_ERROR).replaceAll('\n', '\n  ')}`);
}
