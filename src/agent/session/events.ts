import type { Preview } from '../preview/preview.ts';
import type { RevertRecord } from '../tree/revert.ts';
import type { SessionMessage, StopReason, ToolCall, ToolResultMessage } from '../model/messages.ts';

/**
 * `awaitingReview`: the model ended its turn and previews of this session are pending. Prompts are taken in every
 * state.
 */
export type SessionState = 'idle' | 'running' | 'awaitingReview';

/** What happens in a session, in order. Views follow these; the truth is `Session.messages`. */
export type SessionEvent =
  | { readonly type: 'turn_start' }
  | { readonly type: 'turn_end'; readonly stopReason: StopReason }
  /** An answer begins to arrive. */
  | { readonly type: 'message_start' }
  | { readonly type: 'message_update'; readonly delta: string }
  /** A message was added to the session: a prompt, an answer, a result or a steering message. */
  | { readonly type: 'message_end'; readonly message: SessionMessage }
  | { readonly type: 'tool_start'; readonly call: ToolCall }
  /** How far a long call is, in a few words. */
  | { readonly type: 'tool_update'; readonly call: ToolCall; readonly progress: string }
  | { readonly type: 'tool_end'; readonly call: ToolCall; readonly result: ToolResultMessage }
  | { readonly type: 'preview_changed'; readonly preview: Preview }
  | { readonly type: 'state_changed'; readonly state: SessionState }
  | { readonly type: 'plan_mode_changed'; readonly on: boolean }
  /** A request to go back was taken out, and applied or not: if it was, `Session.messages` are others now. */
  | { readonly type: 'revert_applied'; readonly record: RevertRecord }
  /** A person gave the conversation another name. */
  | { readonly type: 'renamed'; readonly title: string }
  /** The conversation cannot be written any more, or can be again; it goes on in memory. */
  | { readonly type: 'storing_failed' }
  /** The session was emptied: all messages are gone from the conversation, previews are not. */
  | { readonly type: 'reset' };
