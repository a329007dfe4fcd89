import type { LedgerEntry } from '../preview/ledger.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { resolutionOf, type Resolution } from './sessionTrail.ts';
import type { StoredSession } from './storedSession.ts';

/**
 * What became of a stored conversation's previews while it was not there to hear of it: another one was open, or the
 * process ended between two logs. Says nothing of previews whose content was forgotten since.
 */
export function missedResolutions(
  { id, previews, trail }: Pick<StoredSession, 'id' | 'previews' | 'trail'>,
  store: Pick<PreviewStore, 'get' | 'ledger'>,
): readonly Resolution[] {
  // The previews of a window beside the one that keeps the storage have the same ids as others here.
  const isOurs = ({ previewId }: LedgerEntry): boolean => {
    const preview = store.get(previewId);
    return preview?.origin
      ? preview.origin.sessionId === id
      : preview !== undefined && previews.has(previewId);
  };
  const keyOf = ({ previewId, at, outcome }: Resolution): string => `${previewId} ${at} ${outcome}`;
  const heard = new Set(trail.resolutions.map(keyOf));
  return store
    .ledger()
    .filter(entry => !heard.has(keyOf(entry)) && isOurs(entry))
    .map(resolutionOf);
}
