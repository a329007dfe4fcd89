/**
 * What a session is made of. Messages are plain data: they are stored as JSON, and each adapter translates them
 * into its server's wire format.
 */

/** Why a request failed; the views choose the button that helps by it. */
export const providerFailureCodes = [
  'noModel',
  'unauthorized',
  'notFound',
  'badRequest',
  'rateLimited',
  'unreachable',
  'server',
  'broken',
] as const;

export type ProviderFailureCode = (typeof providerFailureCodes)[number];

/** One call of a tool as the model wrote it. `arguments` is the raw JSON text: it may be malformed. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Tokens as counted by the server. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why a model's turn ended. */
export type StopReason = 'stop' | 'toolCalls' | 'length' | 'aborted' | 'error';

/** The person's own words. */
export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stopReason: StopReason;
  readonly usage?: TokenUsage;
  /** Set when `stopReason` is `error`: a sentence for the person. */
  readonly error?: string;
  /** Which kind of failure it was, where the provider said so. */
  readonly errorCode?: ProviderFailureCode;
}

/** The one result of one tool call. */
export interface ToolResultMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
  readonly isError: boolean;
  /** For the views and the log; never sent to the model. */
  readonly details?: unknown;
}

/** Said to the model by the runtime, not by the person. Sent in the user role. */
export interface SteeringMessage {
  readonly role: 'steering';
  /** A `notice` is shown to the person too; the other kinds are not. */
  readonly kind: 'resolve-reminder' | 'outcome' | 'revision' | 'notice';
  readonly text: string;
  /** The previews that the message speaks of. */
  readonly previewIds: readonly string[];
}

export type SessionMessage = UserMessage | AssistantMessage | ToolResultMessage | SteeringMessage;
