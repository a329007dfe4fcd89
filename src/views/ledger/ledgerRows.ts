import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { previewView } from '../../agent/preview/previewView.ts';

/** One attempt to resolve a preview, as the list shows it. */
export interface LedgerRow {
  readonly entry: LedgerEntry;
  /** The title of its preview; without one, or once it is forgotten, the label of that moment. */
  readonly title: string;
  /** The button that the row offers; only the attempt that resolved its preview has one. */
  readonly offers: 'undo' | 'reopen' | undefined;
  /** Whether the preview is still in the store and can be opened. */
  readonly shows: boolean;
}

/** The last `limit` attempts, newest first. */
export function ledgerRows(store: PreviewStore, limit: number): readonly LedgerRow[] {
  return store
    .ledger()
    .slice(-limit)
    .reverse()
    .map(entry => {
      const preview = store.get(entry.previewId);
      const title = titleIn(store, entry);
      return { entry, title, offers: preview && offered(entry, preview), shows: preview !== undefined };
    });
}

/** How the user reads which preview an entry is about. */
export function titleIn(store: PreviewStore, { previewId, label }: LedgerEntry): string {
  return store.get(previewId)?.title ?? label;
}

/** Only for the attempt that resolved the preview. */
function offered({ outcome }: LedgerEntry, preview: Preview): LedgerRow['offers'] {
  const { remedy } = previewView(preview);
  if (outcome === 'applied' && remedy?.type === 'undo') return 'undo';
  return outcome === 'discarded' && remedy?.type === 'reopen' ? 'reopen' : undefined;
}
