import * as vscode from 'vscode';
import type { LedgerEntry } from '../../../agent/hold/preview/ledger.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { execute } from '../../commandRegistry.ts';
import { oneLine } from '../../plainText.ts';
import { showWarning } from '../../toast.ts';
import { errorTexts } from './ledgerText.ts';

/** Tells the user that an applied change did not stay, and offers the preview, which is pending again. */
export async function tellLost(entry: LedgerEntry, store: PreviewStore): Promise<void> {
  const { previewId } = entry;
  const preview = store.get(previewId);
  const name = oneLine(preview ? titleOf(preview) : entry.label);
  const { l10n } = vscode;
  const said = l10n.t('{0} was applied, but did not stay, and is pending again.', name);
  const open = l10n.t('Open');
  const text = [said, ...errorTexts(entry)].join(' ');
  if ((await showWarning(text, open)) === open) await execute('redline.preview.open', previewId);
}
