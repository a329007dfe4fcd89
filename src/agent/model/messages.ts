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

/** A file, or a range of its lines, that a person sent along, as it was then. */
export interface Attachment {
  /** Workspace path. */
  readonly path: string;
  /** The first and the last line, counted from 1; left out for a whole file. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** Empty if it could not be read. */
  readonly text: string;
  /** What is missing of it and why, in a sentence for the model and the person. */
  readonly note?: string;
}

/** The person's own words, and what was sent along. */
export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
  readonly attachments?: readonly Attachment[];
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
  readonly kind: 'resolve-reminder' | 'outcome' | 'revision' | 'notice' | 'revert';
  readonly text: string;
  /** The previews that the message speaks of. */
  readonly previewIds: readonly string[];
}

/**
 * What a person did here by typing a command such as `/apply`, and what came of it. Shown and stored; never part of a
 * request: the model hears of outcomes as it does after a click.
 */
export interface LocalMessage {
  readonly role: 'local';
  /** The command as typed. */
  readonly text: string;
  /** Markdown. */
  readonly answer: string;
}

export type SessionMessage =
  UserMessage | AssistantMessage | ToolResultMessage | SteeringMessage | LocalMessage;
