import type { Agent } from '../agent.ts';
import type { ProposalEdits } from '../review/documents/proposalEdits.ts';
import type { LookedAt } from '../review/lookedAt.ts';
import type { ReviewList } from '../review/reviewList.ts';

/** What the pending view is built on. */
export interface PendingParts extends Agent {
  readonly review: ReviewList;
  readonly looks: LookedAt;
  /** What is typed into proposals and not saved. */
  readonly edits: ProposalEdits;
  /** The folder of this window's storage. */
  readonly storage: string;
}
