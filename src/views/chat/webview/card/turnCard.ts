import * as l10n from '@vscode/l10n';
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { isRed } from '../../../texts/checkWords.ts';
import { recommendationText } from '../../../texts/previewWords.ts';
import type { ItemOf } from '../../protocol.ts';
import { rowStateText, turnName, turnStateText, turnWaitingText } from '../../words/turnWords.ts';
import { checkList } from '../checkList.ts';
import { post } from '../host.ts';
import { button, first, icon, note, stat } from '../templates.ts';
import { fileButton } from './fileRow.ts';
import { STATE_ICONS } from './stateIcons.ts';

type Turn = ItemOf<'turn'>;

/** Renders the card of a turn, in its old element if it has one: unchanged parts stay, and with them the focus. */
export function renderTurn(turn: Turn, old: HTMLElement | undefined): HTMLElement {
  const root = old ?? document.createElement('article');
  root.className = `item card turn ${turn.state}`;
  Object.assign(root.dataset, { kind: 'turn', state: turn.state });
  root.setAttribute('aria-label', turnName(turn));
  root.tabIndex = -1;
  render(content(turn), root);
  return root;
}

function content(turn: Turn): TemplateResult {
  const { agent, title, risks = [], advice = [] } = turn;
  const who = title === undefined ? agent : `${agent ?? ''}: ${title}`;
  const state = turnStateText(turn);
  // A mixed turn in which nothing is applied looks discarded.
  const look = turn.state === 'mixed' && turn.counts.applied === 0 ? 'discarded' : turn.state;
  return html`
    ${first(turnWaitingText(turn))}
    <div class="card-header">
      ${icon(STATE_ICONS[look], turn.state === 'applying' ? 'codicon-modifier-spin state-icon' : 'state-icon')}
      <span class="card-label">${turnName({ ...turn, state: 'pending' })}</span>
      ${turn.stat ? stat(turn.stat) : nothing} ${checkList(turn.checks, turn.key)}
    </div>
    <ul class="files">
      ${turn.rows.map(row)}
      ${turn.more > 0 ? html`<li class="more">${l10n.t('and {0} more', turn.more)}</li>` : nothing}
    </ul>
    ${who === undefined ? nothing : note('agent', 'robot', l10n.t('Proposed by {0}', who))}
    ${risks.map(text => note('risk', 'warning', text))}
    ${advice.map(each => note('recommendation', 'lightbulb', recommendationText(each, String)))}
    ${state === undefined ? nothing : html`<div class="card-state">${state}${why(turn.reason)}</div>`}
    ${buttons(turn)}
  `;
}

function why(reason: string | undefined): TemplateResult | typeof nothing {
  return reason === undefined ? nothing : html`<span class="card-reason">: ${reason}</span>`;
}

function row(file: Turn['rows'][number]): TemplateResult {
  const { id, state } = file;
  const text = rowStateText(file);
  return html`<li class="turn-row ${state}" data-preview-id=${id} data-state=${state}>
    ${fileButton(file, id, text)}
    ${file.reason === undefined ? nothing : note('details', 'comment', file.reason)}
    ${file.error === undefined ? nothing : note('last-error', 'error', file.error)}
  </li>`;
}

function buttons(turn: Turn): TemplateResult {
  const { ids, open, undo, key } = turn;
  const name = turnName(turn);
  const isOpen = open.length > 0;
  const review = {
    label: l10n.t('Review'),
    of: l10n.t('Review {0}', name),
    action: 'open',
    target: key,
    onClick: () => post({ type: 'openTurn', ids: isOpen ? open : ids }),
  };
  const undoAll = {
    label: l10n.t('Undo'),
    of: l10n.t('Undo {0}', name),
    action: 'undoTurn',
    target: key,
    onClick: () => post({ type: 'undoTurn', ids: undo }),
  };
  return html`<div class="votes buttons">
    ${button({ ...review, style: isOpen && !isDoubtful(turn) ? 'primary' : 'secondary' })}
    ${!isOpen && undo.length > 0 ? button(undoAll) : nothing} ${moreButton(ids, name)}
  </div>`;
}

/** Whether a check failed or there are risks to read first: then no button invites a click. */
export function isDoubtful({ checks = [], risks = [] }: Pick<Turn, 'checks' | 'risks'>): boolean {
  return risks.length > 0 || checks.some(isRed);
}

/** Opens the list of further actions on these. */
export function moreButton(ids: readonly string[], name: string): TemplateResult {
  return html`<button
    type="button"
    class="icon-button more-actions"
    title=${l10n.t('More…')}
    data-action="more"
    aria-label=${l10n.t('More for {0}', name)}
    aria-haspopup="listbox"
    @click=${() => post({ type: 'more', ids: [...ids] })}
  >
    ${icon('ellipsis')}
  </button>`;
}
