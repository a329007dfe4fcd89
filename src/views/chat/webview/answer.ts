import type { ItemOf } from '../protocol.ts';
import { appendPlain, button, copyButton, el, icon } from './dom.ts';
import { fileLink } from './fileLink.ts';
import { renderMarkdown, StreamingMarkdown, type MarkdownPort } from './markdown/markdown.ts';
import type { Port } from './port.ts';

/** Renders a complete text as Markdown. */
export function markdownInto(body: HTMLElement, text: string, port: Port): void {
  renderMarkdown(body, text, markdownPort(port));
}

function markdownPort({ strings: { copy, copied, proposeCode }, post }: Port): MarkdownPort {
  return {
    copy,
    copied,
    proposeCode,
    propose: (path, code) => post({ type: 'propose', path, code }),
    openLink: url => post({ type: 'openLink', url }),
    fileLink: (file, label) => fileLink(file, label, post),
  };
}

/** The texts of streaming answers, by the element that shows them. */
const streams = new WeakMap<HTMLElement, StreamingMarkdown>();

/** Adds what has arrived of a streaming answer to its element. The work does not grow with the answer. */
export function growAnswer(root: HTMLElement, text: string, reasoning: string, { strings }: Port): void {
  const body = bodyOf(root);
  if (body && text !== '') streams.get(body)?.append(text);
  const fold = reasoningIn(root);
  const shown = fold?.querySelector<HTMLElement>('.reasoning-body');
  if (reasoning !== '' && shown) appendPlain(shown, reasoning);
  if (text !== '' && fold) setText(fold, '.reasoning-title', strings.reasoning);
}

/** Whether the element of an answer can grow: it streams, and shows what would grow already. */
export function canGrow(root: HTMLElement | undefined, reasoning: string): root is HTMLElement {
  const body = root && bodyOf(root);
  if (!body || !streams.has(body)) return false;
  return reasoning === '' || reasoningIn(root) !== undefined;
}

function bodyOf(root: HTMLElement): HTMLElement | undefined {
  return root.querySelector<HTMLElement>(':scope > .markdown') ?? undefined;
}

/**
 * Renders an answer. While it streams, it is not a live region. When complete it becomes a new element, because the log
 * around it announces only elements that are added.
 */
export function renderAnswer(
  item: ItemOf<'assistant'>,
  old: HTMLElement | undefined,
  port: Port,
): HTMLElement {
  const canReuse =
    old?.dataset['kind'] === 'assistant' && old.classList.contains('streaming') === item.streaming;
  const root = canReuse ? old : el('div', { class: 'item assistant', data: { kind: 'assistant' } });
  if (item.streaming) root.setAttribute('aria-live', 'off');
  root.classList.toggle('streaming', item.streaming);
  let body = bodyOf(root);
  if (!body) root.prepend((body = el('div', { class: 'markdown' })));
  if (item.streaming) streamInto(body, item.text, port);
  else markdownInto(body, item.text, port);
  showReasoning(root, item, old, port);
  root.querySelector(':scope > .note')?.remove();
  if (item.note !== '') root.append(el('div', { class: 'note' }, item.note));
  root.querySelector(':scope > .answer-actions')?.remove();
  if (!item.streaming) root.append(answerActions(item, port));
  return root;
}

/** Copy, and what can be done from this answer on. Visible while the answer is hovered or focused. */
function answerActions({ text, node, canRetry }: ItemOf<'assistant'>, port: Port): HTMLElement {
  const { strings, post } = port;
  return el(
    'div',
    { class: 'answer-actions' },
    text.trim() !== '' && copyButton(text, strings.copyAnswer, strings.copied),
    canRetry &&
      button({
        class: 'icon-button',
        icon: 'refresh',
        title: strings.retry,
        aria: { label: strings.retry },
        data: { action: 'retry' },
        onClick: () => post({ type: 'retry' }),
      }),
    node !== undefined && revertButton(node, strings.revert, port),
  );
}

function streamInto(body: HTMLElement, text: string, port: Port): void {
  const stream = new StreamingMarkdown(body, markdownPort(port));
  stream.append(text);
  streams.set(body, stream);
}

/** Puts the reasoning above the answer, folded, as plain text. The element stays while it grows, and so do focus and fold. */
function showReasoning(
  root: HTMLElement,
  { reasoning, text, streaming }: ItemOf<'assistant'>,
  old: HTMLElement | undefined,
  { strings }: Port,
): void {
  const shown = reasoningIn(root);
  if (reasoning.trim() === '') return shown?.remove();
  const title = el('span', { class: 'reasoning-title' });
  const fold =
    shown ??
    el(
      'details',
      { class: 'reasoning' },
      el('summary', {}, icon('lightbulb'), title, icon('chevron-right', 'chevron')),
      el('div', { class: 'reasoning-body', tabIndex: 0, role: 'region', aria: { label: strings.reasoning } }),
    );
  if (!shown) {
    fold.open = reasoningIn(old)?.open ?? false;
    root.prepend(fold);
  }
  setText(fold, '.reasoning-title', streaming && text === '' ? strings.reasoningNow : strings.reasoning);
  const body = fold.querySelector<HTMLElement>('.reasoning-body');
  if (!body || body.textContent === reasoning) return;
  body.replaceChildren();
  appendPlain(body, reasoning);
}

function reasoningIn(root: HTMLElement | undefined): HTMLDetailsElement | undefined {
  return root?.querySelector<HTMLDetailsElement>(':scope > .reasoning') ?? undefined;
}

function setText(root: HTMLElement, selector: string, text: string): void {
  const element = root.querySelector(selector);
  if (element && element.textContent !== text) element.textContent = text;
}

/** Visible while the item is hovered or focused; always available to screen readers. */
export function revertButton(node: number, label: string, { post }: Port): HTMLButtonElement {
  return button({
    class: 'icon-button revert',
    icon: 'discard',
    title: label,
    aria: { label },
    data: { action: 'revert' },
    onClick: () => post({ type: 'revert', node }),
  });
}
