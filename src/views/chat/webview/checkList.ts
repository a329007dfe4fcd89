import * as l10n from '@vscode/l10n';
import { html, nothing, type TemplateResult } from 'lit-html';
import { checkSentence, checkText, inARow } from '../../texts/checkWords.ts';
import type { CheckRow } from '../viewItem.ts';
import { post } from './host.ts';

/** The checks on a preview, or on all pending ones: each a button that opens its output. */
export function checkList(
  checks: readonly CheckRow[] | undefined,
  target: string,
): TemplateResult | typeof nothing {
  if (!checks) return nothing;
  return html`<ul class="checks" aria-label=${l10n.t('Checks')}>
    ${inARow(checks).map(check => html`<li>${checkButton(check, target)}</li>`)}
  </ul>`;
}

function checkButton(check: CheckRow, target: string): TemplateResult {
  const { state, isCurrent, resultId } = check;
  const sentence = checkSentence(check, String);
  const open = resultId === undefined ? '' : ` ${l10n.t('Opens its output.')}`;
  return html`<button
    type="button"
    class="check ${state} ${isCurrent ? '' : 'outdated'}"
    data-check=${check.name}
    data-target=${target}
    title=${sentence}
    aria-label=${sentence + open}
    ?disabled=${resultId === undefined}
    @click=${() => resultId !== undefined && post({ type: 'checkOutput', result: resultId })}
  >
    ${checkText(check, String)}
  </button>`;
}
