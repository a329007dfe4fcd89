import type { RevertRecord } from '../conversation/revert.ts';
import type { SessionState } from '../conversation/storage/sessionEntry.ts';
import type { SessionMessage, StopReason, ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { Preview } from '../preview/preview.ts';

/** What happens in a session, in order. Views follow these events; `Session.messages` is the authority. */
export type SessionEvent =
  | { readonly type: 'turn_start' }
  | { readonly type: 'turn_end'; readonly stopReason: StopReason }
  /** An answer has begun to arrive. */
  | { readonly type: 'message_start' }
  | { readonly type: 'message_update'; readonly delta: string }
  /** More of the reasoning that precedes the answer has arrived. */
  | { readonly type: 'reasoning_update'; readonly delta: string }
  /** A message of any kind was added to the session. */
  | { readonly type: 'message_end'; readonly message: SessionMessage }
  | { readonly type: 'tool_start'; readonly call: ToolCall }
  /** The progress of a long call, in a few words. */
  | { readonly type: 'tool_update'; readonly call: ToolCall; readonly progress: string }
  | { readonly type: 'tool_end'; readonly call: ToolCall; readonly result: ToolResultMessage }
  | { readonly type: 'preview_changed'; readonly preview: Preview }
  | { readonly type: 'state_changed'; readonly state: SessionState }
  | { readonly type: 'plan_mode_changed'; readonly on: boolean }
  /** A revert was applied or refused. If it was applied, `Session.messages` has changed. */
  | { readonly type: 'revert_applied'; readonly record: RevertRecord }
  /** Other instructions of the project are in force than before: see `Session.instructions`. */
  | { readonly type: 'instructions_changed' }
  /** The user renamed the conversation. */
  | { readonly type: 'renamed'; readonly title: string }
  /** Writing the conversation to its log failed. It continues in memory. */
  | { readonly type: 'storing_failed'; readonly error: unknown }
  /** Another conversation is open now, new or stored. Previews are not affected. */
  | { readonly type: 'reset' };
