import { fill } from '../../../agent/base/localiser.ts';
import type { ItemOf, ViewItem } from '../protocol.ts';
import { markdownInto, renderAnswer, revertButton } from './answer.ts';
import { renderCall, renderCalls } from './calls.ts';
import { renderCard } from './card/card.ts';
import { button, el, icon, thumbnail } from './dom.ts';
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
    case 'turn':
      return renderTurn(item, port);
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

/** What the model applied in a turn, to look at and to undo. */
function renderTurn({ text, ids }: ItemOf<'turn'>, { strings, post }: Port): HTMLElement {
  const [first] = ids;
  return el(
    'div',
    { class: 'item turn', data: { kind: 'turn' } },
    el('span', { class: 'turn-text' }, text),
    first !== undefined &&
      button({
        class: 'button secondary',
        label: strings.review,
        data: { action: 'open' },
        aria: { label: `${strings.review}: ${text}` },
        onClick: () => post({ type: 'open', id: first }),
      }),
    button({
      class: 'button secondary',
      label: strings.undoTurn,
      data: { action: 'undoTurn' },
      aria: { label: `${strings.undoTurn}: ${text}` },
      onClick: () => post({ type: 'undoTurn', ids: [...ids] }),
    }),
  );
}

/** Renders the outcome of a local slash command. */
function renderLocal(item: ItemOf<'local'>, port: Port): HTMLElement {
  const body = el('div', { class: 'markdown' });
  markdownInto(body, item.text, port);
  return el('div', { class: 'item local', data: { kind: 'local' } }, icon('terminal'), body);
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
