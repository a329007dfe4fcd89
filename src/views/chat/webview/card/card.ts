import * as l10n from '@vscode/l10n';
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { hasSucceeded } from '../../../texts/previewWords.ts';
import type { ItemOf } from '../../protocol.ts';
import {
  cardName,
  cardNotes,
  cardState,
  isMixed,
  isOpen,
  partName,
  partsText,
  reasonOf,
  stateText,
  waitingText,
} from '../../words/cardWords.ts';
import { post } from '../host.ts';
import { renderMarkdown } from '../markdown/markdown.ts';
import { button, first, icon, note, stat } from '../templates.ts';
import { checkList } from '../checkList.ts';
import { fileButton } from './fileRow.ts';
import { STATE_ICONS } from './stateIcons.ts';
import { votes } from './votes.ts';

type Card = ItemOf<'preview'>;

const NOTE_ICONS = {
  recommendation: 'lightbulb',
  conflicts: 'warning',
  stale: 'warning',
  'last-error': 'error',
} as const;
const WHERE_ICONS = { sandbox: 'shield', copy: 'copy', disk: 'terminal' } as const;

/**
 * Renders a preview's card, in its old element if it has one: unchanged parts stay, and with them the focus, folds and a half-typed
 * reason.
 */
export function renderCard(card: Card, old: HTMLElement | undefined): HTMLElement {
  const root = old ?? document.createElement('article');
  const { kind } = card.state;
  root.className = `item card ${lookOf(card)}`;
  const { id: previewId, revision } = card;
  Object.assign(root.dataset, { kind: 'preview', previewId, state: kind, revision });
  root.setAttribute('aria-label', cardName(card));
  root.tabIndex = -1;
  render(content(card), root);
  return root;
}

function content(card: Card): TemplateResult {
  const { state, label, parts, remedy } = card;
  return html`
    ${first(waitingText(card))} ${header(card)}
    ${isOpen(card) && card.files.length > 1 ? fileList(card) : nothing} ${checkList(card.checks, card.id)}
    ${notes(card)} ${parts ? partList(parts, label) : nothing} ${output(card)} ${plan(card)}
    ${state.kind === 'pending' ? votes(card, state) : nothing}
    ${remedy && !parts ? remedyButton(label, remedy) : nothing} ${runOnDiskButton(card)}
  `;
}

/** Look of a card: that of its state, unless a part of it was applied or its command failed. */
function lookOf(card: Card): keyof typeof STATE_ICONS {
  if (hasFailedRun(card)) return 'failed';
  return card.parts && isMixed(card.parts.counts) ? 'mixed' : card.state.kind;
}

/** Whether its command ran and did not end well. */
function hasFailedRun({ state }: Card): boolean {
  return 'run' in state && state.run !== undefined && !hasSucceeded(state.run);
}

function header(card: Card): TemplateResult {
  const { id, label, files } = card;
  const { kind } = card.state;
  const stateIcon = STATE_ICONS[lookOf(card)];
  const shown = card.stat ?? (files.length > 1 ? undefined : files[0]?.stat);
  // A path wraps after a slash rather than within a word.
  const breakable = label.split(/(?<=\/)/).map((part, i) => (i === 0 ? part : html`<wbr />${part}`));
  return html`<div class="card-header">
    ${icon(stateIcon, kind === 'applying' ? 'codicon-modifier-spin state-icon' : 'state-icon')}
    <button
      type="button"
      class="card-label"
      title=${label}
      aria-label=${l10n.t('Open {0}', label)}
      @click=${() => post({ type: 'open', id })}
    >
      ${breakable}
    </button>
    ${shown ? stat(shown) : nothing}
  </div>`;
}

function fileList({ id, files, moreFiles }: Card): TemplateResult {
  return html`<ul class="files">
    ${files.map(file => html`<li>${fileButton(file, id)}</li>`)}
    ${moreFiles > 0 ? html`<li class="more">${l10n.t('and {0} more', moreFiles)}</li>` : nothing}
  </ul>`;
}

function notes(card: Card): readonly (TemplateResult | typeof nothing)[] {
  const reason = reasonOf(card);
  const why = reason === undefined ? nothing : html`<span class="card-reason">: ${reason}</span>`;
  const state = cardState(card);
  return [
    card.agent === undefined ? nothing : note('agent', 'robot', l10n.t('Proposed by {0}', card.agent)),
    card.note === undefined ? nothing : note('details', 'info', card.note),
    ...(card.risks ?? []).map(text => note('risk', 'warning', text)),
    card.runs === undefined ? nothing : note('where', WHERE_ICONS[card.runs], whereText(card.runs)),
    ...cardNotes(card).map(([kind, text]) => note(kind, NOTE_ICONS[kind], text)),
    state === undefined ? nothing : html`<div class="card-state">${state}${why}</div>`,
  ];
}

/** Parts resolved separately, each with its outcome and the button that takes it back. */
function partList(parts: NonNullable<Card['parts']>, label: string): TemplateResult {
  const counts = partsText(parts);
  const row = (part: (typeof parts.rows)[number]): TemplateResult => {
    const { kind } = part.state;
    const state = [stateText(part), reasonOf(part)].filter(text => text !== undefined).join(': ');
    return html`<li class="part ${kind}" data-preview-id=${part.id} data-state=${kind}>
      ${icon(STATE_ICONS[kind], 'state-icon')}
      <span class="part-text">
        <span class="part-label">${partName(part)}</span>
        <span class="part-state">${state}</span>
      </span>
      ${part.remedy ? remedyButton(`${partName(part)}, ${label}`, part.remedy) : nothing}
    </li>`;
  };
  return html`<div class="parts">
    <div class="parts-text">${counts}</div>
    <ul aria-label=${counts}>
      ${repeat(parts.rows, ({ id }) => id, row)}
    </ul>
  </div>`;
}

/** Undo or Reopen, on a resolved preview. */
function remedyButton(name: string, { type, id }: NonNullable<Card['remedy']>): TemplateResult {
  const [label, of] = {
    undo: [l10n.t('Undo'), l10n.t('Undo {0}', name)],
    redo: [l10n.t('Apply Again'), l10n.t('Apply {0} again', name)],
    reopen: [l10n.t('Reopen'), l10n.t('Reopen {0}', name)],
  }[type] as [string, string];
  const onClick = (): void => post({ type: type === 'redo' ? 'undo' : type, id });
  return html`<div class="remedy">${button({ label, of, action: type, target: id, onClick })}</div>`;
}

function whereText(where: NonNullable<Card['runs']>): string {
  switch (where) {
    case 'sandbox':
      return l10n.t('In the sandbox: nothing on disk changes, and there is no network.');
    case 'copy':
      return l10n.t('In a copy of the workspace, which is not isolated.');
    case 'disk':
      return l10n.t('On disk, for real.');
  }
}

/** Button that repeats a sandboxed command, such as an install, on the disk. */
function runOnDiskButton({ id, label, runs, state }: Card): TemplateResult | typeof nothing {
  if (state.kind !== 'applied' || runs === undefined || runs === 'disk') return nothing;
  const onClick = (): void => post({ type: 'runOnDisk', id });
  const of = l10n.t('Run {0} on disk', label);
  return html`<div class="remedy">
    ${button({ label: l10n.t('Run on Disk…'), of, action: 'runOnDisk', target: id, onClick })}
  </div>`;
}

/** The output of a command: unfolded while it runs, and as the user left it afterwards. */
function output({ id, output: text, canStop, label }: Card): TemplateResult | typeof nothing {
  if (text === undefined) return nothing;
  const result = l10n.t('Result');
  const stop = { label: l10n.t('Stop'), of: l10n.t('Stop {0}', label), action: 'stop' };
  return html`
    <details class="card-output" ${ref(canStop ? unfold : undefined)}>
      <summary>${result}</summary>
      <pre tabindex="0" role="region" aria-label=${result} ${ref(canStop ? scrollDown() : undefined)}>
${text}</pre>
    </details>
    ${
      canStop
        ? html`<div class="buttons">
            ${button({ ...stop, onClick: () => post({ type: 'stopCommand', id }) })}
          </div>`
        : nothing
    }
  `;
}

/** Called once for each fold, so that the user can close it. */
function unfold(fold: Element | undefined): void {
  if (fold instanceof HTMLDetailsElement) fold.open = true;
}

/** Scrolls down to the newest output. Each render passes a new function, so that `ref` calls it again. */
function scrollDown(): (text: Element | undefined) => void {
  return text => requestAnimationFrame(() => text?.scrollTo({ top: text.scrollHeight }));
}

/** The plan as rendered Markdown, in a fold. A fold that the user opened stays open. */
function plan({ plan }: Card): TemplateResult | typeof nothing {
  if (!plan) return nothing;
  const title = l10n.t('Plan');
  const body = ref(element => element instanceof HTMLElement && renderMarkdown(element, plan.text));
  return html`<details class="plan" ?open=${plan.isUnfolded}>
    <summary>${icon('checklist')}<span>${title}</span>${icon('chevron-right', 'chevron')}</summary>
    <div class="markdown plan-body" role="region" tabindex="0" aria-label=${title} ${body}></div>
  </details>`;
}
