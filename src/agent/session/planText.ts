import { beginningOf } from '../base/cutText.ts';
import { oneLine } from '../base/foreignText.ts';
import { quoted } from '../base/safeName.ts';
import { PLAN_MODE_ENDED } from '../hold/preview/resolve/refusedVoteTexts.ts';
import type { SessionMessage } from './model/messages.ts';

/** The longest title, in characters. */
const MAX_TITLE = 80;

/** The results of the model's votes on its plan. */
export const planTexts = {
  ended: PLAN_MODE_ENDED,
  none: 'No plan is submitted. Continue planning, and submit the plan when it is ready.',
  waits:
    'The plan is submitted already and waits for the user; this call changed nothing. Do nothing until the user has decided. To submit another one instead, first call resolve with action "discard".',
  empty: 'The plan is empty. Write it as Markdown in the message that submits it.',
  submitted: (title: string): string =>
    `The plan ${quoted(title)} is submitted. The user approves it or sends it back, and you will be told. Do nothing until then.`,
} as const;

/** The model's last text since the user's last prompt or last decision on a plan; empty if there is none. */
export function latestAnswerText(
  messages: readonly SessionMessage[],
  isPlan: (previewId: string) => boolean = () => false,
): string {
  const spoke = messages.findLastIndex(
    message =>
      message.role === 'user' ||
      (message.role === 'steering' && message.kind === 'outcome' && message.previewIds.some(isPlan)),
  );
  const since = messages.slice(spoke + 1);
  const last = since.findLast(message => message.role === 'assistant' && message.text !== '');
  return last?.role === 'assistant' ? last.text : '';
}

/** The title that the model gave if it is usable, else the plan's first heading, else `plan`. */
export function planTitle(given: unknown, text: string): string {
  const usable = typeof given === 'string' ? titleOf(given) : '';
  const heading = /^#\s+(.+)$/m.exec(text)?.[1] ?? '';
  return usable || titleOf(heading) || 'plan';
}

function titleOf(text: string): string {
  return beginningOf(oneLine(text, Infinity), MAX_TITLE);
}
