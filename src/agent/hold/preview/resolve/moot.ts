import type { Fact } from '../feed.ts';
import { isOpen, isStale, type Preview } from '../preview.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';

/**
 * Whether there is nothing left to tell of it: a rebase or a split matters only while the preview is open and at that
 * revision, and that it became stale while it is and nothing else says so. What the user typed into a proposal always matters.
 */
export function isMoot(fact: Fact, preview: Preview | undefined): boolean {
  switch (fact.kind) {
    case 'attempt':
    case 'expiry':
      return false;
    case 'revision':
      if (preview && isOpen(preview) && preview.revision === fact.revision) return false;
      return fact.by !== 'user' || fact.patch === undefined;
    case 'stale':
      if (fact.isSaid || conflictPaths(preview?.changes ?? []).length > 0) return true;
      return !isStale(preview) && !isUnderAttempt(preview);
    case 'fresh':
      return !preview || !isOpen(preview) || isStale(preview);
  }
}

/** Whether it depends on how an attempt on the preview ends if this is {@link isMoot}: whoever is to be told is told then. */
export function waitsForAttempt({ kind }: Fact, preview: Preview | undefined): boolean {
  return (kind === 'stale' || kind === 'fresh') && isUnderAttempt(preview);
}

function isUnderAttempt(preview: Preview | undefined): boolean {
  return preview?.state.kind === 'applying';
}
