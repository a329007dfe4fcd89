import type { LedgerEntry } from '../../../agent/hold/preview/ledger.ts';
import type { Actor, Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { previewView } from '../../../agent/hold/preview/previewView.ts';
import { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';

/** One attempt to resolve a preview, as the list shows it. */
export interface LedgerRow {
  readonly entry: LedgerEntry;
  /** The title of its preview; if the preview has none or is forgotten, the label that the entry recorded. */
  readonly title: string;
  /** The actor who has undone the apply. */
  readonly undoneBy: Actor | undefined;
  /** The button that the row offers; only the attempt that resolved its preview has one. */
  readonly offers: 'undo' | 'redo' | 'reopen' | undefined;
  /** The preview that the button is for. */
  readonly target: string;
  /** Whether the preview is still in the store and can be opened. */
  readonly shows: boolean;
}

/** These attempts, the newest first. */
export function ledgerRows(
  store: Pick<PreviewStore, 'get' | 'all'>,
  entries: readonly LedgerEntry[],
): readonly LedgerRow[] {
  const lineage = new Lineage(store.all());
  return entries.toReversed().map(entry => {
    const preview = store.get(entry.previewId);
    const title = preview?.title ?? entry.label;
    const became = preview ? becomes(entry, preview, lineage) : nothing(entry);
    return { entry, title, ...became, shows: preview !== undefined };
  });
}

type Became = Pick<LedgerRow, 'undoneBy' | 'offers' | 'target'>;

function nothing({ previewId }: LedgerEntry): Became {
  return { undoneBy: undefined, offers: undefined, target: previewId };
}

/** Later fate of an outcome; an attempt that did not resolve the preview has none. */
function becomes(entry: LedgerEntry, preview: Preview, lineage: Lineage): Became {
  const { outcome, remedy } = previewView(preview, lineage.factsOf(preview));
  const isOf = { undo: 'applied', redo: 'applied', reopen: 'discarded' } as const;
  const isOffered = remedy !== undefined && isOf[remedy.type] === entry.outcome;
  return {
    undoneBy: entry.outcome === 'applied' && outcome.kind === 'undone' ? outcome.actor : undefined,
    offers: isOffered ? remedy.type : undefined,
    target: isOffered ? remedy.id : preview.id,
  };
}
