import * as z from 'zod/mini';
import { ToolError } from '../../base/errors.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import type { ReviewComment } from '../../hold/preview/reviewComments.ts';
import { defineTool, type Tool } from '../../session/tools/tool.ts';

/** The comments of the user on an agent's previews, and where its answers go. */
export interface AskedComments {
  all(): readonly ReviewComment[];
  answer(id: string, text: string): void;
}

/** Answers a comment of the user. Without this tool, only a new proposal could. */
export function answerTool(comments: AskedComments): Tool {
  return defineTool({
    name: 'answer',
    label: 'Answer',
    description:
      'Answer a comment of the user on one of your previews. They read it below the comment. Where the comment asks for a ' +
      'change, propose that, too.',
    parameters: z.object({
      comment: z.string().check(z.describe('Its number, as status lists it, e.g. "c1".')),
      text: z.string().check(z.minLength(1), z.maxLength(10_000)),
    }),
    async execute({ comment, text }) {
      if (!comments.all().some(({ id }) => id === comment))
        throw new ToolError(
          `${comment} is not a comment on your previews. Call status to list those that are.`,
        );
      comments.answer(comment, text.trim());
      return textResult(`Your answer to ${comment} is shown to the user.`);
    },
  });
}
