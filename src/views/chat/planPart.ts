import * as z from 'zod/mini';

/** What the card of a plan has beside that of any other preview, with the labels of its buttons. */
export const planPart = z.object({
  /** Markdown. */
  text: z.string(),
  /** Whether it is unfolded at first: the user edited it, so it is not the one that the answer above shows. */
  isUnfolded: z.boolean(),
  title: z.string(),
  approve: z.string(),
  sendBack: z.string(),
  /** With the plan's name, for screen readers. */
  approveLabel: z.string(),
  sendBackLabel: z.string(),
  /** What is asked before it is sent back. */
  question: z.string(),
  edit: z.string(),
});
export type PlanPart = z.infer<typeof planPart>;
