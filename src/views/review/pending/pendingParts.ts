import type { Agent } from '../../agent.ts';
import type { ProposalEdits } from '../documents/proposalEdits.ts';
import type { LookedAt } from '../lookedAt.ts';
import type { ReviewList } from '../reviewList.ts';

/** What the pending view is built on. */
export interface PendingParts extends Agent {
  readonly review: ReviewList;
  readonly looks: LookedAt;
  /** What is typed into proposals and not saved. */
  readonly edits: ProposalEdits;
}
