import { beginningOf, shortened } from '../base/cutText.ts';
import { english, type Localiser } from '../base/localiser.ts';
import type { AgentName } from '../hold/preview/preview.ts';

/** The longest name and version that are kept, in characters. */
const MAX_CHARS = 60;

/** Letters of other scripts, with the Latin letters that they look like. */
const LOOKALIKES = new Map(
  [...'аеіјорсухѕһԁԛԝαιορυνκ'].map((letter, at) => [letter, 'aeijopcyxshdqwaiopuvk'.charAt(at)]),
);

/**
 * An agent's name as the agent gives it, which may be anything: bounded, on one line, never empty. One that reads like a name for
 * which Redline vouches, such as that of a branch which the user brought into review, is quoted as an agent's.
 */
export function agentNameOf(
  given: { readonly name?: unknown; readonly version?: unknown } | undefined,
  l10n: Localiser = english,
): AgentName {
  const name = nameIn(given?.name) || 'unnamed agent';
  const isTaken = vouchedFor(l10n).some(own => folded(name).startsWith(own));
  return { name: isTaken ? `agent “${name}”` : name, version: nameIn(given?.version) };
}

/** Beginnings of the names that Redline itself gives, folded, in English and in the user's language. */
function vouchedFor(user: Localiser): readonly string[] {
  const names = [english, user].flatMap(l10n => [
    l10n.t('your uncommitted changes'),
    l10n.t('branch {0}', ''),
    l10n.t('worktree {0}', ''),
    l10n.t('patch {0}', ''),
    l10n.t('patch on the clipboard'),
  ]);
  return ['redline', ...names.map(folded)].filter(name => name !== '');
}

/** A text as a reader recognises it: without case, accents, marks and spaces. */
function folded(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  return Array.from(letters, letter => LOOKALIKES.get(letter) ?? letter).join('');
}

function nameIn(text: unknown): string {
  if (typeof text !== 'string') return '';
  const line = beginningOf(text, 10 * MAX_CHARS).replace(/[\s\p{C}]+/gu, ' ');
  return shortened(line.trim(), MAX_CHARS);
}
