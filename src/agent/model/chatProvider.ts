import type {
  AssistantMessage,
  ProviderFailureCode,
  SessionMessage,
  TokenUsage,
  ToolCall,
} from './messages.ts';

/** A tool as it is offered to the model. `parameters` is a JSON Schema of type `object`. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What the model may or must call. `tool` names the one tool it must call. */
export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  | { readonly type: 'required' }
  | { readonly type: 'tool'; readonly name: string };

export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly SessionMessage[];
  readonly tools: readonly ToolSpec[];
  /** Left out: the server's default, which is `auto` when tools are offered. */
  readonly toolChoice?: ToolChoice;
}

export interface ProviderFailure {
  readonly code: ProviderFailureCode;
  /** A plain sentence for the person. */
  readonly message: string;
  /** Everything known, for the log. Never holds a key. */
  readonly detail: string;
  /** HTTP status, where there was one. */
  readonly status?: number;
}

/** A finished answer. Calls are in the order in which the model made them, each with a non-empty id. */
export interface ProviderAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stopReason: Extract<AssistantMessage['stopReason'], 'stop' | 'toolCalls' | 'length'>;
  readonly usage?: TokenUsage;
}

export type ProviderEvent =
  | { readonly type: 'text'; readonly delta: string }
  /** A tool call has begun to arrive; for display only, nothing may be executed on it. */
  | { readonly type: 'toolCall'; readonly name: string }
  | { readonly type: 'done'; readonly answer: ProviderAnswer }
  | { readonly type: 'error'; readonly failure: ProviderFailure }
  | { readonly type: 'aborted' };

/**
 * A source of answers. The stream never rejects: it ends with exactly one of `done`, `error` or `aborted`, and
 * nothing follows that event. A stream that breaks midway ends with `error`, and nothing half-parsed is handed out.
 */
export interface ChatProvider {
  /** Stable id, also the ladder's memory key: e.g. `openai:https://api.example/v1:model`, `offline`. */
  readonly id: string;
  /** For the model line of the chat panel, e.g. `gpt-5 (api.openai.com)`. */
  readonly label: string;
  /** Takes what was said word by word: neither ids of nodes nor tags are woven into it. */
  readonly isVerbatim?: boolean;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ProviderEvent>;
}
