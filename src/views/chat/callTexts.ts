import type { Localiser } from './strings.ts';

/** What calls of a kind did. */
interface KindTexts {
  readonly one: string;
  readonly many: string;
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
  return {
    read: { one: l10n.t('Read 1 file'), many: l10n.t('Read {0} files'), of: l10n.t('Read {0}') },
    searched: { one: l10n.t('Searched once'), many: l10n.t('Searched {0} times') },
    checked: { one: l10n.t('Checked the Problems'), many: l10n.t('Checked the Problems {0} times') },
    changed: {
      one: l10n.t('Proposed a change'),
      many: l10n.t('Proposed {0} changes'),
      of: l10n.t('Proposed a change of {0}'),
    },
    deleted: {
      one: l10n.t('Proposed to delete a file'),
      many: l10n.t('Proposed to delete {0} files'),
      of: l10n.t('Proposed to delete {0}'),
    },
    renamed: { one: l10n.t('Proposed to rename a file'), many: l10n.t('Proposed to rename {0} files') },
    ran: { one: l10n.t('Proposed a command'), many: l10n.t('Proposed {0} commands') },
    voted: { one: l10n.t('Voted to apply'), many: l10n.t('Voted to apply {0} times') },
    votedDiscard: { one: l10n.t('Voted to discard'), many: l10n.t('Voted to discard {0} times') },
    reverted: { one: l10n.t('Went back'), many: l10n.t('Went back {0} times') },
    other: { one: l10n.t('Called {1}'), many: l10n.t('Called {1} {0} times') },
    failed: l10n.t('{0} failed'),
  };
}
