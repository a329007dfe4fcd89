import * as l10n from '@vscode/l10n';
import { escapeInvisible, escapeProse, oneLine } from '../agent/base/foreignText.ts';
import { jsonSafe } from '../agent/base/json.ts';
import { countText } from '../agent/base/localiser.ts';

export { escapeInvisible, escapeProse, oneLine };

/** {@link countText} in the user's language: `plural(l10n.t('1 file|{0} files'), 3)`. */
export function plural(forms: string, count: number, ...more: readonly (string | number)[]): string {
  return countText(forms, l10n)(count, ...more);
}

/** {@link oneLine} for places where VS Code shows `$(name)` as an icon. */
export function withoutIcons(text: string, max?: number): string {
  return oneLine(text, max).replaceAll('$(', '$ (');
}

/** Text for a notification, on one line. VS Code would turn `[text](command:…)` in it into a link that runs the command. */
export function inToast(text: string): string {
  return escapeInvisible(text.replace(/[\r\n]+/g, ' ')).replace(/\](?=\()/g, '] ');
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

/** The most names that a sentence lists. */
export const MAX_NAMES = 5;

/**
 * Names for a sentence that a person reads: switching a branch can make thousands of files stale.
 * @param leftOut how many more there are
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
