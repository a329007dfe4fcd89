import { countText, type CountText } from '../../agent/base/countText.ts';
import type { Localiser } from '../../agent/base/localiser.ts';

/** What calls of a kind did. */
interface KindTexts {
  readonly count: CountText;
  /** With the name of the only file. */
  readonly of?: string;
}

type CallKind =
  | 'read'
  | 'searched'
  | 'checked'
  | 'changed'
  | 'deleted'
  | 'renamed'
  | 'ran'
  | 'voted'
  | 'votedDiscard'
  | 'reverted'
  | 'other';

/** What finished calls did, in words. */
export type CallTexts = Readonly<Record<CallKind, KindTexts>> & { readonly failed: string };

export function callTexts(l10n: Localiser): CallTexts {
  const texts = (forms: string, of?: string): KindTexts => ({
    count: countText(forms, l10n),
    ...(of === undefined ? {} : { of }),
  });
  return {
    read: texts(l10n.t('Read 1 file|Read {0} files'), l10n.t('Read {0}')),
    searched: texts(l10n.t('Searched once|Searched {0} times')),
    checked: texts(l10n.t('Checked the Problems|Checked the Problems {0} times')),
    changed: texts(l10n.t('Proposed a change|Proposed {0} changes'), l10n.t('Proposed a change to {0}')),
    deleted: texts(
      l10n.t('Proposed to delete a file|Proposed to delete {0} files'),
      l10n.t('Proposed to delete {0}'),
    ),
    renamed: texts(l10n.t('Proposed to rename a file|Proposed to rename {0} files')),
    ran: texts(l10n.t('Proposed a command|Proposed {0} commands')),
    voted: texts(l10n.t('Voted to apply|Voted to apply {0} times')),
    votedDiscard: texts(l10n.t('Voted to discard|Voted to discard {0} times')),
    reverted: texts(l10n.t('Went back|Went back {0} times')),
    other: texts(l10n.t('Called {1}|Called {1} {0} times')),
    failed: l10n.t('{0} failed'),
  };
}
