import type { LedgerEntry } from '../../../agent/preview/ledger.ts';
import {
  isOpen,
  titleOf,
  type Preview,
  type ResolveAction,
  type Resolution,
} from '../../../agent/preview/preview.ts';
import { conflictCount } from '../../../agent/preview/rebase/conflictMarkers.ts';
import { planOf } from '../../../agent/session/planMode.ts';
import { commandOf } from '../../../agent/tools/command/runCommand.ts';
import { toolCallOf } from '../../../agent/tools/editor/toolCallPlan.ts';
import { humanReason } from '../../../agent/preview/resolve/resolveTexts.ts';
import { reopenAction, undoAction } from '../../../agent/preview/undo.ts';
import type { DiffStat } from '../../../agent/text/lineDiff.ts';
import { agentLabel } from '../../agentLabel.ts';
import { escapeInvisible, escapeProse } from '../../plainText.ts';
import { MAX_SHOWN_CHARS, type CardState, type ItemOf, type LineStat, type PartRow } from '../protocol.ts';

/** The most files that a card lists. */
const MAX_FILES = 8;
/** The most parts that a card lists: the last ones. */
const MAX_PARTS = 12;
/** The most files that a sentence names. */
const MAX_NAMES = 5;

export interface CardFacts {
  /** The last attempt to resolve the preview. */
  readonly lastAttempt: LedgerEntry | undefined;
  /** The applied preview that undid it, or what it was reopened as. */
  readonly undoneBy?: Preview | undefined;
  /** Whether a preview that would do so is pending. */
  readonly isUndoPending?: boolean;
  /** The last preview that proposes again what was discarded here. */
  readonly reopenedAs?: Preview | undefined;
  /** One for each counted change, in order; `undefined` while counting. */
  readonly stats: readonly DiffStat[] | undefined;
  /** The end of the output of the command or call that it runs now; `undefined` if it runs none. */
  readonly running?: string | undefined;
  /** What was split off it and resolved, in the order of the votes. */
  readonly parts?: readonly { readonly preview: Preview; readonly facts: CardFacts }[];
  readonly call?: ItemOf<'preview'>['call'];
}

/** The card of a preview. */
export function previewCard(preview: Preview, facts: CardFacts): ItemOf<'preview'> {
  const changes = preview.changes ?? [];
  const agent = preview.origin?.agent;
  const total = facts.stats ? sumOf(facts.stats, changes.length) : undefined;
  const own = outcomeOf(preview, facts);
  return {
    kind: 'preview',
    key: `p:${preview.id}`,
    id: preview.id,
    revision: preview.revision,
    label: escapeInvisible(titleOf(preview)),
    source: escapeInvisible(preview.sourceToolName),
    agent: agent && agentLabel(agent),
    files: changes.slice(0, MAX_FILES).map((change, i) => ({
      path: change.path,
      from: change.kind === 'rename' ? change.from : undefined,
      change: change.kind,
      stat: lineStat(facts.stats?.[i]),
    })),
    moreFiles: Math.max(0, changes.length - MAX_FILES),
    stat: changes.length > 1 ? lineStat(total) : undefined,
    output: facts.running ?? resultOf(preview, facts.lastAttempt),
    canStop: facts.running !== undefined,
    call: facts.call,
    plan: planPartOf(preview),
    ...own,
    parts: partsOf(preview, own, total, facts.parts ?? []),
  };
}

/** The plan itself, while it waits for the user. */
function planPartOf(preview: Preview): ItemOf<'preview'>['plan'] {
  const plan = isOpen(preview) ? planOf(preview) : undefined;
  return plan && { text: plan.text, isUnfolded: preview.editedByUser === true };
}

type Outcome = Pick<PartRow, 'state' | 'reopenedAs' | 'remedy'>;

function outcomeOf(preview: Preview, facts: CardFacts): Outcome {
  const { reopenedAs: again, undoneBy } = facts;
  const remedy = remedyOf(preview, facts);
  if (!again) return { state: stateOf(preview, facts), remedy };
  // A discarded preview that was proposed again shows how that ended.
  const state = isOpen(again) ? stateOf(preview, {}) : stateOf(again, { undoneBy });
  return { state, reopenedAs: { id: again.id, isOpen: isOpen(again) }, remedy };
}

/** The rows of the parts. What is left of a preview gets a row too once it is resolved. */
function partsOf(
  preview: Preview,
  own: Outcome,
  total: DiffStat | undefined,
  parts: NonNullable<CardFacts['parts']>,
): ItemOf<'preview'>['parts'] {
  if (parts.length === 0) return undefined;
  const rows = parts.map(({ preview: part, facts }): PartRow => {
    const path = escapeInvisible(part.changes?.[0]?.path ?? '');
    const file = path.slice(path.lastIndexOf('/') + 1);
    return { id: part.id, file, hunk: part.part?.number, ...outcomeOf(part, facts) };
  });
  const counts = { applied: 0, discarded: 0, undone: 0, left: 0 };
  const count = ({ kind }: CardState, hunks: number): void => {
    if (kind === 'pending' || kind === 'applying') counts.left += hunks;
    else if (kind === 'failed') counts.applied += hunks;
    else if (kind !== 'expired') counts[kind] += hunks;
  };
  rows.forEach(({ state }, i) => count(state, parts[i]?.preview.part?.hunks ?? 1));
  count(own.state, total?.hunks ?? 1);
  const rest: PartRow[] = isOpen(preview) ? [] : [{ id: preview.id, ...own }];
  return { rows: [...rows, ...rest].slice(-MAX_PARTS), counts };
}

/** Undo for what is applied, Redo for what is undone, Reopen for what is discarded, unless that waits to be resolved already. */
function remedyOf(
  preview: Preview,
  { undoneBy, reopenedAs, isUndoPending }: CardFacts,
): ItemOf<'preview'>['remedy'] {
  const last = reopenedAs ?? preview;
  if (undoneBy && isUndoPending !== true && undoAction(undoneBy)) return { type: 'redo', id: undoneBy.id };
  if (!undoneBy && isUndoPending !== true && undoAction(last)) return { type: 'undo', id: last.id };
  return reopenAction(last) ? { type: 'reopen', id: last.id } : undefined;
}

/** What the command of an applied preview wrote and how it ended, or what the tool answered that it called. */
function resultOf(preview: Preview, attempt: LedgerEntry | undefined): string | undefined {
  if (preview.state.kind !== 'applied' || attempt?.outcome === 'returnedError') return undefined;
  if (!attempt?.message || (!commandOf(preview) && !toolCallOf(preview))) return undefined;
  const { message } = attempt;
  if (message.length <= MAX_SHOWN_CHARS) return message;
  const half = MAX_SHOWN_CHARS / 2;
  return `${message.slice(0, half)}\n[…]\n${message.slice(-half)}`;
}

function stateOf(
  preview: Preview,
  { lastAttempt: attempt, undoneBy }: Pick<Partial<CardFacts>, 'lastAttempt' | 'undoneBy'>,
): CardState {
  const { state } = preview;
  switch (state.kind) {
    case 'pending': {
      const { recommendation, stale, lastError } = state;
      return {
        kind: 'pending',
        recommendation: recommendation && {
          action: recommendation.action,
          reason: escapeProse(recommendation.reason.trim()) || undefined,
        },
        ...(stale.length > 0
          ? {
              stale: {
                names: stale.slice(0, MAX_NAMES).map(escapeInvisible),
                more: moreThan(MAX_NAMES, stale),
              },
              conflicts: conflictsOf(preview),
            }
          : // The error of a stale preview would only repeat that it is stale.
            { lastError: lastError === undefined ? undefined : escapeInvisible(lastError) }),
      };
    }
    case 'applying':
      return { kind: 'applying', action: state.action };
    case 'applied':
      if (attempt?.outcome === 'returnedError')
        return { kind: 'failed', error: escapeInvisible(attempt.message ?? '') };
      if (undoneBy?.state.kind === 'applied') return { kind: 'undone', actor: undoneBy.state.by.actor };
      return { kind: 'applied', ...resolutionOf(preview, 'apply', state.by) };
    case 'discarded':
      return { kind: 'discarded', ...resolutionOf(preview, 'discard', state.by) };
    case 'expired':
      return {
        kind: 'expired',
        reason: state.reason === undefined ? undefined : escapeInvisible(state.reason),
      };
  }
}

function conflictsOf({ changes }: Preview): (CardState & { kind: 'pending' })['conflicts'] {
  const files = (changes ?? []).flatMap(change => {
    const count = conflictCount(change);
    return count === 0 ? [] : [{ path: escapeInvisible(change.path), count }];
  });
  if (files.length === 0) return undefined;
  return { files: files.slice(0, MAX_NAMES), more: moreThan(MAX_NAMES, files) };
}

function moreThan(most: number, all: readonly unknown[]): number {
  return Math.max(0, all.length - most);
}

/**
 * Who resolved a preview, and why: without a reason if the user gave none, or if it is in the block of the model's `resolve`. An
 * agent of another program has no such block.
 */
function resolutionOf(
  { origin }: Preview,
  action: ResolveAction,
  { actor, reason }: Resolution,
): Pick<CardState & { kind: 'applied' }, 'actor' | 'agent' | 'reason'> {
  const agent = origin?.agent && agentLabel(origin.agent);
  const isTold = (actor === 'model' && agent === undefined) || reason === humanReason(action);
  return {
    actor,
    agent: actor === 'model' ? agent : undefined,
    reason: isTold ? undefined : escapeProse(reason.trim()) || undefined,
  };
}

/** The sum; `undefined` if some file was not counted. */
export function sumOf(stats: readonly DiffStat[], files: number): DiffStat | undefined {
  if (stats.length < files) return undefined;
  if (stats.length === 0) return undefined;
  return stats.reduce((sum, stat) => ({
    added: sum.added + stat.added,
    removed: sum.removed + stat.removed,
    hunks: sum.hunks + stat.hunks,
    exact: sum.exact && stat.exact,
  }));
}

/** The part of the counts that the page shows. */
export function lineStat(stat: DiffStat | undefined): LineStat | undefined {
  return stat && { added: stat.added, removed: stat.removed, exact: stat.exact };
}
