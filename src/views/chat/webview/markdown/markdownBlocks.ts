import MarkdownIt, { type Env, type Token } from 'markdown-it';

const parser = new MarkdownIt('default', { html: false, linkify: true, typographer: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** The longest text that is parsed, in characters. A longer one is shown as plain text: its elements would be too many. */
export const MAX_MARKDOWN_CHARS = 500_000;
/** The longest block that is parsed again when it grows, in characters. */
const MAX_OPEN_CHARS = 20_000;

const LINE_BREAK = /\r\n?|\n/;

/** A top-level block. */
export interface Block {
  /** Type and source. The block is rendered again if they differ. */
  readonly source: string;
  readonly tokens: readonly Token[];
  /** The line that it begins in, counted from 0. */
  readonly line: number;
}

/** The blocks that change on the screen when a streaming text grows. */
export interface Growth {
  /** How many blocks from the beginning stay as they are. */
  readonly settled: number;
  /** The blocks after the settled ones; `undefined` if they stay, too. */
  readonly blocks: readonly Block[] | undefined;
  /** Text to add after them as it is. */
  readonly plain: string;
}

/** The blocks of a whole text. */
export function blocksOf(text: string, environment: Env = {}): Block[] {
  const lines = text.split(LINE_BREAK);
  const blocks: Block[] = [];
  let open: Token[] = [];
  let depth = 0;
  for (const token of parser.parse(text, environment)) {
    open.push(token);
    depth += token.nesting;
    if (depth > 0) continue;
    const [start, end] = open[0]?.map ?? [0, 0];
    const source = `${open[0]?.type} ${lines.slice(start, end).join('\n')}`;
    blocks.push({ source, tokens: open, line: start });
    open = [];
  }
  return blocks;
}

/**
 * The blocks of a text that grows at its end. Only the last block can still change, so only that one is parsed again, until it is
 * too long. From then on, or once the whole text is too long, new text is plain. A link is shown as one only if its definition came
 * before it; the complete text is parsed as a whole.
 */
export class GrowingBlocks {
  /** The text from the beginning of the last block. */
  #open = '';
  #settled = 0;
  #length = 0;
  #isPlain = false;
  /** Holds the definitions of links in the blocks that are settled. */
  readonly #environment: Env = { references: {} };

  append(text: string): Growth {
    this.#length += text.length;
    this.#isPlain ||= this.#length > MAX_MARKDOWN_CHARS || this.#open.length > MAX_OPEN_CHARS;
    const settled = this.#settled;
    if (this.#isPlain) return { settled, blocks: undefined, plain: text };
    const grown = this.#open + text;
    const blocks = blocksOf(grown, { references: { ...this.#environment.references } });
    if (LINE_BREAK.test(text)) this.#settle(grown);
    else this.#open = grown;
    return { settled, blocks, plain: '' };
  }

  /** Everything before the last block of the complete lines is final. A line that is not complete may yet become anything. */
  #settle(grown: string): void {
    const complete = grown.slice(0, Math.max(grown.lastIndexOf('\n'), grown.lastIndexOf('\r')) + 1);
    const blocks = blocksOf(complete, { references: { ...this.#environment.references } });
    const start = offsetOfLine(complete, blocks.at(-1)?.line ?? 0);
    if (start > 0) blocksOf(complete.slice(0, start), this.#environment);
    this.#settled += Math.max(0, blocks.length - 1);
    this.#open = grown.slice(start);
  }
}

/** Offset at which a line begins. Lines count from 0. */
function offsetOfLine(text: string, line: number): number {
  const breaks = new RegExp(LINE_BREAK, 'g');
  for (let i = 0; i < line; i++) if (!breaks.test(text)) return text.length;
  return breaks.lastIndex;
}
