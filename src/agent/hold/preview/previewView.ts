import type { DiffStat } from '../text/lineDiff.ts';
import type { LedgerEntry, RunFact, CheckFact } from './ledger.ts';
import {
  isOpen,
  type Actor,
  type AgentName,
  type Preview,
  type Recommendation,
  type ResolveAction,
  isReopenable,
  isUndoable,
} from './preview.ts';
import type { Risk } from './reading/risks.ts';
import { conflictCount } from './rebase/conflictMarkers.ts';
import { reasonGiven } from './resolve/resolveTexts.ts';

/** The first obstacle to applying a pending preview as it is. */
export type PreviewProblem =
  /** A rebase left markers in it. */
  | {
      readonly kind: 'conflicts';
      readonly files: readonly { readonly path: string; readonly count: number }[];
    }
  /** These files have changed since it was proposed. */
  | { readonly kind: 'stale'; readonly paths: readonly string[] }
  /** The last attempt to resolve it. With `isPartial` it is an action, which may have done a part of its work. */
  | { readonly kind: 'failed'; readonly error: string; readonly isPartial?: true };

/** Outcome of a preview, given the attempts to resolve it and the previews that undid it. */
export type PreviewOutcome =
  | {
      readonly kind: 'pending';
      readonly problem: PreviewProblem | undefined;
      /** With `isPast` if it recommends applying, and the problem rules that out. */
      readonly recommendation: (Recommendation & { readonly isPast?: true }) | undefined;
    }
  | { readonly kind: 'applying'; readonly action: ResolveAction }
  | {
      readonly kind: 'applied' | 'discarded';
      readonly actor: Actor;
      /** The agent of another program that resolved its own preview. */
      readonly agent: AgentName | undefined;
      /** `undefined` if the user gave none. */
      readonly reason: string | undefined;
      /** How its command ended, if it ran one and that is known. */
      readonly run: RunFact | undefined;
    }
  | { readonly kind: 'undone'; readonly actor: Actor }
  /** It was applied, and returned an error. */
  | { readonly kind: 'returnedError'; readonly error: string }
  | { readonly kind: 'expired'; readonly reason: string | undefined; readonly wasInterrupted: boolean };

export function faceOf({ kind, purpose, changes }: Preview): PreviewFace {
  if (kind === 'plan') return 'approve';
  if (kind === 'action' && (purpose ?? 'command') === 'command') return 'run';
  if (kind === 'action') return purpose === 'toolCall' ? 'call' : 'change';
  const only = changes?.length === 1 ? changes[0]?.kind : undefined;
  return only === undefined || only === 'modify' ? 'change' : only;
}

/** Facts that other parts of Redline know of a preview; each surface passes those that it has. */
export interface PreviewFacts {
  /** The last attempt to resolve it. */
  readonly lastAttempt?: LedgerEntry | undefined;
  /** The applied preview that undid it, or that undid its reopened copy. */
  readonly undoneBy?: Preview | undefined;
  /** Whether a preview that would undo it is pending. */
  readonly isUndoPending?: boolean | undefined;
  /** The last preview that proposes this discarded one again. */
  readonly reopenedAs?: Preview | undefined;
  /** One for each counted change, in order. */
  readonly stats?: readonly DiffStat[] | undefined;
  /** The open previews that must be applied first. */
  readonly buildsOn?: readonly Preview[] | undefined;
  /** Parts that were split off it and resolved, in the order of the votes. */
  readonly parts?: readonly PreviewView[] | undefined;
  /** Known results of the checks on it, while it is pending. */
  readonly checks?: readonly CheckMark[] | undefined;
  /** Risks that a person should know before deciding, as far as they were found. */
  readonly risks?: readonly Risk[] | undefined;
}

/** The data that every surface shows of a preview. It has no words: those are in `views/texts/previewWords.ts`. */
export interface PreviewView {
  readonly preview: Preview;
  /** The last attempt to resolve it, if the surface asked for it. */
  readonly lastAttempt: LedgerEntry | undefined;
  readonly outcome: PreviewOutcome;
  /** The model's recommendation, current or, once someone else has decided, former. */
  readonly advice: (Recommendation & { readonly isPast?: true }) | undefined;
  /** The preview that proposes the discarded change again. Once it is resolved, its outcome counts. */
  readonly reopenedAs: Preview | undefined;
  /** The way to reverse the outcome, and the preview to do it to: a redo undoes the preview that undid this one. */
  readonly remedy: { readonly type: 'undo' | 'redo' | 'reopen'; readonly id: string } | undefined;
  /** The counts of each change; `undefined` until they are known. */
  readonly stats: readonly DiffStat[] | undefined;
  /** The sum over all changes; `undefined` if one of them was not counted. */
  readonly total: DiffStat | undefined;
  readonly buildsOn: readonly Preview[];
  readonly parts: readonly PreviewView[];
  /** Of a pending preview; empty for all others. */
  readonly checks: readonly CheckMark[];
  /** Of a pending preview, without the risk that its face already names: that of deleting a file. */
  readonly risks: readonly Risk[];
}

export function previewView(preview: Preview, facts: PreviewFacts = {}): PreviewView {
  const {
    lastAttempt,
    reopenedAs: again,
    undoneBy,
    stats,
    buildsOn = [],
    parts = [],
    checks = [],
    risks = [],
  } = facts;
  const outcome =
    again === undefined
      ? outcomeOf(preview, facts)
      : isOpen(again)
        ? outcomeOf(preview, {})
        : outcomeOf(again, { undoneBy });
  return {
    preview,
    lastAttempt,
    outcome,
    advice: outcome.kind === 'pending' ? outcome.recommendation : lastAttempt?.recommendation,
    reopenedAs: again,
    remedy: remedyOf(preview, facts),
    stats,
    buildsOn,
    parts,
    checks: outcome.kind === 'pending' ? checks : [],
    risks:
      outcome.kind === 'pending'
        ? risks.filter(({ kind }) => kind !== 'deletes' || faceOf(preview) !== 'delete')
        : [],
    total: stats && totalOf(stats, preview.changes?.length ?? 0),
  };
}

/** The sum of counts; `undefined` if there are fewer than `files`, or none. */
export function totalOf(stats: readonly DiffStat[], files: number): DiffStat | undefined {
  if (stats.length < files || stats.length === 0) return undefined;
  return stats.reduce((sum, stat) => ({
    added: sum.added + stat.added,
    removed: sum.removed + stat.removed,
    hunks: sum.hunks + stat.hunks,
    exact: sum.exact && stat.exact,
  }));
}

/** The obstacle to applying a pending preview. */
export function problemOf({ kind, changes, state }: Preview): PreviewProblem | undefined {
  if (state.kind !== 'pending') return undefined;
  const files = (changes ?? []).flatMap(change => {
    const count = conflictCount(change);
    return count === 0 ? [] : [{ path: change.path, count }];
  });
  if (files.length > 0) return { kind: 'conflicts', files };
  // The error of a stale preview would only repeat that it is stale.
  if (state.stale.length > 0) return { kind: 'stale', paths: state.stale };
  if (state.lastError === undefined) return undefined;
  return { kind: 'failed', error: state.lastError, ...(kind === 'action' ? { isPartial: true } : {}) };
}

function outcomeOf(preview: Preview, { lastAttempt, undoneBy }: PreviewFacts): PreviewOutcome {
  const { state, origin } = preview;
  switch (state.kind) {
    case 'pending': {
      const problem = problemOf(preview);
      const { recommendation } = state;
      const isPast = problem && problem.kind !== 'failed' && recommendation?.action === 'apply';
      return {
        kind: 'pending',
        problem,
        recommendation: recommendation && isPast ? { ...recommendation, isPast } : recommendation,
      };
    }
    case 'applying':
      return { kind: 'applying', action: state.action };
    case 'applied':
    case 'discarded': {
      if (lastAttempt?.outcome === 'returnedError')
        return { kind: 'returnedError', error: lastAttempt.message ?? '' };
      if (state.kind === 'applied' && undoneBy?.state.kind === 'applied')
        return { kind: 'undone', actor: undoneBy.state.by.actor };
      const { actor } = state.by;
      const reason = reasonGiven({ ...state.by, action: state.kind === 'applied' ? 'apply' : 'discard' });
      return {
        kind: state.kind,
        actor,
        reason,
        run: lastAttempt?.run,
        agent: actor === 'model' ? origin?.agent : undefined,
      };
    }
    case 'expired':
      return { kind: 'expired', reason: state.reason, wasInterrupted: state.interrupted === true };
  }
}

/** Undo for an applied preview, Redo for an undone one, Reopen for a discarded one, unless such a preview is already pending. */
function remedyOf(
  preview: Preview,
  { undoneBy, reopenedAs, isUndoPending }: PreviewFacts,
): PreviewView['remedy'] {
  const last = reopenedAs ?? preview;
  if (undoneBy && isUndoPending !== true && isUndoable(undoneBy)) return { type: 'redo', id: undoneBy.id };
  if (!undoneBy && isUndoPending !== true && isUndoable(last)) return { type: 'undo', id: last.id };
  return isReopenable(last) ? { type: 'reopen', id: last.id } : undefined;
}

/** Kind of effect of applying a preview, where it has a verb of its own. */
export type PreviewFace = 'change' | 'create' | 'delete' | 'rename' | 'run' | 'call' | 'approve';

/** One check's result on one or several previews, as a surface shows it. */
export interface CheckMark {
  readonly name: string;
  /** `notTested`: the check concerns the preview, but has not run on it; then `isCurrent` is `false`. */
  readonly state: 'running' | 'notTested' | CheckFact['outcome'];
  readonly failures?: CheckFact['failures'];
  readonly changed?: CheckFact['changed'];
  /** Nothing that the check saw has changed since. */
  readonly isCurrent: boolean;
  readonly seconds: number;
  readonly exitCode?: number;
  /** How many places its output names. */
  readonly problems: number;
  /** It has both passed and failed on the same files. */
  readonly isFlaky: boolean;
  /** Of the result; absent while it runs. */
  readonly resultId?: string;
  /** Ids of the other previews that were applied when it ran. */
  readonly together: readonly string[];
}
