import { escapeInvisible } from '../../../plainText.ts';
import { fill } from '../../../../agent/base/localiser.ts';
import type { FileRow, ItemOf } from '../../protocol.ts';
import { callBody } from '../calls.ts';
import { cardName } from './cardNews.ts';
import { button, el, icon, statOf, withBreaks } from '../dom.ts';
import { editPlanButton, planFold } from './plan.ts';
import type { Port } from '../port.ts';

type Card = ItemOf<'preview'>;

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
export function renderCard(card: Card, old: HTMLElement | undefined, port: Port): HTMLElement {
  const root = el('article', {
    class: `item card ${card.state}`,
    data: { kind: 'preview', previewId: card.id, state: card.state, revision: String(card.revision) },
    aria: { label: cardName(card) },
    tabIndex: -1,
  });
  root.append(header(card, port));
  if (isOpen(card) && card.files.length > 0) root.append(fileList(card, port));
  for (const note of notes(card)) root.append(note);
  if (card.parts.length > 0) root.append(partList(card, port));
  if (card.output !== '') root.append(output(card, old, port));
  if (card.canStop) root.append(stopButton(card, port));
  if (card.plan) root.append(planFold(card.plan, old, port));
  if (card.state === 'pending') root.append(votes(card, old, port));
  if (card.remedy && card.parts.length === 0) root.append(remedyButton(card.label, card.remedy, port));
  if (card.call) root.append(callFold(card.call, old, port));
  return root;
}

function isOpen({ state }: Card): boolean {
  return state === 'pending' || state === 'applying';
}

function header(card: Card, port: Port): HTMLElement {
  const { strings } = port;
  // A resolved card lists no files: the stat of a single file moves up here.
  const stat = card.stat ?? (isOpen(card) || card.files.length > 1 ? undefined : card.files[0]?.stat);
  const open = button({
    class: 'card-label',
    title: card.label,
    aria: { label: fill(strings.openLabel, card.label) },
    onClick: () => port.post({ type: 'open', id: card.id }),
  });
  open.append(...withBreaks(card.label));
  return el(
    'div',
    { class: 'card-header' },
    icon(
      STATE_ICONS[card.state],
      card.state === 'applying' ? 'codicon-modifier-spin state-icon' : 'state-icon',
    ),
    open,
    stat && statOf(stat),
    el('span', { class: 'card-id', title: card.source }, card.id),
  );
}

function fileList(card: Card, port: Port): HTMLElement {
  const list = el('ul', { class: 'files' }, ...card.files.map(file => fileRow(file, card, port)));
  if (card.moreFiles !== '') list.append(el('li', { class: 'more' }, card.moreFiles));
  return list;
}

function fileRow(file: FileRow, card: Card, port: Port): HTMLElement {
  const path = escapeInvisible(file.path);
  const slash = path.lastIndexOf('/');
  const name = el('span', { class: 'file-name' }, path.slice(slash + 1));
  const folder = slash < 0 ? undefined : el('span', { class: 'file-folder' }, path.slice(0, slash));
  const title = file.from === undefined ? path : `${escapeInvisible(file.from)} → ${path}`;
  const row = el(
    'button',
    {
      class: `file ${file.change}`,
      title: `${title} (${file.changeLabel})`,
      onClick: () => port.post({ type: 'open', id: card.id, path: file.path }),
    },
    icon(CHANGE_ICONS[file.change], 'change-icon'),
    el('span', { class: 'file-path' }, name, folder),
    el('span', { class: 'hidden' }, ` ${file.changeLabel} `),
    file.stat && statOf(file.stat),
  );
  row.type = 'button';
  return el('li', {}, row);
}

function notes(card: Card): HTMLElement[] {
  const note = (kind: string, name: string, text: string): HTMLElement[] =>
    text === '' ? [] : [el('div', { class: `card-note ${kind}` }, icon(name), el('span', {}, text))];
  return [
    ...note('agent', 'robot', card.agent),
    ...note('details', 'info', card.note),
    ...note('recommendation', 'lightbulb', card.recommendation),
    ...note('conflicts', 'warning', card.conflicts),
    ...note('stale', 'warning', card.stale),
    ...note('last-error', 'error', card.lastError),
    ...(card.stateText === ''
      ? []
      : [
          el(
            'div',
            { class: 'card-state' },
            card.stateText,
            card.reason !== '' && el('span', { class: 'card-reason' }, `: ${card.reason}`),
          ),
        ]),
  ];
}

/** The output of a command: unfolded while it runs, and as the user left it afterwards. */
function output(card: Card, old: HTMLElement | undefined, { strings }: Port): HTMLElement {
  const text = el('pre', { tabIndex: 0, role: 'region', aria: { label: strings.output } }, card.output);
  const root = el('details', { class: 'card-output' }, el('summary', {}, strings.output), text);
  const before = old?.querySelector<HTMLDetailsElement>('.card-output');
  root.open = before ? before.open : card.canStop;
  // The newest output is below.
  if (card.canStop) requestAnimationFrame(() => text.scrollTo({ top: text.scrollHeight }));
  return root;
}

/** Undo or Reopen, on what is resolved. */
function remedyButton(
  label: string,
  { type, id }: NonNullable<Card['remedy']>,
  { strings, post }: Port,
): HTMLElement {
  return el(
    'div',
    { class: 'remedy' },
    button({
      class: 'button secondary',
      label: strings[type],
      data: { action: type, of: id },
      aria: { label: fill(strings[`${type}Label`], label) },
      onClick: () => post({ type: type === 'redo' ? 'undo' : type, id }),
    }),
  );
}

/** What was resolved by itself, each with how, and with the button that takes it back. */
function partList(card: Card, port: Port): HTMLElement {
  return el(
    'div',
    { class: 'parts' },
    el('div', { class: 'parts-text' }, card.partsText),
    el(
      'ul',
      { aria: { label: card.partsText } },
      ...card.parts.map(({ id, label, state, stateText, reason, remedy }) =>
        el(
          'li',
          { class: `part ${state}`, data: { previewId: id, state } },
          icon(STATE_ICONS[state], 'state-icon'),
          el(
            'span',
            { class: 'part-text' },
            el('span', { class: 'part-label' }, label),
            el('span', { class: 'part-state' }, reason === '' ? stateText : `${stateText}: ${reason}`),
          ),
          remedy && remedyButton(`${label}, ${card.label}`, remedy, port),
        ),
      ),
    ),
  );
}

/** What the tool was called with and answered: folded, and as the user left it. */
function callFold(
  { name, input, output }: NonNullable<Card['call']>,
  old: HTMLElement | undefined,
  port: Port,
): HTMLElement {
  const root = el(
    'details',
    { class: 'tool card-call', data: { tool: name } },
    el('summary', {}, el('span', { class: 'tool-name' }, name), icon('chevron-right', 'chevron')),
    callBody(input, output, port),
  );
  root.open = old?.querySelector<HTMLDetailsElement>('.card-call')?.open === true;
  return root;
}

function stopButton({ label }: Card, { strings, post }: Port): HTMLElement {
  return el(
    'div',
    { class: 'buttons' },
    button({
      class: 'button secondary',
      label: strings.stop,
      data: { action: 'stop' },
      aria: { label: fill(strings.stopLabel, label) },
      onClick: () => post({ type: 'stop' }),
    }),
  );
}

/** Apply or, while the preview is stale, what has to be done first. */
function primaryButton(
  { id, revision, label, conflicts, stale, plan }: Card,
  { strings, post }: Port,
): HTMLElement {
  if (conflicts !== '')
    return button({
      class: 'button primary',
      label: strings.resolveConflicts,
      data: { action: 'edit' },
      aria: { label: fill(strings.resolveConflictsLabel, label) },
      onClick: () => post({ type: 'edit', id }),
    });
  if (stale !== '')
    return button({
      class: 'button primary',
      label: strings.rebase,
      data: { action: 'rebase' },
      aria: { label: fill(strings.rebaseLabel, label) },
      onClick: () => post({ type: 'rebase', id }),
    });
  return button({
    class: 'button primary',
    label: plan?.approve ?? strings.apply,
    data: { action: 'apply' },
    aria: { label: fill(plan?.approveLabel ?? strings.applyLabel, label) },
    onClick: () => post({ type: 'resolve', id, revision, action: 'apply' }),
  });
}

/** The buttons, and the input for a reason that one of them opens. */
function votes(card: Card, old: HTMLElement | undefined, port: Port): HTMLElement {
  const { strings, post } = port;
  const { id, revision, label, plan } = card;
  const typed = old?.querySelector<HTMLInputElement>('.reason-input')?.value;
  const input = el('input', {
    class: 'reason-input',
    aria: { label: fill(plan?.sendBackLabel ?? strings.discardReasonLabel, label) },
  });
  input.placeholder = plan?.question ?? strings.discardReasonPlaceholder;
  const form = el('div', { class: 'reason-form' }, input);
  const discard = (): void => {
    const reason = input.value.trim();
    post({ type: 'resolve', id, revision, action: 'discard', ...(reason === '' ? {} : { reason }) });
  };
  const toggle = button({
    class: 'icon-button why',
    icon: 'comment',
    title: strings.discardReason,
    data: { action: 'reason' },
    aria: { label: fill(strings.discardReasonLabel, label), expanded: 'false' },
    onClick: () => show(form.hidden === true),
  });
  const show = (open: boolean): void => {
    form.hidden = !open;
    toggle.setAttribute('aria-expanded', String(open));
    (open ? input : opener).focus();
  };
  const no = button({
    class: 'button secondary',
    label: plan?.sendBack ?? strings.discard,
    data: { action: 'discard' },
    aria: { label: fill(plan?.sendBackLabel ?? strings.discardLabel, label) },
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
      primaryButton(card, port),
      no,
      plan && editPlanButton(plan, id, port),
      button({
        class: 'button secondary',
        label: strings.open,
        data: { action: 'open' },
        aria: { label: fill(strings.openLabel, label) },
        onClick: () => post({ type: 'open', id }),
      }),
      !plan && toggle,
    ),
    form,
  );
}
