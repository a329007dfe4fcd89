import { beginningOf } from './cutText.ts';
import { replaceInName } from './foreignText.ts';

/** Marks of Redline in texts for a model: reminders, and fences around foreign text. */
const MARKS = /<(?=\/?\s*(?:system-reminder|output)\b)|`{3,}/gi;

/** The most characters of a name that a model is told. */
const MAX_NAME_CHARS = 1_000;

/**
 * Quotes an untrusted name so that it cannot read as instructions. A plain name stays as it is. One with line breaks, controls,
 * invisible characters or marks of Redline's own becomes a JSON string with escapes for these, on one line: two names never look
 * alike, and {@link quotedName} finds the name again. Longer ones are cut, and end with a hash of the whole.
 * @param max in UTF-16 units
 */
export function safeName(name: string, max = MAX_NAME_CHARS): string {
  const isPlain = name.trim() === name && !name.startsWith('"') && safeText(name, max) === name;
  return isPlain ? name : quoted(name, max);
}

/** {@link safeName} for a foreign sentence, such as a reason or an error, which may begin with a quote. */
export function safeText(text: string, max = MAX_NAME_CHARS): string {
  const isPlain =
    text !== '' && text.length <= max && replaceInName(text, () => '') === text && text.search(MARKS) < 0;
  return isPlain ? text : quoted(text, max);
}

/** {@link safeName}, but always a JSON string: for names that stand in a sentence, and texts that are quoted. */
export function quoted(text: string, max = MAX_NAME_CHARS): string {
  const shown = text.length <= max ? text : `${beginningOf(text, max)}…#${hashOf(text)}`;
  return replaceInName(JSON.stringify(shown), unitEscapes).replace(MARKS, unitEscapes);
}

/** The name that {@link safeName} has shown in quotes; `undefined` if it never shows this. */
export function quotedName(shown: string): string | undefined {
  if (!shown.startsWith('"')) return undefined;
  try {
    const name: unknown = JSON.parse(shown);
    return typeof name === 'string' && safeName(name) === shown ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path may be used: it is well-formed, and has no control characters, line ends or marks of Redline's own. */
export function isUsableName(name: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(name) && name.isWellFormed() && name.search(MARKS) < 0;
}

/** `\u202e` for each UTF-16 unit, as JSON has it. */
function unitEscapes(chars: string): string {
  return chars.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A hash (FNV-1a) that tells names with the same beginning apart. It runs in the chat's page, too, which has no `node:crypto`. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The most paths that are named. */
const MAX_NAMED = 5;

/** The first few paths, as text for a model. */
export function named(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? `, and ${paths.length - MAX_NAMED} more` : '';
  return (
    paths
      .toSorted()
      .slice(0, MAX_NAMED)
      .map(each => safeName(each))
      .join(', ') + more
  );
}
