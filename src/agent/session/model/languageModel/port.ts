import type { Logger } from '../../../base/logger.ts';
import type { ToolSpec } from '../chatProvider.ts';
import type { ReadImage, SentImage } from '../sentImages.ts';
import type { Fault } from './fault.ts';

/** A part of a message. `arguments` is JSON text of an object. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: SentImage }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'result'; readonly callId: string; readonly text: string };

/** A message to the model. There are no other roles, so everything that is not the model's own is the user's. */
export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly MessagePart[];
}

/** A part of the model's answer, unchecked, as it arrives. `other` is a kind of part that Redline does not know. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: unknown }
  | { readonly type: 'call'; readonly id: unknown; readonly name: unknown; readonly input: unknown }
  | { readonly type: 'other' };

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** `required`: the model must call a tool. With more than one tool, most models refuse that. */
  readonly mode: 'auto' | 'required';
}

/** The part of `vscode.LanguageModelChat` that the adapter needs. */
export interface LanguageModel {
  /** The most tokens of one request; 0 if the model does not report it. */
  readonly maxInputTokens: number;
  /** Whether it takes images, and this VS Code can pass them on. False if either is not known. */
  readonly takesImages: boolean;
  /**
   * Asks for the user's consent if it was not given yet. Rejects if the request cannot be made; the stream rejects if the
   * answer fails later. Both may throw anything. An abort cancels the request.
   */
  send(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<AnswerPart>>;
  /** How many tokens a message or a text has for this model. May reject. */
  countTokens(counted: ModelMessage | string, signal: AbortSignal): Promise<number>;
}

/** The numbers that a sentence about a request that is too long can name. */
export interface RequestSize {
  /** Tokens of the request. */
  readonly tokens: number;
  /** The most that the model takes. */
  readonly limit: number;
}

export interface LanguageModelProviderOptions {
  /** The model as the settings name it: `vendor/id`. */
  readonly name: string;
  readonly label: string;
  /** Looks the model up, for each request, because models come and go. `undefined` if VS Code does not offer it. */
  readonly find: () => Promise<LanguageModel | undefined>;
  /** A plain sentence for the user about a fault, in their language. `size` is known for some requests that are too long. */
  readonly sentence: (fault: Fault, size: RequestSize | undefined) => string | Promise<string>;
  readonly logger: Logger;
  /** Reads an image of the conversation. Without it no image is sent. */
  readonly readImage?: ReadImage | undefined;
  /** The most characters of one answer: text and arguments. Default 16 Mi. */
  readonly maxAnswerChars?: number;
  /** How long to wait for a token count that is not ready when the answer is, in milliseconds. Default 1,000. */
  readonly countMs?: number;
}
