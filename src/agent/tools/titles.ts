import * as z from 'zod/mini';
import { plural } from '../text/plural.ts';
import type { TextEdit } from '../text/textEdit.ts';

/** The longest title, in characters. */
const MAX_TITLE = 80;
/** The most characters of each side of a replacement. */
const MAX_SIDE = 40;

/** The argument with which the model names its change itself. */
export const titleSchema = z.optional(
  z
    .string()
    .check(z.describe('What the change does, for the user, in at most ten words: "Round totals to cents".')),
);

/** The title that the model gave, on one line; else the derived one. Nothing if there is neither. */
export function titled(given: string | undefined, derived: string | undefined): { readonly title?: string } {
  const title = shortened(given ?? '', MAX_TITLE) || derived;
  return title === undefined ? {} : { title };
}

/**
 * What the only edit of a file does: `cart.ts:11 total → sum`. `undefined` if there are several, or if it is not within one
 * line: then the number of edits says more.
 */
export function editTitle(path: string, text: string, edits: readonly TextEdit[]): string | undefined {
  const [edit, ...others] = edits;
  if (!edit || others.length > 0) return undefined;
  const old = tokens(text.slice(edit.start, edit.end));
  const now = tokens(edit.text);
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - same && old.at(-1 - end) === now.at(-1 - end)) end++;
  const start = edit.start + old.slice(0, same).join('').length;
  const change = arrow(
    old.slice(same, old.length - end).join(''),
    now.slice(same, now.length - end).join(''),
  );
  const line = text.slice(0, start).split('\n').length;
  return change && `${path.split('/').at(-1) ?? path}:${line} ${change}`;
}

/** What a structural replacement does: `console.warn($A) → logger.warn($A) · 2 files`. `undefined` if there are several. */
export function replacementTitle(
  ops: readonly { readonly pat: string; readonly out: string }[],
  files: number,
): string | undefined {
  const [op, ...others] = ops;
  const change = op && others.length === 0 ? arrow(op.pat, op.out) : undefined;
  return change && `${change} · ${plural(files, 'file')}`;
}

/** `undefined` for what is on several lines, or is only space. */
function arrow(old: string, now: string): string | undefined {
  if (/[\r\n]/.test(old + now)) return undefined;
  const [before, after] = [shortened(old, MAX_SIDE), shortened(now, MAX_SIDE)];
  if (before === '') return after === '' ? undefined : `+ ${after}`;
  return after === '' ? `− ${before}` : `${before} → ${after}`;
}

function tokens(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function shortened(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : line;
}
