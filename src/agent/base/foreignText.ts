import { shortened } from './cutText.ts';

/** Emoji: keycaps, flags of regions such as Scotland, and pictographs with modifiers and joiners. */
const EMOJI =
  /[0-9#*]\uFE0F?\u20E3|\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}|\p{Extended_Pictographic}\p{Emoji_Modifier}?[\uFE0E\uFE0F]?(?:\u200D\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)*/u;

/** Letters whose form depends on joiners between them. */
const JOINED = `[${['Arab', 'Syrc', 'Mong', 'Nkoo', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr'].map(script => `\\p{sc=${script}}`).join('')}]`;
/** A digit that could be an emoji, and joiners between such letters. */
const OF_PROSE = `[0-9#*][\\uFE0E\\uFE0F]|(?<=${JOINED})[\\u200C\\u200D](?=${JOINED})`;

/**
 * Invisible characters: controls, line ends, marks that change the direction of text, characters without width or ink, and halves
 * of surrogate pairs.
 */
const UNSEEN = /(?<unseen>[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB])/u;

/** Allowed sequences are matched first, as a whole, since they contain such characters. */
const IN_NAMES = new RegExp(`${EMOJI.source}|${UNSEEN.source}`, 'gu');
/** Line breaks and tabs stay in texts. */
const IN_TEXTS = new RegExp(`${EMOJI.source}|(?![\\t\\n\\r])${UNSEEN.source}`, 'gu');
const IN_PROSE = new RegExp(`${EMOJI.source}|${OF_PROSE}|(?![\\t\\n\\r])${UNSEEN.source}`, 'gu');

/** How many characters of foreign text a label shows at most. */
const MAX_LABEL_CHARS = 200;

/** White space, except the characters that {@link escapeInvisible} shows. */
const SPACES = /[^\S\uFEFF\u2028\u2029]+/g;

/**
 * Foreign text as a person may read it: invisible characters are escapes such as `\u{202e}`, so that two names look alike only if
 * one of them contains such an escape literally. Emoji stay, as text or as pictures, and so do line breaks. Every path and label
 * that is shown goes through this function, mostly by way of the others here.
 */
export function escapeInvisible(text: string): string {
  return replaceUnseen(text, IN_TEXTS, codeEscape);
}

/**
 * {@link escapeInvisible} for reasons, outputs and other texts that name nothing: joiners stay between letters that they change, as
 * Persian and Hindi need them.
 */
export function escapeProse(text: string): string {
  return replaceUnseen(text, IN_PROSE, codeEscape);
}

/** {@link escapeInvisible} for lines of a log or a terminal: line breaks are escapes, too. */
export function escapeLine(text: string): string {
  return replaceInName(text, codeEscape);
}

/** A message for a log. Its further lines are indented, so that no line of a name or an error looks like an entry of its own. */
export function logEntry(message: string): string {
  return escapeInvisible(message).replace(/\r\n?|\n/g, '\n    ');
}

/** Foreign text (labels, reasons, errors) on one line, shortened to `max` characters. */
export function oneLine(text: string, max = MAX_LABEL_CHARS): string {
  return shortened(escapeInvisible(text.replace(SPACES, ' ')).trim(), max);
}

/** A name with invisible characters replaced. Emoji stay. */
export function replaceInName(name: string, escape: (unseen: string) => string): string {
  return replaceUnseen(name, IN_NAMES, escape);
}

function replaceUnseen(text: string, pattern: RegExp, escape: (unseen: string) => string): string {
  return text.replace(pattern, (found, unseen?: string) => (unseen === undefined ? found : escape(unseen)));
}

/** `\u{202e}` */
function codeEscape(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
