import * as l10n from '@vscode/l10n';
import type { ItemOf } from '../protocol.ts';
import { appendPlain, button, copyButton, el, icon } from './dom.ts';
import { renderMarkdown, StreamingMarkdown } from './markdown/markdown.ts';
import { post, sessionId } from './host.ts';

/** The texts of streaming answers, by the element that shows them. */
const streams = new WeakMap<HTMLElement, StreamingMarkdown>();

/** Adds the new text of a streaming answer to its element. The work does not grow with the answer. */
export function growAnswer(root: HTMLElement, text: string, reasoning: string): void {
  const body = bodyOf(root);
  if (body && text !== '') streams.get(body)?.append(text);
  const fold = reasoningIn(root);
  const shown = fold?.querySelector<HTMLElement>('.reasoning-body');
  if (reasoning !== '' && shown) appendPlain(shown, reasoning);
  if (text !== '' && fold) setTitle(fold, l10n.t('Reasoning'));
}

/** Whether the element of an answer can grow: it streams, and shows the growing part already. */
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
export function renderAnswer(item: ItemOf<'assistant'>, old: HTMLElement | undefined): HTMLElement {
  const canReuse =
    old?.dataset['kind'] === 'assistant' && old.classList.contains('streaming') === item.streaming;
  const root = canReuse ? old : el('div', { class: 'item assistant', data: { kind: 'assistant' } });
  if (item.streaming) root.setAttribute('aria-live', 'off');
  root.classList.toggle('streaming', item.streaming);
  let body = bodyOf(root);
  if (!body) root.prepend((body = el('div', { class: 'markdown' })));
  if (item.streaming) streamInto(body, item.text);
  else renderMarkdown(body, item.text);
  showReasoning(root, item, old);
  root.querySelector(':scope > .note')?.remove();
  if (item.incomplete) {
    const why =
      item.incomplete === 'stopped'
        ? l10n.t('Stopped.')
        : l10n.t("The answer was cut off: it reached the model's length limit.");
    root.append(el('div', { class: 'note' }, why));
  }
  root.querySelector(':scope > .answer-actions')?.remove();
  if (!item.streaming) root.append(answerActions(item));
  return root;
}

/** Copy, and the actions on this answer. Visible while the answer is hovered or focused. */
function answerActions({ text, node, canRetry }: ItemOf<'assistant'>): HTMLElement {
  return el(
    'div',
    { class: 'answer-actions' },
    text.trim() !== '' && copyButton(text, l10n.t('Copy the Answer')),
    canRetry &&
      button({
        class: 'icon-button',
        icon: 'refresh',
        title: l10n.t('Ask Again'),
        aria: { label: l10n.t('Ask Again') },
        data: { action: 'retry' },
        onClick: () => post({ type: 'retry', session: sessionId() }),
      }),
    node !== undefined && revertButton(node, l10n.t('Revert to Here')),
  );
}

function streamInto(body: HTMLElement, text: string): void {
  const stream = new StreamingMarkdown(body);
  stream.append(text);
  streams.set(body, stream);
}

/** Puts the reasoning above the answer, folded, as plain text. The element stays while it grows, and so do focus and fold. */
function showReasoning(
  root: HTMLElement,
  { reasoning, text, streaming }: ItemOf<'assistant'>,
  old: HTMLElement | undefined,
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
      el('div', {
        class: 'reasoning-body',
        tabIndex: 0,
        role: 'region',
        aria: { label: l10n.t('Reasoning') },
      }),
    );
  if (!shown) {
    fold.open = reasoningIn(old)?.open ?? false;
    root.prepend(fold);
  }
  setTitle(fold, streaming && text === '' ? l10n.t('Reasoning…') : l10n.t('Reasoning'));
  const body = fold.querySelector<HTMLElement>('.reasoning-body');
  if (!body || body.textContent === reasoning) return;
  body.replaceChildren();
  appendPlain(body, reasoning);
}

function reasoningIn(root: HTMLElement | undefined): HTMLDetailsElement | undefined {
  return root?.querySelector<HTMLDetailsElement>(':scope > .reasoning') ?? undefined;
}

function setTitle(fold: HTMLElement, text: string): void {
  const element = fold.querySelector('.reasoning-title');
  if (element && element.textContent !== text) element.textContent = text;
}

/** Visible while the item is hovered or focused; always available to screen readers. */
export function revertButton(node: number, label: string): HTMLButtonElement {
  return button({
    class: 'icon-button revert',
    icon: 'discard',
    title: label,
    aria: { label },
    data: { action: 'revert' },
    onClick: () => post({ type: 'revert', session: sessionId(), node }),
  });
}
