import * as l10n from '@vscode/l10n';
import { byText } from '../../texts/previewWords.ts';
import type { ItemOf } from '../protocol.ts';
import { plural } from '../../plainText.ts';

type Block = ItemOf<'resolve'>;

/** `Accept: Edit cart.ts`, the outcome of a call of `resolve`. */
export function resolveTitle(block: Block): string {
  const name = blockName(block) ?? l10n.t('pending action');
  switch (block.outcome) {
    case 'running':
      return l10n.t('Resolving: {0}', name);
    case 'accept':
      return l10n.t('Accept: {0}', name);
    case 'discard':
      return l10n.t('Discard: {0}', name);
    case 'failed':
      return l10n.t('Failed: {0}', name);
    case 'recommendApply':
      return l10n.t('Recommends Apply: {0}', name);
    case 'recommendDiscard':
      return l10n.t('Recommends Discard: {0}', name);
    case 'submit':
      return l10n.t('Submits for approval: {0}', name);
  }
}

/**
 * The name of a preview in a block: the title, as on its card, or else the label that the model knows; for several, their number.
 */
function blockName({ label, title, count = 1 }: Block): string | undefined {
  if (count > 1) return plural(l10n.t('1 change|{0} changes'), count);
  return title ?? label;
}

/** `edit_file, by the model` */
export function resolveSource({ source, actor }: Block): string {
  const who = byText(actor, undefined);
  return source === undefined ? who : l10n.t('{0}, {1}', source, who);
}

/** Details beyond the outcome and its reason. */
export function resolveDetail({ detail }: Block): string | undefined {
  switch (detail?.kind) {
    case undefined:
      return undefined;
    case 'finishedLater':
      return l10n.t('It finished after the call was interrupted.');
    case 'returnedError':
      return l10n.t('It was applied, and returned an error: {0}', detail.message);
    case 'notDone':
      return detail.action === 'apply'
        ? l10n.t('It failed, and was not applied: {0}', detail.message)
        : l10n.t('It failed, and was not discarded: {0}', detail.message);
    case 'interrupted':
      return l10n.t('It was interrupted.');
    case 'refused':
      return l10n.t('It was not carried out. The agent was told why.');
    case 'late':
      return l10n.t('It was too late: nothing was left to decide.');
    case 'partly':
      return l10n.t('Only a part of it was carried out.');
  }
}
