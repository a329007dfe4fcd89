import * as vscode from 'vscode';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { LEDGER_SCHEME } from '../../contributions.ts';

const uri = vscode.Uri.from({ scheme: LEDGER_SCHEME, path: `/${vscode.l10n.t('Redline Ledger')}` });

/** Serves the whole ledger as a read-only document, which is updated when previews are resolved. */
export function registerLedgerDocument(store: PreviewStore): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    provideTextDocumentContent: async () => {
      const { ledgerText } = await import('./ledgerText.ts');
      return ledgerText(store);
    },
  };
  return vscode.Disposable.from(
    changed,
    store.onDidResolve(() => changed.fire(uri)),
    vscode.workspace.registerTextDocumentContentProvider(LEDGER_SCHEME, provider),
  );
}

export async function openLedgerDocument(): Promise<void> {
  await vscode.window.showTextDocument(uri, { preview: true });
}
