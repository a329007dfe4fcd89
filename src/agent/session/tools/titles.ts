import * as z from 'zod/mini';
import { shortLine } from '../../base/cutText.ts';
import { countText, type Sentence } from '../../base/localiser.ts';
import type { PendingAction } from '../../hold/preview/pendingAction.ts';
import { lineAt } from '../../hold/text/lines.ts';
import type { TextEdit } from '../../hold/text/textEdit.ts';

/** The longest reason, in characters. */
const MAX_REASON = 300;
/** The longest title, in characters. */
const MAX_TITLE = 80;
/** The most characters of each side of a replacement. */
const MAX_SIDE = 40;

/** The argument with which the model names its change itself. */
export const titleSchema = z.optional(z.string().check(z.describe('For the user, in ten words at most.')));

/** The argument with which the model says why, for changes whose diff does not show it. */
export const reasonSchema = z.optional(z.string().check(z.describe('Why, for the user, in one sentence.')));

/** The reason as the details of a preview, which its card and its row show. */
export function reasoned(given: string | undefined): Pick<PendingAction, 'details'> {
  const details = shortLine(given ?? '', MAX_REASON);
  return details === '' ? {} : { details };
}

/** The titles of a change: for the user, and that of the model if it gave one. */
export interface Titles {
  readonly title: string | Sentence;
  readonly modelTitle?: string;
}

/** The title that the model gave, on one line, by which it then knows the preview; else the derived one. */
export function titled(given: string | undefined, derived: string | Sentence): Titles {
  const modelTitle = givenTitle(given);
  return modelTitle === undefined ? { title: derived } : { title: modelTitle, modelTitle };
}

/** The title that the model gave, on one line; `undefined` if it gave none. */
export function givenTitle(given = ''): string | undefined {
  return shortLine(given, MAX_TITLE) || undefined;
}

/**
 * The title of a change of one file: its only edit, if that is within one line (`cart.ts:11 total → sum`); else the path of the
 * edited file.
 */
export function editTitle(path: string, text: string, edits: readonly TextEdit[]): string | Sentence {
  const [edit, ...others] = edits;
  const change = edit && others.length === 0 ? changeInLine(text, edit) : undefined;
  return change === undefined
    ? l10n => l10n.t('Edit {0}', path)
    : `${path.split('/').at(-1) ?? path}:${change}`;
}

/** The line of an edit, and the words that it changes with their replacement; `undefined` if they are on several lines. */
function changeInLine(text: string, edit: TextEdit): string | undefined {
  const old = tokens(text.slice(edit.start, edit.end));
  const now = tokens(edit.text);
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - same && old.at(-1 - end) === now.at(-1 - end)) end++;
  const start = edit.start + old.slice(0, same).join('').length;
  const [from, to] = withNeighbour(old, now, same, end);
  const change = arrow(old.slice(from, old.length - to).join(''), now.slice(from, now.length - to).join(''));
  const line = lineAt(text, start);
  return change && `${line} ${change}`;
}

/**
 * How many tokens before and after a change are left out. A pure insertion or removal is shown with the word that it follows, or
 * else precedes: `price → price * quantity` says more than `+ * quantity`.
 */
function withNeighbour(
  old: readonly string[],
  now: readonly string[],
  same: number,
  end: number,
): readonly [before: number, after: number] {
  const isEmpty = (all: readonly string[]): boolean =>
    all
      .slice(same, all.length - end)
      .join('')
      .trim() === '';
  if (isEmpty(old) === isEmpty(now)) return [same, end];
  const isWord = (token: string | undefined): boolean => token !== undefined && /[\p{L}\p{N}_]/u.test(token);
  for (let at = same - 1; at >= 0 && !/[\r\n]/.test(old[at] ?? ''); at--)
    if (isWord(old[at])) return [at, end];
  for (let at = end - 1; at >= 0 && !/[\r\n]/.test(old.at(-1 - at) ?? ''); at--)
    if (isWord(old.at(-1 - at))) return [same, at];
  return [same, end];
}

/** The title of structural replacements: `console.warn($A) → logger.warn($A)`, with an ellipsis for further ones. */
export function replacementTitle(
  ops: readonly { readonly pat: string; readonly out: string }[],
): string | Sentence {
  const [op, ...others] = ops;
  const change = op && arrow(op.pat, op.out);
  if (change === undefined) return l10n => l10n.t('Structural replacement');
  return others.length === 0 ? change : `${change}, …`;
}

/** The titles, with the number of files that the change leaves with new syntax errors, if there are any, for the user. */
export function withBrokenFiles(titles: Titles, files: number): Titles {
  if (files === 0) return titles;
  const { title } = titles;
  return {
    ...titles,
    title: l10n => {
      const forms = l10n.t('1 file no longer parses|{0} files no longer parse');
      return `${typeof title === 'function' ? title(l10n) : title} · ${countText(forms, l10n)(files)}`;
    },
  };
}

/** The text for a title; `undefined` if it has several lines or only space. */
function arrow(old: string, now: string): string | undefined {
  if (/[\r\n]/.test(old + now)) return undefined;
  const [before, after] = [shortLine(old, MAX_SIDE), shortLine(now, MAX_SIDE)];
  if (before === '') return after === '' ? undefined : `+ ${after}`;
  return after === '' ? `− ${before}` : `${before} → ${after}`;
}

function tokens(text: string): readonly string[] {
  return text.match(/\d+(?:\.\d+)+|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}
