import * as z from 'zod/mini';
import type { ToolCall, ToolResultMessage } from '../../../agent/model/messages.ts';
import type { LedgerEntry } from '../../../agent/preview/ledger.ts';
import type { Actor, Preview, ResolveAction } from '../../../agent/preview/preview.ts';
import { escapeInvisible, escapeProse } from '../../plainText.ts';
import { fill } from '../../../agent/base/localiser.ts';
import type { ItemOf } from '../protocol.ts';
import type { TranscriptStrings } from './transcriptStrings.ts';
import { argumentsOf } from './toolLine.ts';

/** What is looked up in addition to the call and its result. */
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
});
/** Marks a vote that was only recorded or came too late, or a plan that was submitted. */
const unexecutedSchema = z.object({
  recommended: z.optional(z.string()),
  alreadyResolved: z.optional(z.string()),
  submitted: z.optional(z.string()),
  title: z.optional(z.string()),
});

interface BlockContent {
  readonly outcome: ItemOf<'resolve'>['outcome'];
  readonly title: string;
  readonly label: string | undefined;
  readonly source: string | undefined;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly detail?: string;
}

/** The single block that shows a `resolve` call together with its result. */
export function resolveBlock(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
  facts: ResolveFacts,
  strings: TranscriptStrings,
): ItemOf<'resolve'> {
  const content = contentOf(call, result, facts, strings);
  const who = strings.who[content.actor];
  return {
    kind: 'resolve',
    key,
    outcome: content.outcome,
    title: fill(content.title, nonEmpty(content.label) ?? strings.pendingAction),
    source:
      content.source === undefined ? who : fill(strings.sourceAndWho, escapeInvisible(content.source), who),
    reason: escapeProse(content.reason?.trim() ?? '') || strings.noReason,
    detail: escapeInvisible(content.detail ?? ''),
  };
}

function contentOf(
  call: ToolCall,
  result: ToolResultMessage | undefined,
  facts: ResolveFacts,
  strings: TranscriptStrings,
): BlockContent {
  const args = argumentsOf(call) ?? {};
  const reason = textIn(args['reason']);
  const named = typeof args['id'] === 'string' ? facts.preview(args['id']) : undefined;
  const fromCall = {
    label: nameOf(named, undefined, strings),
    source: named?.sourceToolName,
    reason,
    actor: 'model' as const,
  };
  if (!result) return { ...fromCall, outcome: 'running', title: strings.resolving };

  const details = detailsSchema.safeParse(result.details).data;
  const unexecuted = unexecutedSchema.safeParse(details?.sourceResultDetails).data;
  const meant = named ?? facts.preview(unexecuted?.recommended ?? facts.attempt?.previewId ?? '');
  const about = {
    ...fromCall,
    label: nameOf(meant, details?.label, strings),
    source: details?.sourceToolName ?? named?.sourceToolName,
    reason: details?.reason ?? reason,
  };
  if (result.isError) {
    // Attempts that were logged by earlier versions do not name their call.
    const made =
      facts.attempt ?? facts.failures().find(entry => isSameAttempt(entry, result.content, reason));
    if (made) {
      const label = nameOf(facts.preview(made.previewId), made.label, strings);
      return { ...about, ...attemptContent(made, strings), label };
    }
    return { ...about, outcome: 'failed', title: strings.failed, detail: result.content };
  }
  const action = details?.action ?? actionIn(args['action']);
  if (unexecuted?.recommended !== undefined) {
    const title = action === 'discard' ? strings.recommendsDiscard : strings.recommendsApply;
    return { ...about, outcome: 'recommend', title };
  }
  if (unexecuted?.submitted !== undefined)
    return { ...about, outcome: 'recommend', title: strings.submits, label: unexecuted.title ?? about.label };
  const late = unexecuted?.alreadyResolved;
  const preview = late === undefined ? named : facts.preview(late);
  switch (preview?.state.kind) {
    case 'applied':
    case 'discarded': {
      // This is what happened, whoever resolved it.
      const { kind, by } = preview.state;
      const outcome = outcomeOf(kind === 'applied' ? 'apply' : 'discard', strings);
      return { ...about, ...outcome, actor: by.actor, reason: by.reason };
    }
    case 'pending':
    case 'applying':
    case 'expired':
      if (late !== undefined)
        return { ...about, outcome: 'failed', title: strings.failed, detail: result.content };
      break;
    case undefined:
      break;
  }
  return { ...about, ...outcomeOf(action, strings) };
}

/**
 * How a block names a preview: by the label, as the result that the model reads does. A label is English, so that in any other
 * language the title stands in its place.
 */
function nameOf(
  preview: Preview | undefined,
  label: string | undefined,
  strings: TranscriptStrings,
): string | undefined {
  const title = strings.isEnglish ? undefined : preview?.title;
  return title ?? label ?? preview?.label;
}

/** What an attempt in the ledger came to, although the result of its call is an error: it failed, or was interrupted. */
function attemptContent(
  { sourceToolName: source, reason, action, outcome, message = '', interrupted }: LedgerEntry,
  strings: TranscriptStrings,
): Omit<BlockContent, 'actor' | 'label'> {
  const about = { source, reason };
  switch (outcome) {
    case 'applied':
    case 'discarded':
      return { ...about, ...outcomeOf(action, strings), detail: interrupted ? strings.finishedLater : '' };
    case 'returnedError':
      return { ...about, outcome: 'failed', title: strings.failed, detail: fill(strings.returned, message) };
    case 'failed':
      return {
        ...about,
        outcome: 'failed',
        title: strings.failed,
        detail: fill(strings.notDone[action], message),
      };
  }
}

function outcomeOf(
  action: ResolveAction | undefined,
  strings: TranscriptStrings,
): { outcome: BlockContent['outcome']; title: string } {
  if (action === 'discard') return { outcome: 'discard', title: strings.discard };
  return { outcome: 'accept', title: strings.accept };
}

/** Whether an error text and a reason are those of an attempt in the ledger. */
function isSameAttempt(entry: LedgerEntry, content: string, reason: string | undefined): boolean {
  return entry.reason === reason && entry.message !== undefined && content.includes(entry.message);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : escapeInvisible(trimmed);
}

function actionIn(value: unknown): ResolveAction | undefined {
  return value === 'apply' || value === 'discard' ? value : undefined;
}
