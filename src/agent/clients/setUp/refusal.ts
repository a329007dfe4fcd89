/** Why a configuration file is left as it is. */
export type RefusalReason =
  /** It is not valid; both count from 1. */
  | { readonly kind: 'invalid'; readonly line: number; readonly column: number }
  /** A key holds something else than the agent's documentation says. No keys: the file as a whole. */
  | { readonly kind: 'shape'; readonly keys: readonly string[]; readonly wants: 'object' | 'list' }
  /** The paragraph of Redline begins and does not end. */
  | { readonly kind: 'openParagraph'; readonly line: number }
  | { readonly kind: 'tooLarge' }
  /** No edit was found that changes what it should, and nothing else. */
  | { readonly kind: 'unusual' };

/** A configuration file of an agent cannot be changed safely. Nothing was staged. */
export class SetUpRefusal extends Error {
  override readonly name = 'SetUpRefusal';
  /** The file, as the caller named it. */
  readonly file: string;
  readonly reason: RefusalReason;

  constructor(file: string, reason: RefusalReason) {
    super(`${file} cannot be changed: ${JSON.stringify(reason)}`);
    this.file = file;
    this.reason = reason;
  }
}

/** In characters. A larger file is no configuration, and would take too long to parse. */
const MAX_CHARS = 500_000;

/** @throws SetUpRefusal for a text that is too long to be parsed. */
export function assertNotTooLarge(file: string, text: string): void {
  if (text.length > MAX_CHARS) throw new SetUpRefusal(file, { kind: 'tooLarge' });
}

/** The place of an offset in a text. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
