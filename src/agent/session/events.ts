import { detailOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { RecorderListeners } from './conversation/storage/recorder.ts';
import type { RevertRecord } from './conversation/revert.ts';
import type { SessionState } from './conversation/storage/sessionEntry.ts';
import type { RetryCode } from './model/chatProvider.ts';
import type { SessionMessage, StopReason, ToolCall, ToolResultMessage } from './model/messages.ts';
import type { Preview } from '../hold/preview/preview.ts';
import type { PromptQueueEvent } from './waiting/promptQueue.ts';

/** The events of a session, in order. Views follow them; `Session.messages` is the authority. */
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
  | PromptQueueEvent
  /** A revert was applied or refused. If it was applied, `Session.messages` has changed. */
  | { readonly type: 'revert_applied'; readonly record: RevertRecord }
  /** The project instructions in force have changed: see `Session.requests`. */
  | { readonly type: 'instructions_changed' }
  /** The beginning of the conversation is being summarized, because the next request would not fit. Ends with the next message. */
  | { readonly type: 'summarizing' }
  /** The model's server refused the request for now. It is sent again after `delayMs` milliseconds. */
  | { readonly type: 'retrying'; readonly delayMs: number; readonly code: RetryCode }
  /** The user renamed the conversation. */
  | { readonly type: 'renamed'; readonly title: string }
  /**
   * Writing the conversation to its log failed. It continues in memory, and the waiting entries are written later, unless `isLost`:
   * a part of it can never be written.
   */
  | { readonly type: 'storing_failed'; readonly error: unknown; readonly isLost: boolean }
  /** Writing works again for all conversations. */
  | { readonly type: 'storing_recovered' }
  /** Another conversation is open now, new or stored. Previews are not affected. */
  | { readonly type: 'reset' };

/** Logs the state of writing the conversations, and turns it into events. */
export function storingEvents(logger: Logger, emit: (event: SessionEvent) => void): RecorderListeners {
  return {
    onFailure: error => {
      logger.error(`Storing the session failed: ${detailOf(error)}`);
      emit({ type: 'storing_failed', error, isLost: false });
    },
    onRecovery: () => emit({ type: 'storing_recovered' }),
    onLoss: error => {
      logger.error(`Part of the session can never be stored: ${detailOf(error)}`);
      emit({ type: 'storing_failed', error, isLost: true });
    },
  };
}
