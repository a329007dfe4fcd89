/**
 * The messages of a session. They are plain data, stored as JSON; each provider translates them into its server's wire
 * format.
 */

/** Why a request failed. The views choose the button to offer by it. */
export const providerFailureCodes = [
  'noModel',
  'unauthorized',
  'forbidden',
  'notFound',
  'badRequest',
  'contextLength',
  'noImages',
  'rateLimited',
  'unreachable',
  'server',
  'broken',
] as const;

export type ProviderFailureCode = (typeof providerFailureCodes)[number];

/** A tool call as the model wrote it. `arguments` is raw JSON text, which may be malformed. */
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

/** The largest image that can be attached, in bytes: the smallest limit of the large providers. */
export const MAX_IMAGE_BYTES = 5 * 1_048_576;

/** An image beside the log of its session. */
export interface ImageFile {
  /** Relative to the folder of the sessions, with slashes. */
  readonly file: string;
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly bytes: number;
}

/** A file, a range of its lines, or an image that the user attached to a prompt, with its content at that time. */
export interface Attachment {
  /** Workspace path; for an image any name. */
  readonly path: string;
  /** Set for an image, whose text is empty. */
  readonly image?: ImageFile;
  /** The first and the last line, counted from 1; absent for a whole file. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** Empty if it could not be read. */
  readonly text: string;
  /** A sentence for the model and the user on what the text lacks, and why. */
  readonly note?: string;
}

/** A prompt of the user. */
export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  /** The model's reasoning before its answer. Shown to the user; sent back only to servers that require it. */
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stopReason: StopReason;
  readonly usage?: TokenUsage;
  /** Set when `stopReason` is `error`: a sentence for the user. */
  readonly error?: string;
  /** The kind of failure, if the provider said so. */
  readonly errorCode?: ProviderFailureCode;
}

/** The one result of one tool call. */
export interface ToolResultMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
  readonly isError: boolean;
  /** An image that the call read. */
  readonly image?: ImageFile;
  /** Previews that wait for a decision after the call: those it staged or amended, or whose apply it recommends. */
  readonly pending?: readonly string[];
  /** Keys of the facts that it tells. */
  readonly tells?: readonly string[];
  /** For the views and the log; never sent to the model. */
  readonly details?: unknown;
}

/** Kinds of messages from the runtime to a model. `plan-on` and `plan-off` say that plan mode was switched. */
export const steeringKinds = [
  'resolve-reminder',
  'outcome',
  'revision',
  'notice',
  'revert',
  'problems',
  'instructions',
  'summary',
  'plan-on',
  'plan-off',
] as const;

export type SteeringKind = (typeof steeringKinds)[number];

/** A message of the runtime to the model. Sent in the user role. */
export interface SteeringMessage {
  readonly role: 'steering';
  /** Only a `notice` and a `summary` are also shown to the user. */
  readonly kind: SteeringKind;
  readonly text: string;
  /** The previews that the message is about. */
  readonly previewIds: readonly string[];
  /** The keys of the facts in it: the model reads each once. Absent in messages of older versions. */
  readonly tells?: readonly string[];
  /** Of a summary: the id of the last node on the trunk that it stands for. */
  readonly through?: number;
}

/**
 * A command such as `/apply` that the user typed, and its answer. It is shown and stored, but never part of a request:
 * the model hears of outcomes in the same way as after a click.
 */
export interface LocalMessage {
  readonly role: 'local';
  /** The command as typed. */
  readonly text: string;
  /** Markdown. */
  readonly answer: string;
}

/** Why a branch is abandoned: a dead end, a finished exploration, a sealed sub-task, a checkpoint on a long trunk. */
export const revertCategories = ['failure', 'tangent', 'completion', 'step-summary'] as const;

export type RevertCategory = (typeof revertCategories)[number];

export type SessionMessage =
  UserMessage | AssistantMessage | ToolResultMessage | SteeringMessage | LocalMessage;

/** What a message says. */
export function messageText(message: SessionMessage): string {
  return message.role === 'tool' ? message.content : message.text;
}

/** The name of a tool as a model means it. Some servers leave control tokens in it, such as `read_file<|channel|>commentary`. */
export function toolNameOf(written: string): string {
  return written.replace(/<\|.*$/s, '').trim();
}
