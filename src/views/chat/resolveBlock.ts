import * as z from 'zod';
import type { ToolCall, ToolResultMessage } from '../../agent/model/messages.ts';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { Actor, Preview, ResolveAction } from '../../agent/preview/preview.ts';
import { fill, type ItemOf } from './protocol.ts';
import type { TranscriptStrings } from './strings.ts';
import { argumentsOf } from './toolLine.ts';

/** What is known beside the call and its result. */
export interface ResolveFacts {
  preview(id: string): Preview | undefined;
  /** The model's failed attempts, the newest first. */
  failures(): readonly LedgerEntry[];
}

const detailsSchema = z.object({
  action: z.enum(['apply', 'discard']),
  reason: z.string(),
  label: z.string().optional(),
  sourceToolName: z.string().optional(),
  sourceResultDetails: z.unknown().optional(),
});
/** How a vote is marked that was recorded or answered, and not executed, and a plan that was submitted. */
const unexecutedSchema = z.object({
  recommended: z.string().optional(),
  alreadyResolved: z.string().optional(),
  submitted: z.string().optional(),
  title: z.string().optional(),
});

interface Told {
  readonly outcome: ItemOf<'resolve'>['outcome'];
  readonly title: string;
  readonly label: string | undefined;
  readonly source: string | undefined;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly detail?: string;
}

/** The one block of a `resolve`: the call and its result merged. */
export function resolveBlock(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
  facts: ResolveFacts,
  strings: TranscriptStrings,
): ItemOf<'resolve'> {
  const told = tell(call, result, facts, strings);
  const who = strings.who[told.actor];
  return {
    kind: 'resolve',
    key,
    outcome: told.outcome,
    title: fill(told.title, nonEmpty(told.label) ?? strings.pendingAction),
    source: told.source === undefined ? who : fill(strings.sourceAndWho, told.source, who),
    reason: nonEmpty(told.reason) ?? strings.noReason,
    detail: told.detail ?? '',
  };
}

function tell(
  call: ToolCall,
  result: ToolResultMessage | undefined,
  facts: ResolveFacts,
  strings: TranscriptStrings,
): Told {
  const args = argumentsOf(call) ?? {};
  const reason = textIn(args['reason']);
  const named = typeof args['id'] === 'string' ? facts.preview(args['id']) : undefined;
  const said = { label: named?.label, source: named?.sourceToolName, reason, actor: 'model' as const };
  if (!result) return { ...said, outcome: 'running', title: strings.resolving };

  const details = detailsSchema.safeParse(result.details).data;
  const about = {
    ...said,
    label: details?.label ?? named?.label,
    source: details?.sourceToolName ?? named?.sourceToolName,
    reason: details?.reason ?? reason,
  };
  if (result.isError) {
    const failure = facts.failures().find(entry => isAbout(entry, result.content, reason));
    return {
      ...about,
      outcome: 'failed',
      title: strings.failed,
      label: about.label ?? failure?.label,
      source: about.source ?? failure?.sourceToolName,
      detail: result.content,
    };
  }
  const action = details?.action ?? actionIn(args['action']);
  const unexecuted = unexecutedSchema.safeParse(details?.sourceResultDetails).data;
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
      // Final states are final: this is what happened, whoever did it.
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

function outcomeOf(
  action: ResolveAction | undefined,
  strings: TranscriptStrings,
): { outcome: Told['outcome']; title: string } {
  if (action === 'discard') return { outcome: 'discard', title: strings.discard };
  return { outcome: 'accept', title: strings.accept };
}

/** Whether the error text and the reason are those of the attempt in the ledger. */
function isAbout(entry: LedgerEntry, content: string, reason: string | undefined): boolean {
  return entry.reason === reason && entry.message !== undefined && content.endsWith(entry.message);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text?.trim() === '' ? undefined : text?.trim();
}

function actionIn(value: unknown): ResolveAction | undefined {
  return value === 'apply' || value === 'discard' ? value : undefined;
}
