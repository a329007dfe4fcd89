import type { Event } from '../../base/event.ts';
import { blockOf, needsOwnVote, type Preview } from './preview.ts';

/** How many previews one vote on several would resolve, and why others cannot be applied. */
export interface SetVotes {
  /** Previews that Apply would apply: not those that need a vote of their own or would be refused, nor any built on these. */
  readonly apply: number;
  readonly discard: number;
  readonly stale: number;
  readonly conflicts: number;
  /** Previews whose proposal a person is editing and has not saved. */
  readonly edited: number;
}

/** Whether a person has typed something into the proposal of this preview and not saved it. */
export type IsEdited = (id: string) => boolean;

/** Proposals with edits that are not saved. */
export interface UnsavedEdits {
  hasUnsaved(previewId: string): boolean;
  readonly onDidChangeUnsaved: Event<unknown>;
}

/**
 * Effect of a vote on all of these. Previews that are not pending do not count.
 * @param open all open previews, on which they may build
 */
export function setVotes(
  these: Iterable<Preview>,
  { open = these, isEdited = () => false }: { open?: Iterable<Preview>; isEdited?: IsEdited } = {},
): SetVotes {
  const pending = new Map<string, Preview>();
  for (const preview of open) if (preview.state.kind === 'pending') pending.set(preview.id, preview);
  const known = new Map<string, boolean>();
  const isApplied = (preview: Preview): boolean => {
    const before = known.get(preview.id);
    if (before !== undefined) return before;
    known.set(preview.id, true); // breaks a cycle, should a log ever contain one
    const isFree = !needsOwnVote(preview) && !blockOf(preview) && !isEdited(preview.id);
    const is = isFree && preview.dependsOn.every(isBelowApplied);
    known.set(preview.id, is);
    return is;
  };
  const isBelowApplied = (id: string): boolean => {
    const below = pending.get(id);
    return below === undefined || isApplied(below);
  };
  const all = [...these].filter(({ id }) => pending.has(id));
  const blocks = all.map(blockOf);
  const count = (why: 'conflicts' | 'stale'): number => blocks.filter(block => block === why).length;
  return {
    apply: all.filter(isApplied).length,
    discard: all.length,
    stale: count('stale'),
    conflicts: count('conflicts'),
    edited: all.filter(({ id }) => isEdited(id)).length,
  };
}
