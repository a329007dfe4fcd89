import { escapeInvisible } from '../../plainText.ts';

/** A file of the workspace, as an answer or a call names it, with a line from 1. */
export interface NamedFile {
  readonly path: string;
  readonly line?: number | undefined;
}

/** The longest word that is taken for a path, in characters. */
const MAX_WORD_CHARS = 300;
const LINE = /:(\d{1,7})(?:[:-]\d{1,7})?$/;
const PATH = /^[\w@.+\-/\\]*\.[A-Za-z]\w{0,9}$/;

/**
 * The file that a word names: `src/cart.ts`, `cart.ts:12` or `src/cart.ts:12-20`. A bare name is not enough: it may be anything.
 */
export function fileNamed(word: string): NamedFile | undefined {
  if (word.length > MAX_WORD_CHARS) return undefined;
  const line = LINE.exec(word);
  const path = line ? word.slice(0, line.index) : word;
  if (!PATH.test(path) || path.includes('//') || !(line || /[/\\]/.test(path))) return undefined;
  return { path, ...(line ? { line: Math.max(1, Number(line[1])) } : {}) };
}

/** Whether a word can be a path with an extension. */
export function isPath(word: string): boolean {
  return word.length <= MAX_WORD_CHARS && PATH.test(word) && !word.includes('//');
}

/** The words of a text, with the separators between them. Files are recognized only where a line is named. */
export function splitAtFiles(
  text: string,
): readonly (string | { readonly word: string; readonly file: NamedFile })[] {
  const pieces: (string | { word: string; file: NamedFile })[] = [];
  let plain = '';
  for (const piece of text.split(/([\s()[\]{}<>"'`,;]+)/)) {
    const word = piece.replace(/[.:!?]$/, '');
    const file = LINE.test(word) ? fileNamed(word) : undefined;
    if (!file) {
      plain += piece;
      continue;
    }
    if (plain !== '') pieces.push(plain);
    pieces.push({ word, file });
    plain = piece.slice(word.length);
  }
  if (plain !== '') pieces.push(plain);
  return pieces;
}

/** `src/cart.ts:12` */
export function shownFileName({ path, line }: NamedFile): string {
  return escapeInvisible(line === undefined ? path : `${path}:${line}`);
}
