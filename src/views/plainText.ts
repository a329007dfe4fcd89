import * as l10n from '@vscode/l10n';
import { shortened } from '../agent/base/cutText.ts';
import { jsonSafe } from '../agent/base/json.ts';

/** Emoji: keycaps, flags of regions such as Scotland, and others with their modifiers and those that are joined to them. */
const EMOJI =
  /[0-9#*]\uFE0F?\u20E3|\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}|\p{Extended_Pictographic}\p{Emoji_Modifier}?[\uFE0E\uFE0F]?(?:\u200D\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)*/u;

/** A digit that could be an emoji, and joiners between letters whose form depends on them. */
const OF_PROSE =
  /[0-9#*][\uFE0E\uFE0F]|(?<=[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}])[\u200C\u200D](?=[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}])/u;

/**
 * Characters that cannot be seen: controls except line breaks and tabs, those that change the direction of text, those without
 * a width or any ink, and halves of surrogate pairs.
 */
const UNSEEN =
  /(?<unseen>(?![\t\n\r])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB])/u;

/** What may stay is matched first, as a whole, since such characters belong in it. */
const IN_NAMES = new RegExp(`${EMOJI.source}|${UNSEEN.source}`, 'gu');
const IN_PROSE = new RegExp(`${EMOJI.source}|${OF_PROSE.source}|${UNSEEN.source}`, 'gu');

/**
 * Foreign text as a person may read it: what cannot be seen is an escape such as `\u{202e}`, so that no name looks like
 * another one, unless it contains escapes itself. Emoji stay, as text or as pictures. Every path and label that is shown goes
 * through this function, mostly by way of the others here.
 */
export function escapeInvisible(text: string): string {
  return escapeFound(text, IN_NAMES);
}

/**
 * {@link escapeInvisible} for reasons, outputs and other texts that name nothing: joiners stay between letters that they change, as
 * Persian and Hindi need them.
 */
export function escapeProse(text: string): string {
  return escapeFound(text, IN_PROSE);
}

function escapeFound(text: string, pattern: RegExp): string {
  return text.replace(pattern, (found, unseen?: string) =>
    unseen === undefined ? found : `\\u{${(unseen.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** White space, without what {@link escapeInvisible} shows. */
const SPACES = /[^\S\uFEFF\u2028\u2029]+/g;

/** How many characters of foreign text a label shows at most. */
const MAX_CHARS = 200;

/** Foreign text (labels, reasons, errors) on one line, shortened to `max` characters. */
export function oneLine(text: string, max = MAX_CHARS): string {
  return shortened(escapeInvisible(text.replace(SPACES, ' ')).trim(), max);
}

/** {@link oneLine} for places where VS Code shows `$(name)` as an icon. */
export function withoutIcons(text: string, max?: number): string {
  return oneLine(text, max).replaceAll('$(', '$ (');
}

/** Text for a notification, where VS Code would turn `[text](command:…)` into a link that runs the command. */
export function inToast(text: string): string {
  return escapeInvisible(text).replace(/\](?=\()/g, '] ');
}

/** {@link oneLine} escaped for markdown, so that it shows as plain characters: no emphasis, links, HTML or icons. */
export function asMarkdown(text: string, max?: number): string {
  return withoutIcons(text, max)
    .replace(/[\\`*_{}[\]()#+\-.!~|$]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** An agent of another program, as the user reads it: `Claude Code 2.1.0`. */
export function agentLabel({ name, version }: { readonly name: string; readonly version: string }): string {
  return oneLine(`${name} ${version}`.trim());
}

/** The ids of previews that are applied together; three or more consecutive ones as one range: `p1, p3–p5`. */
export function idList(previews: readonly { readonly id: string }[]): string {
  const runs: [first: number, last: number][] = [];
  for (const { id } of previews) {
    const number = Number(id.slice(1));
    const run = runs.at(-1);
    if (run && number === run[1] + 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs
    .map(([first, last]) => {
      if (first === last) return `p${first}`;
      return last - first > 1 ? `p${first}–p${last}` : `p${first}, p${last}`;
    })
    .join(', ');
}

/** The most names that a sentence lists. */
export const MAX_NAMES = 5;

/**
 * Names for a sentence that a person reads: a branch that is switched can make thousands of files stale.
 * @param leftOut how many there are beside these
 */
export function shortList(names: readonly string[], leftOut = 0): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const more = leftOut + Math.max(0, names.length - MAX_NAMES);
  return more > 0 ? l10n.t('{0} and {1} more', shown, more) : shown;
}

/**
 * The details of a preview as text: a string as it is, anything else as JSON, and with {@link escapeProse}. `undefined` if there are none, and for a plan,
 * whose details are shown as a document.
 */
export function detailsText(
  { details, kind }: { readonly details?: unknown; readonly kind: string },
  indent?: number,
): string | undefined {
  if (details === undefined || kind === 'plan') return undefined;
  if (typeof details === 'string') return escapeProse(details);
  // In logs of older versions, details may be nested to any depth.
  const safe = jsonSafe(details);
  return escapeProse(typeof safe === 'string' ? safe : JSON.stringify(safe, null, indent));
}
