import { quoted } from '../../base/safeName.ts';

/** The outcome of a question: the user's answer, or the reason why there is none. */
export type UserAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  /** The user sent a prompt, which waits for the turn to end. */
  | { readonly kind: 'prompted' }
  /** Where the user is, no question can be shown. */
  | { readonly kind: 'notShown' };

/** The outcome of its question, in words for the model. */
export function answerText(answer: UserAnswer, choices: readonly string[]): string {
  switch (answer.kind) {
    case 'answered': {
      const { text } = answer;
      return choices.includes(text) ? `The user chose ${quoted(text)}.` : `The user answered: "${text}"`;
    }
    case 'prompted':
      return 'The user has not answered, but sent a prompt, which you get when your turn ends. End your turn now.';
    case 'notShown':
      return 'Questions with choices cannot be shown where the user is. End your turn with the question as your closing words: the next prompt is the answer.';
  }
}
