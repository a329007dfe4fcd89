/** One hunk of a patch. Each line begins with a space, `+`, `-`, or a backslash for “no newline at end of file”. */
export interface PatchHunk {
  /** First line in the old file, from 1; `undefined` in a format that only names lines near it. */
  readonly oldStart?: number;
  /** Lines above the hunk, each below the one before. */
  readonly below?: readonly string[];
  /** Its last line is the last of the file. */
  readonly isLast?: boolean;
  readonly lines: readonly string[];
}

/** The change of a patch to one file. */
export interface PatchedFile {
  readonly kind: 'modify' | 'create' | 'delete' | 'rename' | 'copy';
  /** Possible names of the file here before and after, the likeliest first. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly hunks: readonly PatchHunk[];
  readonly isBinary: boolean;
  /** Git's modes in octal digits, if the patch gives them. */
  readonly oldMode?: string;
  readonly newMode?: string;
  /** It replaces the file's whole content; the old content may have become another file. */
  readonly isRewrite?: boolean;
  /** It deletes content that the patch does not contain. */
  readonly isAnyContent?: boolean;
  /** Starts a new diff of a series: the diffs before it are applied first. */
  readonly isFirst?: boolean;
}

/** A part of a patch that cannot be used. */
export interface UnusablePart {
  readonly kind: 'unusable';
  /** Its first line, or its file. */
  readonly heading: string;
  /** `combined`: a combined diff, which compares a merge with each of its parents. */
  readonly why: 'malformed' | 'combined';
  readonly message?: string;
}

export type PatchPart = PatchedFile | UnusablePart;

const HUNK = /^@@ -(?<oldStart>\d+)(?:,(?<oldCount>\d+))? \+\d+(?:,(?<newCount>\d+))? @@/;

/** Reads the lines of a section of a patch, one after the other. */
export class PatchLines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(section: string) {
    this.#lines = section.split('\n');
    // The end of the last line does not begin another line.
    if (this.#lines.at(-1) === '') this.#lines = this.#lines.slice(0, -1);
  }

  /** The next line, or one further ahead; `undefined` at the end. */
  peek(ahead = 0): string | undefined {
    return this.#lines[this.#at + ahead];
  }

  take(): string {
    return this.#lines[this.#at++] ?? '';
  }

  /**
   * Takes the hunks that follow each other.
   * @throws Error if one has more or fewer lines than it says.
   */
  hunks(): readonly PatchHunk[] {
    const hunks: PatchHunk[] = [];
    while (this.#isAtHunk()) hunks.push(this.#hunk());
    return hunks;
  }

  /** Skips empty lines above a hunk, which a program that quotes patches may have added. */
  #isAtHunk(): boolean {
    let ahead = 0;
    while (this.peek(ahead) === '') ahead++;
    if (this.peek(ahead)?.startsWith('@@ ') !== true) return false;
    this.#at += ahead;
    return true;
  }

  #hunk(): PatchHunk {
    const head = this.take();
    const { oldStart = '', oldCount = '1', newCount = '1' } = HUNK.exec(head)?.groups ?? {};
    if (oldStart === '') throw new Error(`${head} is not the head of a hunk.`);
    let [old, now] = [Number(oldCount), Number(newCount)];
    // Without old lines, the number is that of the line above.
    const start = Number(oldStart) + (old === 0 ? 1 : 0);
    const lines: string[] = [];
    while (old > 0 || now > 0 || this.peek()?.startsWith('\\') === true) {
      const line = this.peek();
      if (line === undefined) throw new Error(`${head} lacks lines.`);
      // Programs that send mails may take the space from an empty line.
      const sign = line === '' ? ' ' : line[0];
      if (sign !== '\\' && sign !== '+' && sign !== '-' && sign !== ' ')
        throw new Error(`${head} lacks lines.`);
      if (sign === '-' || sign === ' ') old--;
      if (sign === '+' || sign === ' ') now--;
      if (old < 0 || now < 0) throw new Error(`${head} has other lines than it says.`);
      lines.push(this.take());
    }
    // The next file of a plain patch, or the end of an email, may follow.
    const next = this.peek();
    if (next !== undefined && /^[+ -]/.test(next) && !/^(?:--- |-- $)/.test(next))
      throw new Error(`${head} has more lines than it says.`);
    return { oldStart: start, lines };
  }
}
