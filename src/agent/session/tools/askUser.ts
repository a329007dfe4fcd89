import * as z from 'zod/mini';
import { quoted } from '../../base/safeName.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';

/** The outcome of a question: the user's answer, or the reason why there is none. */
export type UserAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  /** The user sent a prompt, which waits for the turn to end. */
  | { readonly kind: 'prompted' }
  /** Where the user is, no question can be shown. */
  | { readonly kind: 'notShown' };

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
      switch (answer.kind) {
        case 'answered': {
          const { text } = answer;
          const said = choices.includes(text)
            ? `The user chose ${quoted(text)}.`
            : `The user answered: "${text}"`;
          return textResult(said, { answer: text });
        }
        case 'prompted':
          return textResult(
            'The user has not answered, but sent a prompt, which you get when your turn ends. End your turn now.',
          );
        case 'notShown':
          return textResult(
            'Questions with choices cannot be shown where the user is. End your turn with the question as your closing words: the next prompt is the answer.',
          );
      }
    },
  });
}
