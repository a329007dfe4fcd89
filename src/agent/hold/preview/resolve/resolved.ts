import type { LedgerEntry, Vote } from '../ledger.ts';
import { resultText, textResult, type AgentToolResult, type Answer } from '../pendingAction.ts';
import type { CallRef, Preview, ResolveAction, SeenRevisions } from '../preview.ts';
import type { Unproved } from './proof.ts';
import { alreadyResolvedText } from './resolveTexts.ts';
import { appliedText, recommendedText } from './voteTexts.ts';

/** One vote on one preview: an attempt to apply or discard it. */
export interface ResolveRequest extends Vote {
  readonly id: string;
  /** The revision that was seen; a vote on an older one is refused. Defaults to the current one. */
  readonly revision?: number;
  /** The tool call with which the model votes. */
  readonly call?: CallRef;
  /**
   * Applies these previews, which this one builds on, in one transaction with it; each at the revision that was seen. If it builds
   * on any other pending preview, the vote is refused.
   */
  readonly chain?: SeenRevisions;
  /** All previews that the vote is cast on, in order and with the same reason; one and the same list for each of them. */
  readonly voteOn?: readonly string[];
  /** The conversation was reverted to before the preview was staged: then the model may discard it, too, unless plan mode is on. */
  readonly isAbandoned?: boolean;
  /** Asked at the last moment: whether plan mode is on, so that a model's vote is only recorded. */
  readonly isPlanning?: () => boolean;
  /** The model was not shown all of the diff: its vote is recorded with this remark. */
  readonly isUnread?: true;
  /** Asked at the last moment: whether the user's settings let the model carry this out, even if it could not otherwise. */
  readonly isGranted?: () => boolean;
  readonly signal?: AbortSignal;
}

/** The end of a vote. An error that stops a vote, such as a failed apply, is thrown: see `Invoker.resolve`. */
export type Resolved = {
  readonly vote: Vote;
  readonly preview: Preview;
} & (
  | {
      readonly kind: 'applied';
      /** Everything that was written, the preview last. */
      readonly group: readonly Preview[];
      /** Paths whose change went into an editor with unsaved changes, and is not on disk yet. */
      readonly unsaved: readonly string[];
      /** Answer of the callback of an opaque preview. */
      readonly answer?: Answer;
    }
  /** The callback completed and returned an error; the preview counts as applied. */
  | { readonly kind: 'returnedError'; readonly answer: Answer }
  | { readonly kind: 'discarded'; readonly answer?: Answer }
  /**
   * Only recorded. `planning`: because plan mode is on. `unproved`: because the checks did not prove it. `isUnread`: because the model
   * was not shown all of the diff.
   */
  | {
      readonly kind: 'recommended';
      readonly planning: boolean;
      readonly unproved?: Unproved;
      readonly isUnread?: true;
    }
  /**
   * The vote did nothing because another attempt was faster or the preview has expired. Its state shows which; if that attempt
   * failed, it is pending again.
   */
  | { readonly kind: 'already'; readonly last: LedgerEntry | undefined }
);

/** A call of `resolve` that a handler answered, not the invoker: a plan was submitted, for example. */
export interface Handled {
  readonly kind: 'handled';
  readonly result: AgentToolResult;
}

/** The `details` of every result of a resolve. */
export interface ResolveDetails {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly sourceToolName?: string;
  readonly label?: string;
  /** The callback's own `details`, unchanged. */
  readonly sourceResultDetails?: unknown;
}

/** The result for an extension that voted. */
export function toolResult(resolved: Resolved): AgentToolResult {
  const { vote, preview } = resolved;
  const { sourceToolName, label } = preview;
  return withDetails(plainResult(resolved), vote, { sourceToolName, label });
}

/** How a vote ended, in words, for the ledger. */
export function resolvedText(resolved: Resolved): string {
  const text = resultText(plainResult(resolved));
  return text === '' && 'answer' in resolved ? resultText(plainResult({ ...resolved, answer: {} })) : text;
}

function plainResult(resolved: Resolved): AgentToolResult {
  const { vote, preview } = resolved;
  switch (resolved.kind) {
    case 'applied':
      return said(resolved.answer, appliedText(resolved.group, vote.reason, resolved.unsaved));
    case 'returnedError':
      return said(resolved.answer, appliedText([preview], vote.reason, []));
    case 'discarded':
      return said(resolved.answer, `Discarded: ${preview.label}. Reason: ${vote.reason}`);
    case 'recommended':
      return textResult(
        recommendedText(
          [preview],
          resolved.planning ? vote.action : undefined,
          resolved.unproved,
          resolved.isUnread,
        ),
        {
          recommended: preview.id,
        },
      );
    case 'already':
      return textResult(alreadyResolvedText(preview, vote.actor, resolved.last), {
        alreadyResolved: preview.id,
      });
  }
}

/** A callback's answer, with the given words if it has no content. */
function said(answer: Answer | undefined, text: string): AgentToolResult {
  return { ...textResult(text), ...answer };
}

/** Source of a resolve, as its details name it. */
export type ResolveSource = Pick<ResolveDetails, 'sourceToolName' | 'label'>;

/** Adds the details of a resolve, with those of the callback, if any, as `sourceResultDetails`. */
export function withDetails(
  result: AgentToolResult,
  { action, reason, extra }: Omit<Vote, 'actor'>,
  source: ResolveSource = {},
): AgentToolResult {
  const base = { action, reason, ...(extra ? { extra } : {}), ...source };
  const own = result.details;
  const details: ResolveDetails =
    own === undefined || own === null ? base : { ...base, sourceResultDetails: own };
  return { ...result, details };
}
