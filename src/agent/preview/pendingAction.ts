import type { FileChange } from './fileChange.ts';

/** What a tool or a callback answers. Only the text reaches the model. */
export interface AgentToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly details?: unknown;
  readonly isError?: boolean;
}

/** The source of previews whose producer does not say. */
export const DEFAULT_SOURCE = 'custom_tool';

/** What a producer of previews hands over. Either `changes` or `apply` must be there. */
export interface PendingAction {
  /** Concise and specific: it is what the person reads first. */
  readonly label: string;
  readonly sourceToolName: string;
  /** The exact file changes. Redline shows and lands them itself, and `apply` is not called. */
  readonly changes?: readonly FileChange[];
  /** Runs once when applied; throws to keep the preview pending. The reason informs, it never changes behaviour. */
  readonly apply?: (reason: string, extra?: Record<string, unknown>) => Promise<AgentToolResult>;
  /** Runs when discarded; what it returns replaces the default text. */
  readonly reject?: (reason: string, extra?: Record<string, unknown>) => Promise<AgentToolResult | undefined>;
  /** Shown with the preview and kept in the ledger. */
  readonly details?: unknown;
  /** Ids of the applied previews that this one takes back. Redline's own bookkeeping: no other producer sets it. */
  readonly undoes?: readonly string[];
}

export function textResult(text: string, details?: unknown): AgentToolResult {
  return { content: [{ type: 'text', text }], ...(details === undefined ? {} : { details }) };
}

/**
 * What a callback of somebody else answered, made a result: it came to its end, whatever it returned. Its text is the
 * answer's, if that has one.
 */
export function resultOf(answer: unknown, fallback: string): AgentToolResult {
  if (typeof answer === 'string') return textResult(answer);
  if (typeof answer !== 'object' || answer === null) return textResult(fallback);
  const { content, details, isError } = answer as Partial<Record<keyof AgentToolResult, unknown>>;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.filter(isText).map(({ text }) => ({ type: 'text' as const, text }));
  return {
    content: texts.length > 0 ? texts : textResult(fallback).content,
    ...(details === undefined ? {} : { details }),
    ...(isError === true ? { isError } : {}),
  };
}

function isText(part: unknown): part is { readonly text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
}

/** The text of a result, parts joined by line feeds. */
export function textOf(result: AgentToolResult): string {
  return result.content.map(part => part.text).join('\n');
}
