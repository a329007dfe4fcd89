import type { ChatRequest } from '../model/chatProvider.ts';
import type { SessionMessage } from '../model/messages.ts';
import { SYSTEM_PROMPT } from '../model/prompts.ts';
import type { Offer } from '../model/toolChoiceLadder.ts';
import type { ModelAuthority } from '../preview/preview.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { PLAN_MODE_PROMPT } from './planMode.ts';

/** What a conversation asks the model, as it stands. What people did here for themselves is not sent. */
export function requestOf(messages: readonly SessionMessage[], planMode: boolean, offer: Offer): ChatRequest {
  const system = planMode ? `${SYSTEM_PROMPT}\n\n${PLAN_MODE_PROMPT}` : SYSTEM_PROMPT;
  return { system, messages: messages.filter(({ role }) => role !== 'local'), ...offer };
}

/**
 * What the model may call: the same throughout a session, but in plan mode, which is read-only and submits by
 * `resolve`, and in Manual mode, where the human alone resolves.
 */
export function callableTools(
  registry: ToolRegistry,
  planMode: boolean,
  authority: ModelAuthority,
): readonly Tool[] {
  const tools = registry.createTools(undefined, { withResolve: planMode || authority !== 'none' });
  return planMode ? tools.filter(tool => tool.readOnly === true || tool.name === 'resolve') : tools;
}
