import * as l10n from '@vscode/l10n';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { ItemOf } from '../../protocol.ts';
import { applyVerb, isRunAgain } from '../../../texts/previewWords.ts';
import { post } from '../host.ts';
import { button } from '../templates.ts';
import { isDoubtful, moreButton } from './turnCard.ts';

type Card = ItemOf<'preview'>;
type Pending = Extract<Card['state'], { kind: 'pending' }>;

/** The buttons and, for a plan, the input for the changes asked for. */
export function votes(card: Card, { problem }: Pending): TemplateResult {
  const { id, revision, label, plan } = card;
  const why = l10n.t('Send back {0}', label);
  const discard = (event: Event): void => {
    const reason = plan ? ReasonForm.of(event).input.value.trim() : '';
    post({ type: 'resolve', id, revision, action: 'discard', ...(reason === '' ? {} : { reason }) });
  };
  // A plan goes back only with the changes asked for, so ask first.
  const sendBack = (event: Event): void => {
    const form = ReasonForm.of(event);
    if (form.isOpen) discard(event);
    else form.toggle();
  };
  const no = plan
    ? button({ label: l10n.t('Send Back…'), of: why, action: 'discard', onClick: sendBack })
    : button({
        label: l10n.t('Discard'),
        of: l10n.t('Discard {0}', label),
        action: 'discard',
        onClick: discard,
      });
  return html`<div class="votes">
    <div class="buttons">
      ${primaryButton(card, problem)} ${no} ${plan ? editButton(id) : nothing}
      ${card.runs === 'sandbox' ? alwaysButton(card) : nothing} ${card.canCheck ? checkButton(card) : nothing}
      ${plan ? nothing : moreButton([id], label)}
    </div>
    ${plan ? reasonForm(why, discard) : nothing}
  </div>`;
}

/** Asks for the changes to a plan. */
function reasonForm(why: string, send: (event: Event) => void): TemplateResult {
  const handleKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Enter') send(event);
    if (event.key === 'Escape') ReasonForm.of(event).toggle();
  };
  return html`<div class="reason-form" hidden>
    <input
      class="reason-input"
      aria-label=${why}
      placeholder=${l10n.t('What should change?')}
      @keydown=${handleKey}
    />
  </div>`;
}

/** Apply or, while the preview is stale, the step needed first. */
function primaryButton(card: Card, problem: Pending['problem']): TemplateResult {
  const { id, revision, label, face } = card;
  const isAgain = isRunAgain(problem);
  const style = isDoubtful(card) || isAgain ? 'secondary' : 'primary';
  const one = (text: string, of: string, action: string, onClick: () => void): TemplateResult =>
    button({ label: text, of, action, style, onClick });
  if (problem?.kind === 'conflicts') {
    const of = l10n.t('Resolve the conflicts of {0}', label);
    return one(l10n.t('Resolve Conflicts'), of, 'edit', () => post({ type: 'edit', id }));
  }
  if (problem?.kind === 'stale')
    return one(l10n.t('Rebase'), l10n.t('Rebase {0}', label), 'rebase', () => post({ type: 'rebase', id }));
  const apply = (): void => post({ type: 'resolve', id, revision, action: 'apply' });
  const verb = applyVerb(face, problem);
  const of =
    face === 'change' && !isAgain
      ? l10n.t('Apply {0}', label)
      : face === 'approve'
        ? l10n.t('Approve {0}', label)
        : l10n.t('{0}: {1}', verb, label);
  return one(verb, of, 'apply', apply);
}

/** Applies the command, and lets the agent run later ones on its own. */
function alwaysButton({ id, revision, label }: Card): TemplateResult {
  return button({
    label: l10n.t('Always Run in the Sandbox Here'),
    action: 'always',
    of: l10n.t('Run {0}, and always run commands in the sandbox here', label),
    onClick: () => post({ type: 'alwaysRunHere', id, revision }),
  });
}

function checkButton({ id, label }: Card): TemplateResult {
  return button({
    label: l10n.t('Run Checks'),
    of: l10n.t('Run Checks: {0}', label),
    action: 'runChecks',
    target: id,
    onClick: () => post({ type: 'runChecks', id }),
  });
}

function editButton(id: string): TemplateResult {
  const label = l10n.t('Edit');
  return button({ label, of: label, action: 'edit', onClick: () => post({ type: 'edit', id }) });
}

/** The input for a reason among the buttons of a card. Only its elements store its text, and whether it is open. */
class ReasonForm {
  readonly input: HTMLInputElement;
  readonly #form: HTMLElement;
  /** Element that opens it, and gets the focus back when it closes. */
  readonly #opener: HTMLElement;

  /** The form of the card in which the event happened. */
  static of({ currentTarget }: Event): ReasonForm {
    const votes = currentTarget instanceof Element ? currentTarget.closest('.votes') : null;
    if (!votes) throw new Error('There are no votes around it.');
    return new ReasonForm(votes);
  }

  private constructor(votes: Element) {
    const find = <T extends HTMLElement>(selector: string): T => {
      const found = votes.querySelector<T>(selector);
      if (!found) throw new Error(`There is no ${selector}.`);
      return found;
    };
    this.input = find('.reason-input');
    this.#form = find('.reason-form');
    this.#opener = find('[data-action="discard"]');
  }

  get isOpen(): boolean {
    return !this.#form.hidden;
  }

  toggle(): void {
    const open = !this.isOpen;
    this.#form.hidden = !open;
    (open ? this.input : this.#opener).focus();
  }
}
