import { INSTRUCTIONS } from '../clientTools.ts';
import { newlineOf } from './newline.ts';
import { placeOf, SetUpRefusal } from './refusal.ts';

const BEGIN = '<!-- redline -->';
const END = '<!-- /redline -->';

/** Where Redline's paragraph is in a text, with its markers; `undefined` if there is none. */
function find(file: string, text: string): { readonly start: number; readonly end: number } | undefined {
  const start = text.indexOf(BEGIN);
  if (start < 0) return undefined;
  const end = text.indexOf(END, start);
  if (end < 0) throw new SetUpRefusal(file, { kind: 'openParagraph', line: placeOf(text, start).line });
  return { start, end: end + END.length };
}

export function hasParagraph(text: string): boolean {
  const start = text.indexOf(BEGIN);
  return start >= 0 && text.includes(END, start);
}

/**
 * The text with the paragraph that tells an agent to work through Redline, between its markers: at the end, or where it is.
 * @throws SetUpRefusal if it begins and does not end.
 */
export function withParagraph(file: string, text: string): string {
  const newline = newlineOf(text);
  const paragraph = [BEGIN, INSTRUCTIONS, END].join(newline);
  const found = find(file, text);
  if (found) return text.slice(0, found.start) + paragraph + text.slice(found.end);
  if (text === '') return paragraph + newline;
  // Whether there is a line ending after it tells what was added before it.
  return /[\r\n]$/.test(text) ? text + newline + paragraph + newline : text + newline + newline + paragraph;
}

/**
 * The text as it was before {@link withParagraph}, or with what was written around the paragraph since.
 * @throws SetUpRefusal if the paragraph begins and does not end.
 */
export function withoutParagraph(file: string, text: string): string {
  const found = find(file, text);
  if (!found) return text;
  const newline = newlineOf(text.slice(found.start, found.end));
  let [before, after] = [text.slice(0, found.start), text.slice(found.end)];
  const isFollowed = after.startsWith(newline);
  if (isFollowed) after = after.slice(newline.length);
  for (let count = isFollowed ? 1 : 2; count > 0 && before.endsWith(newline); count--)
    before = before.slice(0, -newline.length);
  return before + after;
}
