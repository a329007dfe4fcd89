import * as l10n from '@vscode/l10n';
import { attachmentLabel, attachmentName } from '../attachments/attachmentRefs.ts';
import type { ChatAction, ItemOf, ViewItem } from '../protocol.ts';
import { renderAnswer, revertButton } from './answer.ts';
import { renderCall, renderCalls } from './calls.ts';
import { renderCard } from './card/card.ts';
import { renderTurn } from './card/turnCard.ts';
import { button, el, icon, thumbnail } from './dom.ts';
import { resolveDetail, resolveSource, resolveTitle } from '../words/resolveWords.ts';
import { renderMarkdown } from './markdown/markdown.ts';
import { escapeInvisible } from '../../plainText.ts';
import { post, sessionId } from './host.ts';
import { noticeText } from '../words/noticeWords.ts';

/** Renders an item, reusing its old element where possible. Folds that the user opened stay open. */
export function renderItem(item: ViewItem, old: HTMLElement | undefined): HTMLElement {
  switch (item.kind) {
    case 'assistant':
      return renderAnswer(item, old);
    case 'preview':
      return renderCard(item, old);
    case 'tool':
      return renderCall(item, old);
    case 'tools':
      return renderCalls(item, old);
    case 'user':
      return renderPrompt(item);
    case 'resolve':
      return renderResolve(item, old);
    case 'error':
      return renderError(item);
    case 'local':
      return renderLocal(item);
    case 'connect':
      return el(
        'div',
        { class: 'item actions', data: { kind: 'connect' } },
        actionButton('selectModel', l10n.t('Connect a Model')),
      );
    case 'notice':
      return el(
        'div',
        { class: 'item note', data: { kind: 'notice' } },
        icon('info'),
        el('span', {}, noticeText(item.notice)),
        noticeButton(item.notice),
      );
    case 'host':
      return renderHost(item);
    case 'question':
      return renderQuestion(item);
    case 'summary':
      return renderSummary(item, old);
    case 'turn':
      return renderTurn(item, old);
    case 'heading':
      return el('h2', { class: 'item section', data: { kind: 'heading' } }, headingText(item.heading));
  }
}

function headingText(heading: ItemOf<'heading'>['heading']): string {
  switch (heading.about) {
    case 'elsewhere':
      return l10n.t('From elsewhere');
    case 'morePending':
      return l10n.t('and {0} more pending', heading.count);
    case 'earlier':
      return l10n.t('Earlier entries not shown: {0}', heading.count);
  }
}

/** None of the answers is the default: each needs its own click. */
function renderHost({ id, host, url }: ItemOf<'host'>): HTMLElement {
  const title = l10n.t('The agent wants to read from {0}.', host);
  const answers = [
    ['once', l10n.t('Once')],
    ['session', l10n.t('In This Session')],
    ['always', l10n.t('Always in This Workspace')],
    ['no', l10n.t("Don't Allow")],
  ] as const;
  return el(
    'div',
    { class: 'item ask', role: 'group', aria: { label: title }, data: { kind: 'host' } },
    el('div', { class: 'ask-title' }, icon('globe'), title),
    el('code', { class: 'ask-url' }, url),
    el(
      'div',
      { class: 'ask-detail' },
      l10n.t(
        'The host gets this address. What it answers becomes part of the conversation. If you allow the host for longer, the agent can send it other addresses without a question.',
      ),
    ),
    el('div', { class: 'buttons' }, ...answers.map(([answer, label]) => answerButton(id, answer, label))),
  );
}

/** While it waits, each choice has a button; another answer is typed as a prompt. */
function renderQuestion({ id, text, choices, answer }: ItemOf<'question'>): HTMLElement {
  return el(
    'div',
    { class: 'item ask', role: 'group', aria: { label: text }, data: { kind: 'question' } },
    el('div', { class: 'ask-title' }, icon('question'), text),
    answer !== undefined && el('div', {}, l10n.t('Your answer: {0}', answer)),
    id !== undefined &&
      el(
        'div',
        { class: 'buttons' },
        ...choices.map(choice => answerButton(id, choice, escapeInvisible(choice))),
      ),
    id !== undefined && el('div', { class: 'ask-detail' }, l10n.t('Or type another answer below.')),
  );
}

function answerButton(id: number, answer: string, label: string): HTMLElement {
  return button({
    class: 'button secondary',
    label,
    data: { action: 'answer', answer },
    onClick: () => post({ type: 'answer', id, answer }),
  });
}

function noticeButton(notice: ItemOf<'notice'>['notice']): HTMLElement | undefined {
  if (notice.about === 'interrupted' && notice.canContinue)
    return actionButton('continue', l10n.t('Continue'));
  return notice.about === 'withheldTools' ? actionButton('manageTrust') : undefined;
}

function renderPrompt(item: ItemOf<'user'>): HTMLElement {
  const { text, attachments, queued, node } = item;
  return el(
    'div',
    { class: 'item user', data: { kind: 'user' } },
    el('div', { class: 'bubble' }, el('span', { class: 'hidden' }, `${l10n.t('You')}: `), text),
    attachments.length > 0 &&
      el('ul', { class: 'chips', aria: { label: l10n.t('Attached') } }, ...attachments.map(attachment)),
    queued !== undefined &&
      el('div', { class: 'note' }, icon('clock'), l10n.t('Queued'), queuedButtons(queued)),
    node !== undefined && revertButton(node, l10n.t('Revert to Here and Edit the Prompt')),
  );
}

function attachment(one: ItemOf<'user'>['attachments'][number]): HTMLElement {
  const { problem, src } = one;
  const label = attachmentLabel(one);
  const name = attachmentName(one);
  const title = problem === undefined ? name : l10n.t('{0}: {1}', name, problem);
  return el(
    'li',
    { class: 'chip', title },
    src === undefined
      ? icon(problem === undefined ? 'file' : 'warning')
      : thumbnail(src, l10n.t('Image: {0}', label)),
    el('span', { class: 'chip-label' }, label),
    problem !== undefined && el('span', { class: 'hidden' }, title),
  );
}

/** The buttons of a prompt that waits for its turn. */
function queuedButtons(id: string): HTMLElement {
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
    one('edit', l10n.t('Edit the Queued Prompt'), true),
    one('close', l10n.t('Remove the Queued Prompt'), false),
  );
}

/** Renders the outcome of a local slash command. */
function renderLocal(item: ItemOf<'local'>): HTMLElement {
  const body = el('div', { class: 'markdown' });
  renderMarkdown(body, item.text);
  return el('div', { class: 'item local', data: { kind: 'local' } }, icon('terminal'), body);
}

/** Folded: the user has the messages themselves above it. */
function renderSummary(item: ItemOf<'summary'>, old: HTMLElement | undefined): HTMLElement {
  const { node, text } = item;
  const title = l10n.t('Earlier messages were summarized for the model');
  const root = el(
    'details',
    { class: 'item summary', data: { kind: 'summary' } },
    el('summary', {}, icon('fold'), el('span', {}, title), icon('chevron-right', 'chevron')),
    el('div', { class: 'summary-body', role: 'region', tabIndex: 0, aria: { label: title } }, text),
    node !== undefined && revertButton(node, l10n.t('Revert to Here')),
  );
  root.open = old instanceof HTMLDetailsElement && old.open;
  return root;
}

const OUTCOME_ICONS = {
  running: 'loading',
  accept: 'check',
  discard: 'close',
  failed: 'error',
  recommendApply: 'lightbulb',
  recommendDiscard: 'lightbulb',
  submit: 'lightbulb',
} as const;

/** One line; the reason and who decided are in its fold, which is open when it failed. */
function renderResolve(item: ItemOf<'resolve'>, old: HTMLElement | undefined): HTMLElement {
  const { outcome, reason } = item;
  const title = resolveTitle(item);
  const detail = resolveDetail(item);
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
      el('div', { class: 'resolve-reason' }, reason ?? l10n.t('No reason provided')),
      detail !== undefined && el('div', { class: 'resolve-detail' }, detail),
      el('div', { class: 'resolve-source' }, resolveSource(item)),
    ),
  );
  root.open =
    old instanceof HTMLDetailsElement && old.dataset['outcome'] === outcome ? old.open : outcome === 'failed';
  return root;
}

function renderError({ text, actions }: ItemOf<'error'>): HTMLElement {
  return el(
    'div',
    { class: 'item error', role: 'alert', data: { kind: 'error' } },
    icon('error'),
    el(
      'div',
      { class: 'error-body' },
      el('div', { class: 'error-text' }, text ?? l10n.t('The model did not answer.')),
      el('div', { class: 'buttons' }, ...actions.map(name => actionButton(name))),
    ),
  );
}

/** A button for a command that needs no more than its name. */
export function actionButton(name: ChatAction, label = actionLabel(name)): HTMLElement {
  return button({
    class: 'button secondary',
    label,
    data: { action: name },
    onClick: () =>
      post(name === 'continue' ? { type: name, session: sessionId() } : { type: 'action', name }),
  });
}

function actionLabel(name: ChatAction): string {
  switch (name) {
    case 'showLog':
      return l10n.t('Show Log');
    case 'setApiKey':
      return l10n.t('Set API Key');
    case 'selectModel':
      return l10n.t('Select Model');
    case 'agents.connect':
      return l10n.t('Connect an Agent…');
    case 'continue':
      return l10n.t('Try Again');
    case 'manageTrust':
      return l10n.t('Manage Workspace Trust');
  }
}
