import type { Token } from 'markdown-it';
import { fill } from '../../../../agent/base/localiser.ts';
import { appendPlain, button, copyButton, el } from '../dom.ts';
import { fileNamed, isPath, splitAtFiles, type NamedFile } from '../fileNames.ts';
import { coloured } from './colours.ts';
import { blocksOf, GrowingBlocks, MAX_MARKDOWN_CHARS, type Block } from './markdownBlocks.ts';

/** What rendered markdown needs from the panel. */
export interface MarkdownPort {
  readonly copy: string;
  readonly copied: string;
  /** `Propose as Edit of {0}` */
  readonly proposeCode: string;
  propose(path: string, code: string): void;
  /** The text still grows, so its code is not coloured yet. */
  readonly isGrowing?: boolean;
  openLink(url: string): void;
  /** A link to a file that the text names. */
  readonly fileLink: (file: NamedFile, label: string) => HTMLElement;
}

/**
 * Renders a complete text into `root`, replacing only the blocks that changed since the last call. Only elements and text nodes are
 * created; HTML in the source stays text.
 */
export function renderMarkdown(root: HTMLElement, text: string, port: MarkdownPort): void {
  if (text.length <= MAX_MARKDOWN_CHARS) return replaceFrom(root, 0, blocksOf(text), port);
  root.replaceChildren();
  appendPlain(root, text);
}

/**
 * Renders a text that grows at its end into `root`, which it empties first. Each call does work in proportion to what is
 * appended, however long the text is already.
 */
export class StreamingMarkdown {
  readonly #root: HTMLElement;
  readonly #port: MarkdownPort;
  readonly #blocks = new GrowingBlocks();

  constructor(root: HTMLElement, port: MarkdownPort) {
    this.#root = root;
    this.#port = { ...port, isGrowing: true };
    root.replaceChildren();
  }

  append(text: string): void {
    const { settled, blocks, plain } = this.#blocks.append(text);
    if (blocks) replaceFrom(this.#root, settled, blocks, this.#port);
    if (plain !== '') appendPlain(this.#root, plain);
  }
}

/** Replaces the blocks from one on, except those that are the same. */
function replaceFrom(root: HTMLElement, first: number, blocks: readonly Block[], port: MarkdownPort): void {
  blocks.forEach((block, i) => {
    const old = root.children[first + i];
    if (old instanceof HTMLElement && sources.get(old) === block.source) return;
    const rendered = renderBlock(block.tokens, port);
    // Code is rendered once more when the text is complete.
    const isFinal = port.isGrowing !== true || !block.tokens.some(({ type }) => type === 'fence');
    sources.set(rendered, isFinal ? block.source : '');
    if (old) old.replaceWith(rendered);
    else root.append(rendered);
  });
  while (root.children.length > first + blocks.length) root.lastElementChild?.remove();
}

const sources = new WeakMap<Element, string>();

function renderBlock(tokens: readonly Token[], port: MarkdownPort): HTMLElement {
  const root = el('div', { class: 'md-block' });
  appendTokens(root, tokens, port);
  return root;
}

function appendTokens(root: HTMLElement, tokens: readonly Token[], port: MarkdownPort): void {
  const stack: HTMLElement[] = [root];
  for (const token of tokens) {
    const parent = stack.at(-1) ?? root;
    if (token.nesting === 1) {
      // The paragraphs of a tight list have no element of their own.
      const element = token.hidden ? parent : openElement(token, port);
      if (element !== parent) parent.append(element);
      stack.push(element);
    } else if (token.nesting === -1) {
      stack.pop();
    } else {
      appendLeaf(parent, token, port);
    }
  }
}

function openElement(token: Token, port: MarkdownPort): HTMLElement {
  switch (token.type) {
    case 'paragraph_open':
      return el('p');
    case 'heading_open':
      return el('div', {
        class: `md-heading md-${token.tag}`,
        role: 'heading',
        aria: { level: headingLevel(token.tag) },
      });
    case 'bullet_list_open':
      return el('ul');
    case 'ordered_list_open': {
      const list = el('ol');
      const start = Number(token.attrGet('start') ?? 1);
      if (Number.isInteger(start)) list.start = start;
      return list;
    }
    case 'list_item_open':
      return el('li');
    case 'blockquote_open':
      return el('blockquote');
    case 'table_open':
      return el('table');
    case 'thead_open':
      return el('thead');
    case 'tbody_open':
      return el('tbody');
    case 'tr_open':
      return el('tr');
    case 'th_open':
      return el('th');
    case 'td_open':
      return el('td');
    case 'em_open':
      return el('em');
    case 'strong_open':
      return el('strong');
    case 's_open':
      return el('s');
    case 'link_open':
      return link(String(token.attrGet('href') ?? ''), port);
    default:
      return el('span');
  }
}

function appendLeaf(parent: HTMLElement, token: Token, port: MarkdownPort): void {
  switch (token.type) {
    case 'inline':
      return appendTokens(parent, token.children ?? [], port);
    case 'softbreak':
      return parent.append('\n');
    case 'hardbreak':
      return parent.append(el('br'));
    case 'code_inline':
      return parent.append(inlineCode(token.content, parent, port));
    case 'fence':
    case 'code_block':
      return parent.append(codeBlock(token.content.replace(/\n$/, ''), token.info, port));
    case 'image': {
      // Nothing is loaded from the web: an image becomes a link with its alternative text.
      const target = link(String(token.attrGet('src') ?? ''), port);
      target.append(token.content || target.title);
      return parent.append(target);
    }
    case 'hr':
      return parent.append(el('hr'));
    default:
      return appendText(parent, token.content, port);
  }
}

/** Text, with links to the files and lines that it names. */
function appendText(parent: HTMLElement, text: string, port: MarkdownPort): void {
  if (parent.closest('a')) return parent.append(text);
  for (const piece of splitAtFiles(text))
    parent.append(typeof piece === 'string' ? piece : port.fileLink(piece.file, piece.word));
}

function inlineCode(text: string, parent: HTMLElement, port: MarkdownPort): HTMLElement {
  const file = parent.closest('a') ? undefined : fileNamed(text);
  return el('code', {}, file ? port.fileLink(file, text) : text);
}

function headingLevel(tag: string): string {
  return String(Math.min(6, Number(tag.slice(1)) + 2));
}

/** A web link; any other URL stays text, since it could not be opened safely. */
function link(href: string, port: MarkdownPort): HTMLElement {
  const protocol = URL.canParse(href) ? new URL(href).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:') return el('span', { title: href });
  const anchor = el('a', {
    title: href,
    onClick: event => {
      event.preventDefault();
      event.stopPropagation();
      port.openLink(href);
    },
  });
  anchor.href = href;
  return anchor;
}

/** A block of code, coloured by its language once it is complete. */
function codeBlock(code: string, info: string, port: MarkdownPort): HTMLElement {
  return el(
    'div',
    { class: 'code' },
    el('pre', { tabIndex: 0 }, el('code', {}, ...(port.isGrowing === true ? [code] : coloured(code, info)))),
    el(
      'div',
      { class: 'code-actions' },
      proposeButton(code, info, port),
      copyButton(code, port.copy, port.copied),
    ),
  );
}

/** For code that names its file after the language: ` ```ts src/cart.ts `. */
function proposeButton(code: string, info: string, port: MarkdownPort): HTMLElement | undefined {
  const [, ...words] = info.trim().split(/\s+/);
  const path = words
    .map(word => word.replace(/^(?:title|file|path)=/, '').replace(/^"(.*)"$/, '$1'))
    .find(isPath);
  if (path === undefined || port.isGrowing === true) return undefined;
  const label = fill(port.proposeCode, path);
  return button({
    class: 'icon-button',
    icon: 'git-pull-request-create',
    title: label,
    aria: { label },
    data: { action: 'propose' },
    onClick: () => port.propose(path, code),
  });
}
