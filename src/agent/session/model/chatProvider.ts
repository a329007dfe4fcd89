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

/** The tools that the model may or must call. `tool` names the one tool it must call. */
export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  | { readonly type: 'required' }
  | { readonly type: 'tool'; readonly name: string };

export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly SessionMessage[];
  readonly tools: readonly ToolSpec[];
  /** If left out, the server's default applies, which is `auto` when tools are offered. */
  readonly toolChoice?: ToolChoice;
}

export interface ProviderFailure {
  readonly code: ProviderFailureCode;
  /** A plain sentence for the user. */
  readonly message: string;
  /** All details, for the log. Never contains a key. */
  readonly detail: string;
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** With the code `contextLength`: the size of the model's context window in tokens, if the server named it. */
  readonly contextWindow?: number;
}

/** Why a request is sent again after a wait. */
export type RetryCode = Extract<ProviderFailureCode, 'rateLimited' | 'server'>;

/** A complete answer. Calls are in the order in which the model made them, each with a non-empty id. */
export interface ProviderAnswer {
  readonly text: string;
  /** The reasoning before the answer, if the server sends it. */
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stopReason: Extract<AssistantMessage['stopReason'], 'stop' | 'toolCalls' | 'length'>;
  readonly usage?: TokenUsage;
}

export type ProviderEvent =
  /** The server refused the request for now. It is sent again after `delayMs` milliseconds. */
  | { readonly type: 'retrying'; readonly delayMs: number; readonly code: RetryCode }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'done'; readonly answer: ProviderAnswer }
  | { readonly type: 'error'; readonly failure: ProviderFailure }
  | { readonly type: 'aborted' };

/**
 * A model that answers requests. The stream never rejects: its last event is exactly one `done`, `error` or `aborted`.
 * A stream that breaks midway ends with `error`, and no half-parsed call is returned.
 */
export interface ChatProvider {
  /**
   * A stable id, by which the tool-choice ladder remembers the provider, e.g. `openai:https://api.example/v1:model`,
   * `vscode-lm:vendor/model`, `offline`.
   */
  readonly id: string;
  /** For the model line of the chat panel, e.g. `gpt-5 (api.openai.com)`. */
  readonly label: string;
  /** Whether the provider needs messages exactly as they were written, without node ids and tags in the text. */
  readonly isVerbatim?: boolean;
  /**
   * The size of the model's context window in tokens: the limit for a request and its answer together or, if the model counts them
   * apart, for a request alone. Settles with `undefined` if it is not known. Asked before each request, so the provider caches the
   * answer. Never rejects.
   */
  contextWindow?(signal: AbortSignal): Promise<number | undefined>;
  /** Whether a request cannot name the tool to call: the tool-choice ladder then begins with `required`. */
  readonly lacksNamedChoice?: boolean;
  /**
   * @param onSent called with the body of each request that the provider sends in a form of its own. The body contains no key, and
   *   only the sizes of images.
   */
  stream(
    request: ChatRequest,
    signal: AbortSignal,
    onSent?: (body: unknown) => void,
  ): AsyncIterable<ProviderEvent>;
}
