import * as z from 'zod/mini';
import type { ToolCall, ToolResultMessage } from '../../../agent/session/model/messages.ts';
import type { LedgerEntry } from '../../../agent/hold/preview/ledger.ts';
import type { Preview, ResolveAction } from '../../../agent/hold/preview/preview.ts';
import { escapeInvisible, escapeProse } from '../../plainText.ts';
import type { ItemOf } from '../protocol.ts';
import { argumentsOf, wasInterrupted } from './toolLine.ts';

/** Facts looked up in addition to the call and its result. */
export interface ResolveFacts {
  preview(id: string): Preview | undefined;
  /** The attempt that the call itself made, if it made one. */
  readonly attempt: LedgerEntry | undefined;
  /** The model's failed attempts, newest first. */
  failures(): readonly LedgerEntry[];
}

const detailsSchema = z.object({
  action: z.enum(['apply', 'discard']),
  reason: z.string(),
  label: z.optional(z.string()),
  sourceToolName: z.optional(z.string()),
  sourceResultDetails: z.optional(z.unknown()),
  /** Of a vote on several previews. */
  votes: z.optional(z.array(z.object({ details: z.optional(z.unknown()), failed: z.optional(z.boolean()) }))),
});
/** Marks a vote that was only recorded or came too late, or a plan that was submitted. */
const unexecutedSchema = z.object({
  recommended: z.optional(z.string()),
  alreadyResolved: z.optional(z.string()),
  submitted: z.optional(z.string()),
  title: z.optional(z.string()),
});

type Block = ItemOf<'resolve'>;
/** A block without its key, with texts as they came. */
type BlockContent = Omit<Block, 'kind' | 'key'>;

/** The single block that shows a `resolve` call together with its result. */
export function resolveBlock(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
  facts: ResolveFacts,
): Block {
  const { outcome, actor, detail, ...texts } = contentOf(call, result, facts);
  return {
    kind: 'resolve',
    key,
    outcome,
    actor,
    count: texts.count,
    label: escaped(texts.label),
    title: escaped(texts.title),
    source: escaped(texts.source),
    reason: escapeProse(texts.reason?.trim() ?? '') || undefined,
    detail: detail && escapedDetail(detail),
  };
}

function escapedDetail(detail: NonNullable<Block['detail']>): NonNullable<Block['detail']> {
  if ('message' in detail) return { ...detail, message: escapeInvisible(detail.message) };
  return detail;
}

function contentOf(call: ToolCall, result: ToolResultMessage | undefined, facts: ResolveFacts): BlockContent {
  const args = argumentsOf(call) ?? {};
  const reason = textIn(args['reason']);
  const named = typeof args['id'] === 'string' ? facts.preview(args['id']) : undefined;
  const fromCall = {
    label: named?.label,
    title: named?.title,
    source: named?.sourceToolName,
    reason,
    actor: 'model' as const,
  };
  if (!result) return { ...fromCall, outcome: 'running' };

  const details = detailsSchema.safeParse(result.details).data;
  const unexecuted = unexecutedSchema.safeParse(details?.sourceResultDetails).data;
  const meant = named ?? facts.preview(unexecuted?.recommended ?? facts.attempt?.previewId ?? '');
  const about = {
    ...fromCall,
    label: details?.label ?? meant?.label,
    title: meant?.title,
    source: details?.sourceToolName ?? named?.sourceToolName,
    reason: details?.reason ?? reason,
  };
  if (result.isError) {
    // Attempts that were logged by earlier versions do not name their call.
    const made =
      facts.attempt ?? facts.failures().find(entry => isSameAttempt(entry, result.content, reason));
    if (made) return { ...about, ...attemptContent(made), title: facts.preview(made.previewId)?.title };
    return {
      ...about,
      outcome: 'failed',
      detail: { kind: wasInterrupted(result) ? 'interrupted' : 'refused' },
    };
  }
  const action = details?.action ?? actionIn(args['action']);
  if (details?.votes)
    return { ...about, count: details.votes.length, ...votesContent(details.votes, action) };
  if (unexecuted?.recommended !== undefined)
    return { ...about, outcome: action === 'discard' ? 'recommendDiscard' : 'recommendApply' };
  if (unexecuted?.submitted !== undefined)
    return { ...about, outcome: 'submit', title: unexecuted.title ?? about.title };
  const late = unexecuted?.alreadyResolved;
  const preview = late === undefined ? named : facts.preview(late);
  switch (preview?.state.kind) {
    case 'applied':
    case 'discarded': {
      // The outcome, no matter who resolved it.
      const { kind, by } = preview.state;
      const outcome = kind === 'applied' ? 'accept' : 'discard';
      return { ...about, outcome, actor: by.actor, reason: by.reason };
    }
    case 'pending':
    case 'applying':
    case 'expired':
      if (late !== undefined) return { ...about, outcome: 'failed', detail: { kind: 'late' } };
      break;
    case undefined:
      break;
  }
  return { ...about, outcome: outcomeOf(action) };
}

/** Outcome of a vote on several previews. If it differs among them, their cards say which is which. */
function votesContent(
  votes: NonNullable<z.infer<typeof detailsSchema>['votes']>,
  action: ResolveAction | undefined,
): Pick<Block, 'outcome' | 'detail'> {
  const kinds = new Set(
    votes.map(({ details, failed }) => {
      if (failed === true) return 'failed';
      const { sourceResultDetails } = detailsSchema.safeParse(details).data ?? {};
      const { recommended, alreadyResolved } = unexecutedSchema.safeParse(sourceResultDetails).data ?? {};
      if (recommended !== undefined) return 'recommended';
      return alreadyResolved === undefined ? 'executed' : 'late';
    }),
  );
  const executed = outcomeOf(action);
  const recommends = executed === 'discard' ? 'recommendDiscard' : 'recommendApply';
  return {
    outcome: kinds.has('executed') ? executed : kinds.has('recommended') ? recommends : 'failed',
    ...(kinds.size > 1 || kinds.has('late') ? { detail: { kind: kinds.size > 1 ? 'partly' : 'late' } } : {}),
  };
}

/** Outcome of an attempt in the ledger whose call has an error as its result: it failed, or was interrupted. */
function attemptContent({
  label,
  sourceToolName: source,
  reason,
  action,
  outcome,
  message = '',
  interrupted,
}: LedgerEntry): Pick<Block, 'label' | 'source' | 'reason' | 'outcome' | 'detail'> {
  const about = { label, source, reason };
  switch (outcome) {
    case 'applied':
    case 'discarded':
      return {
        ...about,
        outcome: outcomeOf(action),
        detail: interrupted ? { kind: 'finishedLater' } : undefined,
      };
    case 'returnedError':
      return { ...about, outcome: 'failed', detail: { kind: 'returnedError', message } };
    case 'failed':
      return { ...about, outcome: 'failed', detail: { kind: 'notDone', action, message } };
  }
}

function outcomeOf(action: ResolveAction | undefined): Block['outcome'] {
  return action === 'discard' ? 'discard' : 'accept';
}

/** Whether an error text and a reason are those of an attempt in the ledger. */
function isSameAttempt(entry: LedgerEntry, content: string, reason: string | undefined): boolean {
  return entry.reason === reason && entry.message !== undefined && content.includes(entry.message);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function escaped(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : escapeInvisible(trimmed);
}

function actionIn(value: unknown): ResolveAction | undefined {
  return value === 'apply' || value === 'discard' ? value : undefined;
}
