import { fill, type ItemOf, type ViewItem } from '../protocol.ts';
import { renderCall, renderCalls } from './calls.ts';
import { renderCard } from './card.ts';
import { appendPlain, button, copyButton, el, icon, thumbnail } from './dom.ts';
import { renderMarkdown, StreamingMarkdown } from './markdown/markdown.ts';
import { markdownPort } from './markdown/markdownPort.ts';
import type { Port } from './port.ts';

/** Renders an item, reusing its old element where possible. What the user has unfolded stays unfolded. */
export function renderItem(item: ViewItem, old: HTMLElement | undefined, port: Port): HTMLElement {
  switch (item.kind) {
    case 'assistant':
      return renderAnswer(item, old, port);
    case 'preview':
      return renderCard(item, old, port);
    case 'tool':
      return renderCall(item, old, port);
    case 'tools':
      return renderCalls(item, old, port);
    case 'user':
      return renderPrompt(item, port);
    case 'resolve':
      return renderResolve(item, old);
    case 'error':
      return renderError(item, port);
    case 'local':
      return renderLocal(item, port);
    case 'actions':
      return el(
        'div',
        { class: 'item actions', data: { kind: 'actions' } },
        actionButtons(item.actions, port),
      );
    case 'notice':
      return el(
        'div',
        { class: 'item note', data: { kind: 'notice' } },
        icon('info'),
        el('span', {}, item.text),
        item.open && openButton(item.open, port),
      );
    case 'summary':
      return renderSummary(item, old, port);
    case 'heading':
      return el('h2', { class: 'item section', data: { kind: 'heading' } }, item.text);
  }
}

function openButton({ id, label }: NonNullable<ItemOf<'notice'>['open']>, { post }: Port): HTMLElement {
  return button({
    class: 'button secondary',
    label,
    data: { action: 'open' },
    onClick: () => post({ type: 'open', id }),
  });
}

function renderPrompt(item: ItemOf<'user'>, port: Port): HTMLElement {
  const { strings } = port;
  return el(
    'div',
    { class: 'item user', data: { kind: 'user' } },
    el('div', { class: 'bubble' }, el('span', { class: 'hidden' }, `${strings.you}: `), item.text),
    item.attachments.length > 0 &&
      el(
        'ul',
        { class: 'chips', aria: { label: strings.attached } },
        ...item.attachments.map(({ label, title, problem, src }) =>
          el(
            'li',
            { class: 'chip', title },
            src === undefined
              ? icon(problem ? 'warning' : 'file')
              : thumbnail(src, fill(strings.imageLabel, label)),
            el('span', { class: 'chip-label' }, label),
            problem && el('span', { class: 'hidden' }, title),
          ),
        ),
      ),
    item.note !== '' && el('div', { class: 'note' }, icon('clock'), item.note, queuedButtons(item, port)),
    item.node !== undefined && revertButton(item.node, strings.revertPrompt, port),
  );
}

/** The buttons of a prompt that waits for its turn. */
function queuedButtons({ queued: id }: ItemOf<'user'>, { strings, post }: Port): HTMLElement | undefined {
  if (id === undefined) return undefined;
  const one = (name: string, label: string, edit: boolean): HTMLButtonElement =>
    button({
      class: 'icon-button',
      icon: name,
      title: label,
      aria: { label },
      data: { action: edit ? 'editQueued' : 'removeQueued' },
      onClick: () => post({ type: 'takeBack', id, edit }),
    });
  return el(
    'span',
    { class: 'queued-buttons' },
    one('edit', strings.editQueued, true),
    one('close', strings.removeQueued, false),
  );
}

/** Visible while the item is hovered or focused; always available to screen readers. */
function revertButton(node: number, label: string, { post }: Port): HTMLButtonElement {
  return button({
    class: 'icon-button revert',
    icon: 'discard',
    title: label,
    aria: { label },
    data: { action: 'revert' },
    onClick: () => post({ type: 'revert', node }),
  });
}

/** Renders the outcome of a local slash command. */
function renderLocal(item: ItemOf<'local'>, port: Port): HTMLElement {
  const body = el('div', { class: 'markdown' });
  markdownInto(body, item.text, port);
  return el('div', { class: 'item local', data: { kind: 'local' } }, icon('terminal'), body);
}

function markdownInto(body: HTMLElement, text: string, port: Port): void {
  renderMarkdown(body, text, markdownPort(port));
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
function renderAnswer(item: ItemOf<'assistant'>, old: HTMLElement | undefined, port: Port): HTMLElement {
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

/** Folded: the user has the messages themselves above it. */
function renderSummary(item: ItemOf<'summary'>, old: HTMLElement | undefined, port: Port): HTMLElement {
  const { node, title, text } = item;
  const root = el(
    'details',
    { class: 'item summary', data: { kind: 'summary' } },
    el('summary', {}, icon('fold'), el('span', {}, title), icon('chevron-right', 'chevron')),
    el('div', { class: 'summary-body', role: 'region', tabIndex: 0, aria: { label: title } }, text),
    node !== undefined && revertButton(node, port.strings.revert, port),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
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

const OUTCOME_ICONS = {
  running: 'loading',
  accept: 'check',
  discard: 'discard',
  failed: 'error',
  recommend: 'lightbulb',
} as const;

/** One line; the reason and who decided are in its fold, which is open when it failed. */
function renderResolve(item: ItemOf<'resolve'>, old: HTMLElement | undefined): HTMLElement {
  const { outcome, title, source, reason, detail } = item;
  const root = el(
    'details',
    { class: `item resolve ${outcome}`, data: { kind: 'resolve', outcome } },
    el(
      'summary',
      { title },
      icon(OUTCOME_ICONS[outcome], outcome === 'running' ? 'codicon-modifier-spin' : ''),
      el('span', { class: 'resolve-title' }, title),
      icon('chevron-right', 'chevron'),
    ),
    el(
      'div',
      { class: 'resolve-body' },
      el('div', { class: 'resolve-reason' }, reason),
      detail !== '' && el('div', { class: 'resolve-detail' }, detail),
      el('div', { class: 'resolve-source' }, source),
    ),
  );
  root.open =
    old instanceof HTMLDetailsElement && old.dataset['outcome'] === outcome ? old.open : outcome === 'failed';
  return root;
}

function renderError(item: ItemOf<'error'>, port: Port): HTMLElement {
  return el(
    'div',
    { class: 'item error', role: 'alert', data: { kind: 'error' } },
    icon('error'),
    el(
      'div',
      { class: 'error-body' },
      el('div', { class: 'error-text' }, item.text),
      actionButtons(item.actions, port),
    ),
  );
}

function actionButtons(actions: ItemOf<'actions'>['actions'], { post }: Port): HTMLElement {
  return el(
    'div',
    { class: 'buttons' },
    ...actions.map(({ name, label }) =>
      button({
        class: 'button secondary',
        label,
        data: { action: name },
        onClick: () => post({ type: 'action', name }),
      }),
    ),
  );
}
