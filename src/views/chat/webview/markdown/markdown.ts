import * as l10n from '@vscode/l10n';
import type { Token } from 'markdown-it';
import { appendPlain, button, copyButton, el } from '../dom.ts';
import { fileLink } from '../fileLink.ts';
import { fileNamed, isPath, splitAtFiles } from '../fileNames.ts';
import { post, sessionId } from '../host.ts';
import { coloured } from './colours.ts';
import { blocksOf, GrowingBlocks, MAX_MARKDOWN_CHARS, type Block } from './markdownBlocks.ts';

/** Whether a text may still grow: then its code is not coloured yet. */
type Stage = 'growing' | 'complete';

/**
 * Renders a complete text into `root`, replacing only the blocks that changed since the last call. Only elements and text nodes are
 * created; HTML in the source stays text.
 */
export function renderMarkdown(root: HTMLElement, text: string): void {
  if (text.length <= MAX_MARKDOWN_CHARS) return replaceFrom(root, 0, blocksOf(text), 'complete');
  root.replaceChildren();
  appendPlain(root, text);
}

/**
 * Renders a text that grows at its end into `root`, which it empties first. The work of each call is proportional to the appended
 * text, however long the text is already.
 */
export class StreamingMarkdown {
  readonly #root: HTMLElement;
  readonly #blocks = new GrowingBlocks();

  constructor(root: HTMLElement) {
    this.#root = root;
    root.replaceChildren();
  }

  append(text: string): void {
    const { settled, blocks, plain } = this.#blocks.append(text);
    if (blocks) replaceFrom(this.#root, settled, blocks, 'growing');
    if (plain !== '') appendPlain(this.#root, plain);
  }
}

/** Replaces the blocks from one on, except those that are the same. */
function replaceFrom(root: HTMLElement, first: number, blocks: readonly Block[], stage: Stage): void {
  blocks.forEach((block, i) => {
    const old = root.children[first + i];
    if (old instanceof HTMLElement && sources.get(old) === block.source) return;
    const rendered = renderBlock(block.tokens, stage);
    // Code is rendered once more when the text is complete.
    const isFinal = stage === 'complete' || !block.tokens.some(({ type }) => type === 'fence');
    sources.set(rendered, isFinal ? block.source : '');
    if (old) old.replaceWith(rendered);
    else root.append(rendered);
  });
  while (root.children.length > first + blocks.length) root.lastElementChild?.remove();
}

const sources = new WeakMap<Element, string>();

function renderBlock(tokens: readonly Token[], stage: Stage): HTMLElement {
  const root = el('div', { class: 'md-block' });
  appendTokens(root, tokens, stage);
  return root;
}

function appendTokens(root: HTMLElement, tokens: readonly Token[], stage: Stage): void {
  const stack: HTMLElement[] = [root];
  for (const token of tokens) {
    const parent = stack.at(-1) ?? root;
    if (token.nesting === 1) {
      // The paragraphs of a tight list have no element of their own.
      const element = token.hidden ? parent : openElement(token);
      if (element !== parent) parent.append(element);
      stack.push(element);
    } else if (token.nesting === -1) {
      stack.pop();
    } else {
      appendLeaf(parent, token, stage);
    }
  }
}

function openElement(token: Token): HTMLElement {
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
      return link(String(token.attrGet('href') ?? ''));
    default:
      return el('span');
  }
}

function appendLeaf(parent: HTMLElement, token: Token, stage: Stage): void {
  switch (token.type) {
    case 'inline':
      return appendTokens(parent, token.children ?? [], stage);
    case 'softbreak':
      return parent.append('\n');
    case 'hardbreak':
      return parent.append(el('br'));
    case 'code_inline':
      return parent.append(inlineCode(token.content, parent));
    case 'fence':
    case 'code_block':
      return parent.append(codeBlock(token.content.replace(/\n$/, ''), token.info, stage));
    case 'image': {
      // Nothing is loaded from the web: an image becomes a link with its alternative text.
      const target = link(String(token.attrGet('src') ?? ''));
      target.append(token.content || target.title);
      return parent.append(target);
    }
    case 'hr':
      return parent.append(el('hr'));
    default:
      return appendText(parent, token.content);
  }
}

/** Text, with links to the files and lines that it names. */
function appendText(parent: HTMLElement, text: string): void {
  if (parent.closest('a')) return parent.append(text);
  for (const piece of splitAtFiles(text))
    parent.append(typeof piece === 'string' ? piece : fileLink(piece.file, piece.word));
}

function inlineCode(text: string, parent: HTMLElement): HTMLElement {
  const file = parent.closest('a') ? undefined : fileNamed(text);
  return el('code', {}, file ? fileLink(file, text) : text);
}

function headingLevel(tag: string): string {
  return String(Math.min(6, Number(tag.slice(1)) + 2));
}

/** A web link; any other URL stays text, since it could not be opened safely. */
function link(href: string): HTMLElement {
  const protocol = URL.canParse(href) ? new URL(href).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:') return el('span', { title: href });
  const anchor = el('a', {
    title: href,
    onClick: event => {
      event.preventDefault();
      event.stopPropagation();
      post({ type: 'openLink', url: href });
    },
  });
  anchor.href = href;
  return anchor;
}

/** A block of code, coloured by its language once it is complete. */
function codeBlock(code: string, info: string, stage: Stage): HTMLElement {
  return el(
    'div',
    { class: 'code' },
    el('pre', { tabIndex: 0 }, el('code', {}, ...(stage === 'growing' ? [code] : coloured(code, info)))),
    el(
      'div',
      { class: 'code-actions' },
      stage === 'complete' && proposeButton(code, info),
      copyButton(code, l10n.t('Copy')),
    ),
  );
}

/** For code that names its file after the language: ` ```ts src/cart.ts `. */
function proposeButton(code: string, info: string): HTMLElement | undefined {
  const [, ...words] = info.trim().split(/\s+/);
  const path = words
    .map(word => word.replace(/^(?:title|file|path)=/, '').replace(/^"(.*)"$/, '$1'))
    .find(isPath);
  if (path === undefined) return undefined;
  const label = l10n.t('Propose as Edit of {0}', path);
  return button({
    class: 'icon-button',
    icon: 'git-pull-request-create',
    title: label,
    aria: { label },
    data: { action: 'propose' },
    onClick: () => post({ type: 'propose', session: sessionId(), path, code }),
  });
}
