import * as vscode from 'vscode';
import { messageOf } from '../../../agent/base/errors.ts';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { problemOf } from '../../../agent/hold/preview/previewView.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';
import { sentenceFor } from '../../texts/errorSentence.ts';
import { problemText } from '../../texts/previewWords.ts';

/** How many are named. */
const MAX_NAMED = 3;

/** A preview that was not resolved as requested. */
export interface Left {
  readonly id: string;
  /** Error that refused its vote; absent if no vote was cast. */
  readonly error?: unknown;
  /** Whether the vote was for an older revision than the current one. */
  readonly isOutdated?: boolean;
}

/** Names the previews that votes have left pending, and says why. */
export function leftText(left: readonly Left[], { store, edits }: Ctx): string {
  const { l10n } = vscode;
  const texts = left.slice(0, MAX_NAMED).flatMap(one => {
    const preview = store.get(one.id);
    if (!preview) return [];
    const name = `“${oneLine(titleOf(preview), 80)}”`;
    const why = edits.hasUnsaved(preview.id)
      ? l10n.t('It has edits that you have not saved.')
      : whyLeft(preview, one);
    return why === '' ? `${name}.` : `${name}: ${why}`;
  });
  const more = left.length - MAX_NAMED;
  return [...texts, ...(more > 0 ? [l10n.t('and {0} more', more)] : [])].join(' ');
}

function whyLeft(preview: Preview, { error, isOutdated }: Left): string {
  const problem = problemOf(preview);
  if (problem && problem.kind !== 'failed') return problemText(problem, oneLine);
  if (isOutdated) return vscode.l10n.t('It has changed since it was shown.');
  if (problem) return problemText(problem, oneLine);
  return error === undefined ? '' : oneLine(sentenceFor(error, vscode.l10n) ?? messageOf(error));
}
