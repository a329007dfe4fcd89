import { heldBack } from '../../../hold/text/occurrences.ts';

/** The tags in which some models write their reasoning; servers without a parser for them pass them on in the text. */
const TAGS = [
  ['<think>', '</think>'],
  ['<thought>', '</thought>'],
] as const;
const [[OPENING, CLOSING]] = TAGS;

/** How many blanks may precede a tag. */
const MAX_BLANKS = 1_000;

/** A piece of an answer, taken apart. */
export interface SplitText {
  readonly text: string;
  readonly reasoning: string;
}

/**
 * Separates reasoning in tags from the text of a streamed answer. Only tags at the very beginning count: later ones belong to the
 * text.
 */
export class ThinkTags {
  /** The closing tag that ends the reasoning; `undefined` outside of it. */
  #closing: string | undefined;
  #phase: 'beginning' | 'reasoning' | 'after' | 'text' = 'beginning';
  /** Held text that may turn out to be a tag. */
  #held = '';

  /** Takes the next piece. Text that may be part of a tag is held back until the piece after it. */
  push(piece: string): SplitText {
    let text = '';
    let reasoning = '';
    this.#held += piece;
    if (this.#phase === 'beginning') this.#begin();
    if (this.#phase === 'reasoning') reasoning = this.#takeReasoning();
    if (this.#phase === 'after') this.#skipBlanks();
    if (this.#phase === 'text') {
      text = this.#held;
      this.#held = '';
    }
    return { text, reasoning };
  }

  /** The text still held at the end of the answer. */
  end(): SplitText {
    const held = this.#held;
    this.#held = '';
    return this.#phase === 'reasoning' ? { text: '', reasoning: held } : { text: held, reasoning: '' };
  }

  #begin(): void {
    const begun = this.#held.trimStart();
    const tag = TAGS.find(([opening]) => begun.startsWith(opening));
    if (tag) {
      this.#held = begun.slice(tag[0].length);
      this.#closing = tag[1];
      this.#phase = 'reasoning';
    } else if (this.#held.length > MAX_BLANKS || !TAGS.some(([opening]) => opening.startsWith(begun))) {
      this.#phase = 'text';
    }
  }

  #takeReasoning(): string {
    const closing = this.#closing ?? CLOSING;
    const at = this.#held.indexOf(closing);
    const end = at >= 0 ? at : this.#held.length - heldBack(this.#held, closing);
    const reasoning = this.#held.slice(0, end);
    this.#held = this.#held.slice(at >= 0 ? at + closing.length : end);
    if (at >= 0) this.#phase = 'after';
    return reasoning;
  }

  #skipBlanks(): void {
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#phase = 'text';
  }
}

/**
 * Takes apart a whole answer whose opening tag was part of the prompt (templates of DeepSeek R1 and QwQ), so that only the
 * closing one, on a line of its own, is in the text.
 */
export function splitAtClosingTag(text: string): SplitText {
  const at = text.indexOf(CLOSING);
  const end = at + CLOSING.length;
  const alone = (at === 0 || text[at - 1] === '\n') && (end === text.length || text[end] === '\n');
  if (at < 0 || !alone || text.slice(0, at).includes(OPENING)) return { text, reasoning: '' };
  return { text: text.slice(end).trimStart(), reasoning: text.slice(0, at) };
}
