import { lineEndingAt, lineEndingOf, type LineEnding } from '../../../../hold/text/lines.ts';

/** How many columns a tab counts as; only files that are indented with tabs are measured with it. */
const TAB = 8;
/** How far back the start of a line is searched for, in bytes of UTF-8. If it is farther, the line counts as not indented. */
const MAX_LOOK_BACK = 512;

/** A range of a text, as offsets. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** How a file breaks and indents its lines around a place. */
export interface Layout {
  /** `undefined` if the file has just one line. */
  readonly lineEnding: LineEnding | undefined;
  readonly usesTabs: boolean;
  /**
   * The columns of one step of its indentation, if known; for tabs, the columns of a tab. To know it takes a look at the file's strings.
   * A getter here would cost memory: V8 makes it among the old objects, where it keeps the layout, and so the syntax tree, until V8
   * collects those, too.
   */
  readonly unit: () => number | undefined;
  /** The indentation of the line, in columns. */
  readonly indent: number;
}

/** What may end a string, or be a part of one, before code on the same line. */
const ENDS_STRING = /[`'"$}]/;
/** What is in every string of several lines, unless it is an attribute. */
const LONG_STRING = /[`\\]/;
/** Without it, no attribute counts as a string of several lines. */
const JOINED_LINES = /\\\r?\n/;
/** A line that is indented with a tab. */
const TABBED = /^ *\t/m;

/** Looks at the text of a file no more often than needed. */
export class FileLayout {
  readonly #text: string;
  readonly #findStrings: () => readonly Range[];
  readonly #isCode: (offset: number) => boolean;
  #hasTabs: boolean | undefined;
  #joinsLines: boolean | undefined;
  #strings: readonly Range[] | undefined;
  #ending: LineEnding | 'mixed' | undefined | null = null;
  #first: string | undefined;

  /**
   * @param strings returns the file's multi-line strings, for which the whole file is searched
   * @param isCode whether code in no string is known to begin at an offset, in a language of {@link AstLanguage.quoted}
   */
  constructor(
    text: string,
    strings: () => readonly Range[],
    isCode: (offset: number) => boolean = () => false,
  ) {
    this.#text = text;
    this.#findStrings = strings;
    this.#isCode = isCode;
  }

  at(offset: number): Layout {
    const space = this.leadAt(offset);
    this.#hasTabs ??= TABBED.test(this.#text);
    const usesTabs = this.#hasTabs && (space === '' ? this.#firstIndentation() : space).includes('\t');
    return {
      lineEnding: this.#lineEnding(offset),
      usesTabs,
      unit: () => {
        if (usesTabs) return TAB;
        const first = this.#firstIndentation();
        return first.includes('\t') ? undefined : first.length || undefined;
      },
      indent: columns(space, { usesTabs }),
    };
  }

  /** The white space at the start of the line that contains `offset`. A line that begins in a string is part of the one before. */
  leadAt(offset: number): string {
    return leadAt(this.#text, offset, start => {
      const isPlain = !ENDS_STRING.test(this.#text.slice(start, offset)) && this.#isCode(offset);
      return !isPlain && this.isInString(start);
    });
  }

  /** Whether lines of some code may begin in a string. */
  mayHoldStrings({ start, end }: Range): boolean {
    this.#joinsLines ??= JOINED_LINES.test(this.#text);
    return this.#joinsLines || LONG_STRING.test(this.#text.slice(start, end)) || !this.#isCode(start);
  }

  isInString(offset: number): boolean {
    return isWithin((this.#strings ??= this.#findStrings()), offset);
  }

  /** The line ending of the file; if it mixes several, that of the line, or for the last line that of the line before. */
  #lineEnding(offset: number): LineEnding | undefined {
    if (this.#ending === null) this.#ending = lineEndingOf(this.#text);
    return this.#ending === 'mixed' ? lineEndingAt(this.#text, offset) : this.#ending;
  }

  /** The indentation of the first indented line that does not continue a comment or a string. */
  #firstIndentation(): string {
    if (this.#first !== undefined) return this.#first;
    for (const { 0: space, index } of this.#text.matchAll(/^[ \t]+(?![ \t\r\n*])/gm))
      if (!this.isInString(index)) return (this.#first = space);
    return (this.#first = '');
  }
}

/** The white space at the start of the line that contains `offset`, where a line that begins in a string does not count. */
export function leadAt(text: string, offset: number, isInString: (offset: number) => boolean): string {
  let bytes = 0;
  let start = offset;
  for (; start > 0; start--) {
    const code = text.charCodeAt(start - 1);
    bytes += bytesOf(code);
    if (bytes > MAX_LOOK_BACK) return '';
    if (code === 0x0a && !isInString(start)) break;
  }
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

export function isWithin(ranges: readonly Range[], offset: number): boolean {
  return ranges.some(({ start, end }) => start < offset && offset < end);
}

/** The columns of white space. In a file without tabs, only the part before the first tab counts, as for the CLI. */
export function columns(space: string, { usesTabs }: Pick<Layout, 'usesTabs'>): number {
  let count = 0;
  for (const char of space) {
    if (char === '\t' && !usesTabs) break;
    count += char === '\t' ? TAB : 1;
  }
  return count;
}

/** White space of `count` columns, with tabs. */
export function tabsFor(count: number): string {
  return '\t'.repeat(Math.floor(count / TAB)) + ' '.repeat(count % TAB);
}

/** The bytes of a UTF-16 unit in UTF-8; half a surrogate pair counts as half of four bytes. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) return 2;
  return 3;
}
