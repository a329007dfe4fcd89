/** Elements whose content is not text. */
const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'select']);
/** Elements that begin and end a line. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol p pre section summary table tbody tfoot thead title tr ul'
  ).split(' '),
);

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    hellip: '…',
    mdash: '—',
    ndash: '–',
    copy: '©',
    reg: '®',
    trade: '™',
    bull: '•',
    middot: '·',
    times: '×',
    larr: '←',
    rarr: '→',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    laquo: '«',
    raquo: '»',
    shy: '',
    zwnj: '',
    zwj: '',
  }),
);

/**
 * The text of an HTML page, plainly: without tags, scripts and styles, with line breaks between blocks, headings and list items
 * marked as in Markdown, and the addresses of links. Takes linear time on any page.
 * @param base the address of the page, for relative links
 */
export function htmlText(html: string, base: string): string {
  // This keeps the length, which `toLowerCase` does not promise.
  const lower = html.replace(/[A-Z]+/g, part => part.toLowerCase());
  const writer = new TextWriter(base);
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    writer.text(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    if (lower.startsWith('<!--', open)) {
      at = after(lower, '-->', open + 4);
      continue;
    }
    const name = /^<\/?[a-z][a-z0-9]*|^<[!?]/.exec(lower.slice(open, open + 40))?.[0];
    if (name === undefined) {
      writer.text('<');
      at = open + 1;
      continue;
    }
    const end = endOfTag(html, open + name.length);
    const isEnd = name.startsWith('</');
    const tag = name.replace(/^<\/?/, '');
    at = end;
    if (HIDDEN.has(tag) && !isEnd) {
      const close = lower.indexOf(`</${tag}`, end);
      at = close < 0 ? html.length : endOfTag(html, close);
    } else writer.tag(tag, isEnd, html.slice(open, Math.min(end, open + 4_000)));
  }
  return writer.end();
}

/** The end of a tag. A `>` in quotes is not one. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const char = html[at] ?? '';
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return at + 1;
  }
  return html.length;
}

function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found + end.length;
}

/** Collects text, with one blank line between blocks at most. */
class TextWriter {
  readonly #base: string;
  readonly #parts: string[] = [];
  /** The line feeds that come before the next text. */
  #feeds = 0;
  #hasSpace = false;
  #preformatted = 0;
  #prefix = '';
  #link: string | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  text(raw: string): void {
    const text = decoded(raw);
    if (this.#preformatted > 0) return this.#write(text);
    const words = text.replace(/[ \t\r\n\f]+/g, ' ');
    if (words.trim() === '') {
      this.#hasSpace ||= words !== '';
      return;
    }
    if (words.startsWith(' ')) this.#hasSpace = true;
    this.#write(words.trim());
    this.#hasSpace = words.endsWith(' ');
  }

  tag(name: string, isEnd: boolean, whole: string): void {
    if (name === 'br') return this.#feed(1);
    if (name === 'a') return isEnd ? this.#endLink() : this.#startLink(whole);
    if (name === 'td' || name === 'th') {
      if (isEnd) this.#hasSpace = true;
      return;
    }
    if (!BLOCKS.has(name)) return;
    const isHeading = /^h[1-6]$/.test(name);
    this.#feed(isHeading || name === 'p' || name === 'title' || name === 'pre' || name === 'table' ? 2 : 1);
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (isEnd ? -1 : 1));
    if (isEnd) this.#prefix = '';
    else if (isHeading) this.#prefix = `${'#'.repeat(Number(name[1]))} `;
    else if (name === 'li') this.#prefix = '- ';
  }

  end(): string {
    return this.#parts.join('').trim();
  }

  #write(text: string): void {
    if (text === '') return;
    if (this.#parts.length > 0 && this.#feeds > 0) this.#parts.push('\n'.repeat(Math.min(2, this.#feeds)));
    else if (this.#hasSpace && this.#parts.length > 0) this.#parts.push(' ');
    this.#parts.push(this.#prefix, text);
    this.#prefix = '';
    this.#feeds = 0;
    this.#hasSpace = false;
  }

  #feed(count: number): void {
    this.#feeds = Math.max(this.#feeds, count);
    this.#hasSpace = false;
  }

  #startLink(whole: string): void {
    const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i.exec(whole) ?? [];
    const href = double ?? single ?? bare;
    const url = href === undefined || href.startsWith('#') ? null : URL.parse(decoded(href), this.#base);
    this.#link = url && /^https?:$/.test(url.protocol) && url.href.length <= 500 ? url.href : undefined;
  }

  #endLink(): void {
    if (this.#link !== undefined) {
      this.#hasSpace = true;
      if (this.#feeds === 0) this.#write(`(${this.#link})`);
    }
    this.#link = undefined;
  }
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return ENTITIES.get(name) ?? whole;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '';
  });
}
