import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { Preview } from '../../agent/preview/preview.ts';

/** One attempt to resolve, as it is shown. */
export interface LedgerRow {
  readonly entry: LedgerEntry;
  /** What can be brought back from here; only the attempt that resolved a preview offers anything. */
  readonly offers: 'undo' | 'reopen' | undefined;
  /** Whether the preview is still known and can be shown. */
  readonly shows: boolean;
}

export interface LedgerSource {
  ledger(): readonly LedgerEntry[];
  get(id: string): Preview | undefined;
}

/** The newest `limit` attempts, the newest first. */
export function ledgerRows(store: LedgerSource, limit: number): readonly LedgerRow[] {
  return store
    .ledger()
    .slice(-limit)
    .reverse()
    .map(entry => {
      const preview = store.get(entry.previewId);
      return { entry, offers: preview && offered(entry, preview), shows: preview !== undefined };
    });
}

function offered(entry: LedgerEntry, { state, changes }: Preview): LedgerRow['offers'] {
  if (!changes) return undefined;
  if (entry.outcome === 'applied' && state.kind === 'applied') return 'undo';
  if (entry.outcome === 'discarded' && state.kind === 'discarded') return 'reopen';
  return undefined;
}
