import type { ChatRequest } from '../model/chatProvider.ts';
import type { SessionMessage } from '../model/messages.ts';
import { SYSTEM_PROMPT } from '../model/prompts.ts';
import type { Offer } from '../model/toolChoiceLadder.ts';
import { PLAN_MODE_PROMPT } from './planMode.ts';

/** What a conversation asks the model, as it stands. What people did here for themselves is not sent. */
export function requestOf(messages: readonly SessionMessage[], planMode: boolean, offer: Offer): ChatRequest {
  const system = planMode ? `${SYSTEM_PROMPT}\n\n${PLAN_MODE_PROMPT}` : SYSTEM_PROMPT;
  return { system, messages: messages.filter(({ role }) => role !== 'local'), ...offer };
}
