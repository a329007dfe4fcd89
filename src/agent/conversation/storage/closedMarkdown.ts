import MarkdownIt, { type Token } from 'markdown-it';
import { fenceFor } from '../../base/phrases.ts';

const parser = new MarkdownIt({ html: true });
/** Without one of these, a text leaves nothing open. */
const OPENING = /```|~~~|</;
/** The longest text that is parsed, in characters. Of what is longer it is not known what it leaves open. */
const MOST = 50_000;

/**
 * The text, so changed that it does not swallow what follows it in a document: a fence that is open at its end is closed.
 * If HTML is, such as a comment or a script, the whole text becomes code.
 */
export function closedMarkdown(text: string): string {
  if (isClosed(text)) return text;
  const closed = text.length > MOST ? text : withLastFence(text);
  return closed !== text && isClosed(closed) ? closed : fenced(text);
}

/** Like {@link closedMarkdown} for a text on one line, whose HTML becomes plain text if it is open. */
export function closedLine(text: string): string {
  return isClosed(text) ? text : text.replaceAll('<', '\\<');
}

/** A text as code, which it cannot end. */
export function fenced(text: string, language = ''): string {
  const fence = fenceFor(text);
  return `${fence}${language}\n${text}\n${fence}`;
}

function withLastFence(text: string): string {
  const last = parser.parse(text, {}).at(-1);
  return last?.type === 'fence' ? `${text}\n${last.markup}` : text;
}

/** Whether a heading that follows the text is one. */
function isClosed(text: string): boolean {
  if (!OPENING.test(text)) return true;
  if (text.length > MOST) return false;
  const tokens = parser.parse(`${text}\n\n# Next`, {});
  return tokens.at(-1)?.type === 'heading_close' && isHtmlClosed(tokens.flatMap(htmlIn).join(''));
}

function htmlIn({ type, content, children }: Token): string[] {
  return type === 'html_block' || type === 'html_inline' ? [content] : (children ?? []).flatMap(htmlIn);
}

const TAG = /<(\/?)([a-z][\w-]*)(?:\s[^<>]*)?\/?>/gi;
/** The elements that have no end. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Whether all comments and elements end; in doubt they do not. */
function isHtmlClosed(html: string): boolean {
  const [first = '', ...others] = html.split('<!--');
  if (!others.every(text => text.includes('-->'))) return false;
  const tags = first + others.map(text => text.slice(text.indexOf('-->') + 3)).join('');
  const open: string[] = [];
  for (const [, slash, name = ''] of tags.matchAll(TAG)) {
    const element = name.toLowerCase();
    if (VOID.has(element)) continue;
    if (slash === '') open.push(element);
    else if (open.pop() !== element) return false;
  }
  return open.length === 0 && !tags.replace(TAG, '').includes('<');
}
