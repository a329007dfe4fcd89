import type { RetryCode } from '../../../agent/session/model/chatProvider.ts';
import type { ToolResultMessage } from '../../../agent/session/model/messages.ts';
import type { SessionEvent } from '../../../agent/session/events.ts';

/**
 * Part of the screen that a session event changes: nothing, the end of the streaming answer, the progress line of a running
 * tool, or anything.
 */
export type Effect = 'none' | 'text' | 'progress' | 'all';

/** An answer while it streams. */
export interface Arriving {
  readonly text: string;
  readonly reasoning: string;
}

/** A request that the server refused for now. */
export interface Retry {
  /** When it is sent again, in milliseconds since the epoch. */
  readonly at: number;
  readonly code: RetryCode;
}

const NOTHING: Arriving = { text: '', reasoning: '' };

/** The parts of the running turn that are not in the session's messages yet. */
export class LiveTurn {
  #text = '';
  #reasoning = '';
  #fresh: Arriving = NOTHING;
  #summarizing = false;
  #retry: Retry | undefined;
  readonly #progress = new Map<string, string>();
  readonly #results = new Map<string, ToolResultMessage>();

  /** Text of the streaming answer so far; empty between answers. */
  get arriving(): Arriving {
    return { text: this.#text, reasoning: this.#reasoning };
  }

  /** Text that has arrived since the last call. Unlike {@link arriving}, it is short however long the answer is. */
  takeFresh(): Arriving {
    const fresh = this.#fresh;
    this.#fresh = NOTHING;
    return fresh;
  }

  /** Whether earlier messages are being summarized. */
  get summarizing(): boolean {
    return this.#summarizing;
  }

  /** The wait before the request is sent again, until the server has answered. */
  get retry(): Retry | undefined {
    return this.#retry;
  }

  /** The progress of a running call, if it reports any. */
  progress(callId: string): string | undefined {
    return this.#progress.get(callId);
  }

  /** The result of a finished call that is not in the session yet. */
  result(callId: string): ToolResultMessage | undefined {
    return this.#results.get(callId);
  }

  follow(event: SessionEvent): Effect {
    switch (event.type) {
      case 'message_start': {
        // The text of a failed answer is dropped: another answer is on its way.
        const effect = this.#text === '' && this.#reasoning === '' ? 'none' : 'all';
        this.#clear();
        return effect;
      }
      case 'retrying':
        this.#retry = { at: Date.now() + event.delayMs, code: event.code };
        return 'all';
      case 'message_update':
        this.#summarizing = false;
        return this.#grow(event.delta, '');
      case 'reasoning_update':
        return this.#grow('', event.delta);
      case 'message_end':
        this.#summarizing = false;
        this.#retry = undefined;
        if (event.message.role === 'assistant') {
          this.#clear();
        } else if (event.message.role === 'tool') {
          this.#results.delete(event.message.toolCallId);
        }
        return 'all';
      case 'tool_start':
        return 'all';
      case 'tool_update':
        this.#progress.set(event.call.id, event.progress);
        return 'progress';
      case 'tool_end':
        this.#progress.delete(event.call.id);
        this.#results.set(event.call.id, event.result);
        return 'all';
      case 'turn_start':
      case 'turn_end':
      case 'reset':
        this.#clear();
        this.#summarizing = false;
        this.#retry = undefined;
        this.#progress.clear();
        this.#results.clear();
        return 'all';
      case 'summarizing':
        this.#summarizing = true;
        return 'all';
      case 'preview_changed':
      case 'state_changed':
      case 'plan_mode_changed':
      case 'queue_changed':
      case 'revert_applied':
      case 'instructions_changed':
        return 'all';
      case 'prompts_returned':
      case 'renamed':
      case 'storing_failed':
      case 'storing_recovered':
        return 'none';
    }
  }

  /** The first words make a new item. */
  #grow(text: string, reasoning: string): Effect {
    const isFirst = this.#text === '' && this.#reasoning === '';
    this.#retry = undefined;
    this.#text += text;
    this.#reasoning += reasoning;
    this.#fresh = { text: this.#fresh.text + text, reasoning: this.#fresh.reasoning + reasoning };
    return isFirst ? 'all' : 'text';
  }

  #clear(): void {
    this.#text = '';
    this.#reasoning = '';
    this.#fresh = NOTHING;
  }
}
