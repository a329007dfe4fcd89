import type { Session } from '../agent/session/session.ts';
import type { UserAnswer } from '../agent/session/tools/answerText.ts';
import type { Questions } from './questions.ts';

/**
 * Asks the question of `ask_user`; a newer prompt from the user also ends it. See `AskUser`.
 * @throws the abort error when the signal fires.
 */
export async function askUser(
  { questions, session }: { readonly questions: Questions; readonly session: Session },
  text: string,
  choices: readonly string[],
  signal: AbortSignal,
): Promise<UserAnswer> {
  const prompted = new AbortController();
  const older = new Set(session.queue.list.map(({ id }) => id));
  const following = session.onDidEmit(event => {
    if (event.type === 'queue_changed' && session.queue.list.some(({ id }) => !older.has(id)))
      prompted.abort();
  });
  try {
    const ended = AbortSignal.any([signal, prompted.signal]);
    const answer = await questions.ask({ about: 'choice', text, choices }, ended);
    if (answer !== undefined) return { kind: 'answered', text: answer };
    signal.throwIfAborted();
    return { kind: prompted.signal.aborted ? 'prompted' : 'notShown' };
  } finally {
    following.dispose();
  }
}
