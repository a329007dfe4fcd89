import * as l10n from '@vscode/l10n';
import { escapeInvisible } from '../../../plainText.ts';
import type { FileRow, ItemOf } from '../../protocol.ts';
import {
  cardName,
  cardNotes,
  cardState,
  isOpen,
  partName,
  partsText,
  reasonOf,
  stateText,
} from '../../words/cardWords.ts';
import { callBody } from '../calls.ts';
import { button, el, icon, statOf, withBreaks } from '../dom.ts';
import { post } from '../host.ts';
import { renderMarkdown } from '../markdown/markdown.ts';

type Card = ItemOf<'preview'>;
type Pending = Extract<Card['state'], { kind: 'pending' }>;

const STATE_ICONS = {
  pending: 'diff',
  applying: 'loading',
  applied: 'check',
  undone: 'discard',
  discarded: 'discard',
  failed: 'error',
  expired: 'history',
} as const;
const CHANGE_ICONS = {
  modify: 'diff-modified',
  create: 'diff-added',
  delete: 'diff-removed',
  rename: 'diff-renamed',
} as const;

/** Renders a preview's card. A reason that is being typed survives an update. */
export function renderCard(card: Card, old: HTMLElement | undefined): HTMLElement {
  const { id, state, label, parts, output } = card;
  const root = el('article', {
    class: `item card ${state.kind}`,
    data: { kind: 'preview', previewId: id, state: state.kind, revision: String(card.revision) },
    aria: { label: cardName(card) },
    tabIndex: -1,
  });
  const children = [
    header(card),
    isOpen(card) && card.files.length > 0 && fileList(card),
    ...notes(card),
    parts && partList(parts, label),
    output !== undefined && outputFold(output, card.canStop, old),
    card.canStop && stopButton(card),
    card.plan && planFold(card.plan, old),
    state.kind === 'pending' && votes(card, state, old),
    card.remedy && !parts && remedyButton(label, card.remedy),
    card.call && callFold(card.call, old),
  ];
  root.append(...children.filter(child => child instanceof HTMLElement));
  return root;
}

function header(card: Card): HTMLElement {
  const { state } = card;
  // A resolved card lists no files: the stat of a single file moves up here.
  const stat = card.stat ?? (isOpen(card) || card.files.length > 1 ? undefined : card.files[0]?.stat);
  const open = button({
    class: 'card-label',
    title: card.label,
    aria: { label: l10n.t('Open {0}', card.label) },
    onClick: () => post({ type: 'open', id: card.id }),
  });
  open.append(...withBreaks(card.label));
  return el(
    'div',
    { class: 'card-header' },
    icon(
      STATE_ICONS[state.kind],
      state.kind === 'applying' ? 'codicon-modifier-spin state-icon' : 'state-icon',
    ),
    open,
    stat && statOf(stat),
    el('span', { class: 'card-id', title: card.source }, card.id),
  );
}

function fileList(card: Card): HTMLElement {
  return el(
    'ul',
    { class: 'files' },
    ...card.files.map(file => fileRow(file, card)),
    card.moreFiles > 0 && el('li', { class: 'more' }, l10n.t('and {0} more', card.moreFiles)),
  );
}

function fileRow(file: FileRow, card: Card): HTMLElement {
  const path = escapeInvisible(file.path);
  const slash = path.lastIndexOf('/');
  const name = el('span', { class: 'file-name' }, path.slice(slash + 1));
  const folder = slash < 0 ? undefined : el('span', { class: 'file-folder' }, path.slice(0, slash));
  const title = file.from === undefined ? path : `${escapeInvisible(file.from)} → ${path}`;
  const change = changeWord(file.change);
  const row = el(
    'button',
    {
      class: `file ${file.change}`,
      title: `${title} (${change})`,
      onClick: () => post({ type: 'open', id: card.id, path: file.path }),
    },
    icon(CHANGE_ICONS[file.change], 'change-icon'),
    el('span', { class: 'file-path' }, name, folder),
    el('span', { class: 'hidden' }, ` ${change} `),
    file.stat && statOf(file.stat),
  );
  row.type = 'button';
  return el('li', {}, row);
}

/** The change in words, for screen readers. */
function changeWord(change: FileRow['change']): string {
  switch (change) {
    case 'modify':
      return l10n.t('modified');
    case 'create':
      return l10n.t('new file');
    case 'delete':
      return l10n.t('deleted');
    case 'rename':
      return l10n.t('renamed');
  }
}

const NOTE_ICONS = {
  recommendation: 'lightbulb',
  conflicts: 'warning',
  stale: 'warning',
  'last-error': 'error',
} as const;

function notes(card: Card): (HTMLElement | false)[] {
  const note = (kind: string, name: string, text: string): HTMLElement =>
    el('div', { class: `card-note ${kind}` }, icon(name), el('span', {}, text));
  const reason = reasonOf(card);
  const state = cardState(card);
  return [
    card.agent !== undefined && note('agent', 'robot', l10n.t('Proposed by {0}', card.agent)),
    ...cardNotes(card.state).map(([kind, text]) => note(kind, NOTE_ICONS[kind], text)),
    state !== undefined &&
      el(
        'div',
        { class: 'card-state' },
        state,
        reason !== undefined && el('span', { class: 'card-reason' }, `: ${reason}`),
      ),
  ];
}

/** The output of a command: unfolded while it runs, and as the user left it afterwards. */
function outputFold(output: string, isRunning: boolean, old: HTMLElement | undefined): HTMLElement {
  const label = l10n.t('Result');
  const text = el('pre', { tabIndex: 0, role: 'region', aria: { label } }, output);
  const root = el('details', { class: 'card-output' }, el('summary', {}, label), text);
  const before = old?.querySelector<HTMLDetailsElement>('.card-output');
  root.open = before ? before.open : isRunning;
  // The newest output is below.
  if (isRunning) requestAnimationFrame(() => text.scrollTo({ top: text.scrollHeight }));
  return root;
}

/** Undo or Reopen, on what is resolved. */
function remedyButton(name: string, { type, id }: NonNullable<Card['remedy']>): HTMLElement {
  const [label, of] = {
    undo: [l10n.t('Undo'), l10n.t('Undo {0}', name)],
    redo: [l10n.t('Apply Again'), l10n.t('Apply {0} again', name)],
    reopen: [l10n.t('Reopen'), l10n.t('Reopen {0}', name)],
  }[type] as [string, string];
  return el(
    'div',
    { class: 'remedy' },
    button({
      class: 'button secondary',
      label,
      data: { action: type, of: id },
      aria: { label: of },
      onClick: () => post({ type: type === 'redo' ? 'undo' : type, id }),
    }),
  );
}

/** What was resolved by itself, each with how, and with the button that takes it back. */
function partList(parts: NonNullable<Card['parts']>, label: string): HTMLElement {
  const counts = partsText(parts);
  return el(
    'div',
    { class: 'parts' },
    el('div', { class: 'parts-text' }, counts),
    el(
      'ul',
      { aria: { label: counts } },
      ...parts.rows.map(part => {
        const { kind } = part.state;
        const texts = [stateText(part), reasonOf(part)].filter(text => text !== undefined);
        return el(
          'li',
          { class: `part ${kind}`, data: { previewId: part.id, state: kind } },
          icon(STATE_ICONS[kind], 'state-icon'),
          el(
            'span',
            { class: 'part-text' },
            el('span', { class: 'part-label' }, partName(part)),
            el('span', { class: 'part-state' }, texts.join(': ')),
          ),
          part.remedy && remedyButton(`${partName(part)}, ${label}`, part.remedy),
        );
      }),
    ),
  );
}

/** The plan as rendered Markdown, in a fold. What the user has unfolded stays unfolded. */
function planFold(
  { text, isUnfolded }: NonNullable<Card['plan']>,
  old: HTMLElement | undefined,
): HTMLElement {
  const label = l10n.t('Plan');
  const body = el('div', { class: 'markdown plan-body', role: 'region', tabIndex: 0, aria: { label } });
  renderMarkdown(body, text);
  const root = el(
    'details',
    { class: 'plan' },
    el('summary', {}, icon('checklist'), el('span', {}, label), icon('chevron-right', 'chevron')),
    body,
  );
  const shown = old?.querySelector<HTMLDetailsElement>('.plan');
  const isNew = isUnfolded && shown?.dataset['unfolded'] === undefined;
  root.open = isNew || shown?.open === true;
  if (isUnfolded) root.dataset['unfolded'] = '';
  return root;
}

/** What the tool was called with and answered: folded, and as the user left it. */
function callFold(
  { name, input, output }: NonNullable<Card['call']>,
  old: HTMLElement | undefined,
): HTMLElement {
  const root = el(
    'details',
    { class: 'tool card-call', data: { tool: name } },
    el('summary', {}, el('span', { class: 'tool-name' }, name), icon('chevron-right', 'chevron')),
    callBody(input, output),
  );
  root.open = old?.querySelector<HTMLDetailsElement>('.card-call')?.open === true;
  return root;
}

function stopButton({ label }: Card): HTMLElement {
  return el(
    'div',
    { class: 'buttons' },
    button({
      class: 'button secondary',
      label: l10n.t('Stop'),
      data: { action: 'stop' },
      aria: { label: l10n.t('Stop {0}', label) },
      onClick: () => post({ type: 'stop' }),
    }),
  );
}

/** Apply or, while the preview is stale, what has to be done first. */
function primaryButton({ id, revision, label, plan }: Card, { problem }: Pending): HTMLElement {
  const one = (text: string, of: string, action: string, onClick: () => void): HTMLElement =>
    button({ class: 'button primary', label: text, data: { action }, aria: { label: of }, onClick });
  if (problem?.kind === 'conflicts') {
    const of = l10n.t('Resolve the conflicts of {0}', label);
    return one(l10n.t('Resolve Conflicts'), of, 'edit', () => post({ type: 'edit', id }));
  }
  if (problem?.kind === 'stale')
    return one(l10n.t('Rebase'), l10n.t('Rebase {0}', label), 'rebase', () => post({ type: 'rebase', id }));
  const apply = (): void => post({ type: 'resolve', id, revision, action: 'apply' });
  return plan
    ? one(l10n.t('Approve'), l10n.t('Approve {0}', label), 'apply', apply)
    : one(l10n.t('Apply'), l10n.t('Apply {0}', label), 'apply', apply);
}

/** The buttons, and the input for a reason that one of them opens. */
function votes(card: Card, state: Pending, old: HTMLElement | undefined): HTMLElement {
  const { id, revision, label, plan } = card;
  const typed = old?.querySelector<HTMLInputElement>('.reason-input')?.value;
  const why = plan ? l10n.t('Send back {0}', label) : l10n.t('Discard {0} with a reason', label);
  const input = el('input', { class: 'reason-input', aria: { label: why } });
  input.placeholder = plan ? l10n.t('What should change?') : l10n.t('Reason (sent to the model)');
  const form = el('div', { class: 'reason-form' }, input);
  const discard = (): void => {
    const reason = input.value.trim();
    post({ type: 'resolve', id, revision, action: 'discard', ...(reason === '' ? {} : { reason }) });
  };
  const toggle = button({
    class: 'icon-button why',
    icon: 'comment',
    title: l10n.t('Discard with Reason'),
    data: { action: 'reason' },
    aria: { label: why, expanded: 'false' },
    onClick: () => show(form.hidden === true),
  });
  const show = (open: boolean): void => {
    form.hidden = !open;
    toggle.setAttribute('aria-expanded', String(open));
    (open ? input : opener).focus();
  };
  const no = button({
    class: 'button secondary',
    label: plan ? l10n.t('Send Back…') : l10n.t('Discard'),
    data: { action: 'discard' },
    aria: { label: plan ? why : l10n.t('Discard {0}', label) },
    onClick: () => (plan && form.hidden === true ? show(true) : discard()),
  });
  // A plan is sent back with what should change, which is asked first: that is its only way.
  const opener = plan ? no : toggle;
  input.addEventListener('keydown', event => {
    if (event.isComposing) return;
    if (event.key === 'Enter') discard();
    if (event.key === 'Escape') show(false);
  });
  form.hidden = typed === undefined || old?.querySelector<HTMLElement>('.reason-form')?.hidden !== false;
  toggle.setAttribute('aria-expanded', String(!form.hidden));
  input.value = typed ?? '';
  return el(
    'div',
    { class: 'votes' },
    el(
      'div',
      { class: 'buttons' },
      primaryButton(card, state),
      no,
      plan &&
        button({
          class: 'button secondary',
          label: l10n.t('Edit'),
          data: { action: 'edit' },
          onClick: () => post({ type: 'edit', id }),
        }),
      button({
        class: 'button secondary',
        label: l10n.t('Open'),
        data: { action: 'open' },
        aria: { label: l10n.t('Open {0}', label) },
        onClick: () => post({ type: 'open', id }),
      }),
      !plan && toggle,
    ),
    form,
  );
}
