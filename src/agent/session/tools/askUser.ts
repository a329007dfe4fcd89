import * as z from 'zod/mini';
import { textResult } from '../../hold/preview/pendingAction.ts';
import type { UserAnswer } from './answerText.ts';
import { defineTool, type Tool } from './tool.ts';

/** Asks the user, until the signal aborts. */
export type AskUser = (
  question: string,
  choices: readonly string[],
  signal: AbortSignal,
) => Promise<UserAnswer>;

/** `ask_user`: the user picks one of several choices, or answers in words of their own. */
export function askUserTool(ask: AskUser): Tool {
  const text = z.string().check(z.minLength(1), z.maxLength(1_000));
  return defineTool({
    name: 'ask_user',
    label: 'Ask the User',
    description: 'Ask the user what only they can decide. Put the best choice first.',
    parameters: z.object({
      question: text,
      choices: z.array(text).check(z.minLength(2), z.maxLength(6)),
    }),
    readOnly: true,
    async execute({ question, choices }, { signal }) {
      const answer = await ask(question, choices, signal);
      const { answerText } = await import('./answerText.ts');
      return textResult(
        answerText(answer, choices),
        answer.kind === 'answered' ? { answer: answer.text } : undefined,
      );
    },
  });
}
