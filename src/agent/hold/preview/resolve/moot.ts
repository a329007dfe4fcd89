import type { Fact } from '../feed.ts';
import { isOpen, isStale, type Preview } from '../preview.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';

/**
 * Whether nobody needs to be told a fact any more: a rebase or a split matters only while the preview is open at that revision; a
 * stale base only while the preview is stale and nothing else says so. Text that the user typed into a proposal always matters.
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

/** Whether {@link isMoot} depends on the end of an attempt on the preview: the listener gets the fact only then. */
export function waitsForAttempt({ kind }: Fact, preview: Preview | undefined): boolean {
  return (kind === 'stale' || kind === 'fresh') && isUnderAttempt(preview);
}

function isUnderAttempt(preview: Preview | undefined): boolean {
  return preview?.state.kind === 'applying';
}
