import MarkdownIt, { type Token } from 'markdown-it';
import { fenced } from '../../../base/phrases.ts';

const parser = new MarkdownIt({ html: true });
/** Parses blocks only: parsing inside paragraphs takes long. */
const blockParser = new MarkdownIt({ html: true });
blockParser.core.ruler.enableOnly(['normalize', 'block']);
/** Without one of these, a text leaves nothing open. */
const OPENING = /```|~~~|</;
/** The longest text that is parsed, in characters. A longer one counts as leaving HTML open. */
const MOST = 50_000;
/** The longest paragraph that is searched for HTML, in characters. */
const MOST_INLINE = 5_000;

/**
 * The text, changed so that it does not swallow the rest of a document: a fence left open is closed. If HTML is left open, such as
 * a comment or a script, the whole text becomes code.
 */
export function closedMarkdown(text: string): string {
  const open = openIn(text);
  if (open === undefined) return text;
  const closed = `${text}\n${open}`;
  return open !== HTML && openIn(closed) === undefined ? closed : fenced(text);
}

/** Like {@link closedMarkdown} for a text on one line, whose HTML becomes plain text if it is open. */
export function closedLine(text: string): string {
  return openIn(text) === undefined ? text : text.replaceAll('<', '\\<');
}

const HTML = '<';

/** The mark of a fence, or HTML, that would swallow a heading after the text; if in doubt, HTML. */
function openIn(text: string): string | undefined {
  if (!OPENING.test(text)) return undefined;
  if (text.length > MOST) return HTML;
  const tokens = blockParser.parse(`${text}\n\n# Next`, {});
  const last = tokens.at(-1);
  if (last?.type === 'fence') return last.markup;
  return last?.type === 'heading_close' && isHtmlClosed(tokens.flatMap(htmlIn).join('')) ? undefined : HTML;
}

function htmlIn({ type, content }: Token): string[] {
  if (type === 'html_block') return [content];
  if (type !== 'inline' || !content.includes('<')) return [];
  if (content.length > MOST_INLINE) return [HTML]; // it may be open
  const parts = parser.parseInline(content, {}).flatMap(({ children }) => children ?? []);
  return parts.filter(part => part.type === 'html_inline').map(part => part.content);
}

const TAG = /<(\/?)([a-z][\w-]*)(?:\s[^<>]*)?\/?>/gi;
/** The elements that have no end. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Whether all comments and elements are closed; false if in doubt. */
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
