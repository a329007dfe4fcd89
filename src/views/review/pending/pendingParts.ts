import type { Agent } from '../../agent.ts';
import type { ProposalEdits } from '../documents/proposalEdits.ts';
import type { LookedAt } from '../lookedAt.ts';
import type { ReviewList } from '../reviewList.ts';

/** Dependencies of the pending view. */
export interface PendingParts extends Agent {
  readonly review: ReviewList;
  readonly looks: LookedAt;
  /** Unsaved typing in proposals. */
  readonly edits: ProposalEdits;
}
