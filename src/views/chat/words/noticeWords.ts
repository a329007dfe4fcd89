import * as l10n from '@vscode/l10n';
import type { ItemOf } from '../viewItem.ts';
import { plural } from '../../plainText.ts';

type Notice = ItemOf<'notice'>['notice'];

/** A notice of Redline, in the user's words. */
export function noticeText(notice: Notice): string {
  switch (notice.about) {
    case 'withheldTools': {
      const files = [...notice.files, ...(notice.isAll ? [] : ['…'])].join(', ');
      return l10n.t('This workspace is not trusted: its custom tools are not loaded ({0}).', files);
    }
    case 'notDecided':
      return l10n.t("The model didn't decide on {0}. It's up to you.", notice.label);
    case 'keptFailing':
      return l10n.t("Applying {0} kept failing. It's up to you.", notice.label);
    case 'stillApplied':
      return plural(
        l10n.t(
          '1 applied change is still in your files. The change below would undo it.|{0} applied changes are still in your files. The change below would undo them.',
        ),
        notice.count,
      );
    case 'interrupted':
      return l10n.t('The window was reloaded or closed in the middle of a turn.');
    case 'other':
      return notice.text;
  }
}
