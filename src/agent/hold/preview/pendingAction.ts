import { isRecord } from '../../base/json.ts';
import type { Sentence } from '../../base/localiser.ts';
import { safeName } from '../../base/safeName.ts';
import type { FileChange } from './fileChange.ts';
import type { ChangeSetRef } from './changeSet.ts';
import type { LabelParts } from './label.ts';
import type { AgentName, Purpose } from './preview.ts';
import type { FolderRoot } from './workspace.ts';

/** Result of a tool or a callback. Only the text reaches the model. Foreign code may give parts of other kinds. */
export interface AgentToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly details?: unknown;
  readonly isError?: boolean;
}

/** Source of previews whose producer names none. */
export const DEFAULT_SOURCE = 'custom_tool';

/** A change or action that a producer stages as a preview. Either `changes` or `apply` is required. */
export interface PendingAction {
  /** Concise and specific: the model knows the preview by it, and so do people unless there is a title. */
  readonly label: string;
  /** The parts of the label, see `counted`. Set by Redline alone: in the labels of others nothing is counted. */
  readonly labelParts?: LabelParts;
  /**
   * Replaces the label for the user where there is room for one line, such as `cart.ts:11 total → sum`. A sentence is said once, in
   * the language that the user has when it is staged.
   */
  readonly title?: string | Sentence;
  /** The title that the model gave. */
  readonly modelTitle?: string | undefined;
  readonly sourceToolName: string;
  /** The exact file changes. Redline shows and writes them itself; `apply` is not called. */
  readonly changes?: readonly FileChange[];
  /** Runs once, on apply; if it throws, the preview stays pending. The reason is informational and must not change behaviour. */
  readonly apply?: (reason: string, extra?: Record<string, unknown>) => Promise<AgentToolResult>;
  /** Runs on discard; a result that it returns replaces the default text. */
  readonly reject?: (reason: string, extra?: Record<string, unknown>) => Promise<AgentToolResult | undefined>;
  /** Set for the plan that plan mode submits, which has no `changes`. */
  readonly kind?: 'plan';
  /** `apply` runs something, so only a human may apply it, in every mode. */
  readonly humanOnly?: true;
  /** Shown with the preview and kept in the ledger. */
  readonly details?: unknown;
  /** Set by Redline alone. */
  readonly purpose?: Purpose;
  /** Ids of the applied previews that this one undoes. Set by Redline alone, for its bookkeeping. */
  readonly undoes?: readonly string[];
  /** The id of the discarded preview that this one proposes again. Set by Redline alone. */
  readonly reopens?: string;
  /** Folders that `changes` are relative to, if they may differ from the open ones. Set by Redline alone. */
  readonly roots?: readonly FolderRoot[];
  /** Conversation that the preview concerns, if it may differ from the open one. Set by Redline alone. */
  readonly sessionId?: string;
  /** Change set of the preview, if it may differ from that of the prompt. Set by Redline alone. */
  readonly changeSet?: ChangeSetRef;
  /** Agent that has that session, if it is not Redline's own. Set by Redline alone. */
  readonly agent?: AgentName;
}

export function textResult(text: string, details?: unknown): AgentToolResult {
  return { content: [{ type: 'text', text }], ...(details === undefined ? {} : { details }) };
}

/** Answer of a callback; without content if it is not a result: then Redline words the outcome. */
export type Answer = Partial<AgentToolResult>;

/** Reads the answer of a foreign callback. Its content is not changed, not even if it is empty. */
export function answerOf(answer: unknown): Answer {
  if (typeof answer === 'string') return textResult(answer);
  if (typeof answer !== 'object' || answer === null) return {};
  const { content, details, isError } = answer as Partial<Record<keyof AgentToolResult, unknown>>;
  return {
    ...(Array.isArray(content) ? { content: content as AgentToolResult['content'] } : {}),
    ...(details === undefined ? {} : { details }),
    ...(isError === true ? { isError } : {}),
  };
}

/** The text of a result, its parts joined by line feeds. A part that is not text is named. */
export function resultText(result: AgentToolResult): string {
  return result.content.map(textOfPart).join('\n');
}

function textOfPart(part: unknown): string {
  const { type, text }: Record<string, unknown> = isRecord(part) ? part : { text: part };
  if (typeof text === 'string') return text;
  return `[${safeName(typeof type === 'string' ? type : 'Something')}, which is not shown]`;
}
