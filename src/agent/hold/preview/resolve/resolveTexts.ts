import { escapeInvisible } from '../../../base/foreignText.ts';
import { quoted, safeText } from '../../../base/safeName.ts';
import { renewText, staleReason } from '../errors.ts';
import { fenced, listed, plural } from '../../../base/phrases.ts';
import type { Fact } from '../feed.ts';
import {
  FOUND_APPLIED,
  isPlanModeLeft,
  plainOutcome,
  type LedgerEntry,
  type LostFile,
  type Vote,
} from '../ledger.ts';
import type { RevisedBy } from '../log/previewLog.ts';
import {
  isOpen,
  nameOf,
  namesOf,
  type Actor,
  type Preview,
  type Resolution,
  type ResolveAction,
} from '../preview.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';
import { unsavedText } from './voteTexts.ts';

/** Tells the model that a preview was staged. The wording is fixed; the varying text goes into {@link reminderText}. */
export const RESOLVE_REMINDER = `<system-reminder>
This is a preview. Call the \`resolve\` tool to apply or discard these changes.
</system-reminder>`;

/** Answers a `resolve` when nothing is pending. The wording is fixed. */
export const NOTHING_PENDING = 'No pending action to resolve. Nothing to apply or discard.';

/** The reasons of a user's vote without a typed reason. The wording is a contract. */
const DEFAULT_HUMAN_REASON = { apply: 'Applied by the user.', discard: 'Discarded by the user.' } as const;

/** The state of a preview whose apply returned an error, and of one whose attempt failed. */
export const RETURNED_ERROR = 'ran and returned an error, and does not run again';
const FAILED = 'failed, so it was';

/** The consequence of a failed attempt. The preview is pending again, or has expired if its producer is gone. */
export const NOT_DONE: Readonly<Record<ResolveAction, string>> = {
  apply: 'not applied',
  discard: 'not discarded',
};

export function reminderText(preview: Preview): string {
  return `${RESOLVE_REMINDER}\nPending: ${nameOf(preview)}`;
}

/** One reminder for all staged previews that the model has not voted on. @param unshown those that it must look at first */
export function changeSetText(previews: readonly Preview[], unshown: readonly Preview[] = []): string {
  const [only, ...others] = previews;
  const asking =
    only && others.length === 0
      ? reminderText(only)
      : `${RESOLVE_REMINDER}\nStaged: ${namesOf(previews)}. Vote on all of them in one call, with their ids.`;
  const look = `\nYou have not been shown all of ${idsOf(unshown)}: call pending with the id first.`;
  return unshown.length > 0 ? `${asking}${look}` : asking;
}

/** The reason of a user's vote: the typed one, else the default sentence. */
export function humanReason(action: ResolveAction, typed?: string): string {
  return typed?.trim() || DEFAULT_HUMAN_REASON[action];
}

/** The ids, as a list. */
export function idsOf(previews: readonly Preview[]): string {
  return previews.map(preview => preview.id).join(', ');
}

/** Tells an agent what somebody else did to its preview. */
export function factText(fact: Fact, preview: Preview): string {
  switch (fact.kind) {
    case 'attempt':
      return outcomeText(fact.entry, { preview });
    case 'revision':
      return revisionText({ ...preview, revision: fact.revision }, fact.by, fact.patch, fact.isWider);
    case 'expiry':
      return expiredText(preview);
    case 'stale': {
      const { paths, lost, toRead, beneath } = fact;
      const why =
        beneath.length > 0
          ? `${listed(beneath)}, on which it builds, changed or became stale.`
          : staleReason(paths, lost);
      const { state } = preview;
      const since =
        state.kind === 'pending' && state.recommendation ? 'has become stale since your vote' : 'is stale';
      return `${nameOf(preview)} ${since} and cannot be applied as it is: ${why} ${renewText(toRead)}`;
    }
    case 'fresh':
      return `${nameOf(preview)} is no longer stale: the files are again as they were when it was made. Do not stage it again.`;
  }
}

/** Tells the model that a preview has a new revision. */
export function revisionText(preview: Preview, by: RevisedBy, patch?: string, isWider = false): string {
  const { id, revision } = preview;
  switch (by) {
    case 'rebase': {
      const paths = conflictPaths(preview.changes ?? []);
      if (paths.length > 0)
        return `${nameOf(preview)} was rebased onto the current file, which gave conflicts in ${listed(paths)}. It is now at revision ${revision}, and the user must settle them before it can be applied. If you stage the change anew instead, this one should be discarded.`;
      const onto = isWider
        ? 'the files as they are now, and creates or deletes more than before. It'
        : 'the current file and';
      return `${nameOf(preview)} was rebased onto ${onto} is now at revision ${revision}. Any earlier vote on it no longer counts.`;
    }
    case 'user': {
      if (preview.kind === 'plan')
        return `The user edited the plan (${id}), which is now at revision ${revision}. It reads:\n${fenced(patch ?? '')}`;
      const now = isOpen(preview)
        ? ` It is now at revision ${revision}, and the user decides on it. Stage any further change as a preview of its own.`
        : '';
      const text = `The user edited ${nameOf(preview)}.${now}`;
      return patch === undefined ? text : `${text}\nWhat the user changed in it:\n${fenced(patch)}`;
    }
    case 'amend':
      return `Your last amendment of ${nameOf(preview)} was made, although you did not get its result: it is now at revision ${revision}. Call pending with its id to see it.`;
    case 'split':
      return `A part of ${nameOf(preview)} was split off for the user to decide on separately; the rest is now at revision ${revision}.`;
  }
}

export function unknownPreviewText(id: string): string {
  return `There is no preview ${id}. Call pending to list those that wait.`;
}

/**
 * Tells the model and the user that the model is no longer asked to resolve previews.
 * @param failures how many applies failed; 0 if the model did not answer.
 */
export function leftToUserText(previews: readonly Preview[], failures: number): string {
  const names = listed(previews.map(nameOf));
  if (failures > 0)
    return `${names} failed to apply ${plural(failures, 'time')}. It is now left to the user.`;
  return previews.length === 1
    ? `${names} was not resolved when asked for. It is now left to the user.`
    : `${names} were not resolved when asked for. They are now left to the user.`;
}

export function outdatedVoteText(preview: Preview, seen: number): string {
  return `${nameOf(preview)} is now at revision ${preview.revision}, but this vote was for revision ${seen}, so it does not count. Look at the new revision and vote again.`;
}

export function openConflictsText(preview: Preview, paths: readonly string[]): string {
  return `${nameOf(preview)} still contains conflict markers in ${listed(paths)}. The user must settle them before it can be applied.`;
}

export function callbackVoteText(preview: Preview): string {
  return `${nameOf(preview)} is being resolved, and a callback cannot wait for that. The callback must return first.`;
}

/**
 * Answers a vote that came too late.
 * @param asker who voted.
 * @param last the latest entry of the preview in the ledger.
 */
export function alreadyResolvedText(preview: Preview, asker: Actor, last?: LedgerEntry): string {
  const { state } = preview;
  switch (state.kind) {
    case 'applied':
    case 'discarded': {
      if (isFoundApplied(state.by)) return `${nameOf(preview)} was already applied. ${FOUND_APPLIED}`;
      const failure =
        last?.outcome === 'returnedError'
          ? `, and returned an error: ${safeText(last.message ?? last.reason)}`
          : '';
      const why = reasonGiven({ ...state.by, action: state.kind === 'applied' ? 'apply' : 'discard' });
      const because = why === undefined ? '' : ` Reason: ${safeText(why)}`;
      return `${nameOf(preview)} was already resolved by ${byWhom(state.by.actor, asker)}: ${state.kind}${failure}.${because}`;
    }
    case 'expired':
      if (state.interrupted)
        return `${nameOf(preview)} was being applied when the window closed. It is unknown whether it took effect: check before you stage it again.`;
      return expiredText(preview);
    case 'pending':
      return `Another attempt to resolve ${nameOf(preview)} failed: ${safeText(state.lastError ?? 'unknown reason')}. It is pending again.`;
    case 'applying':
      return `${nameOf(preview)} is being resolved by ${byWhom(state.actor, asker)} right now.`;
  }
}

export function expiredText(preview: Preview): string {
  const { state } = preview;
  if (state.kind === 'expired' && state.reason !== undefined)
    return `${nameOf(preview)} has expired: ${safeText(state.reason)}`;
  return `${nameOf(preview)} has expired: it did not run, and what it would have run is gone. Stage it again if it is still needed.`;
}

/** Circumstances that change the words of {@link outcomeText}. */
interface OutcomeContext {
  /** The preview, if it is still known. */
  readonly preview?: Preview;
  /** The model resolved it on a branch that has since been abandoned, and can no longer see its call. */
  readonly onAbandonedBranch?: boolean;
}

/** Tells the model the outcome of a preview that somebody else resolved, or whose `resolve` it no longer sees. */
export function outcomeText(
  entry: LedgerEntry,
  { preview, onAbandonedBranch = false }: OutcomeContext = {},
): string {
  if (entry.kind === 'plan' && entry.actor === 'human') return planOutcomeText(entry);
  const { outcome, lost } = entry;
  if (lost) return lostOutcomeText(entry, lost);
  const failed = `${FAILED} ${NOT_DONE[entry.action]}`;
  const { previewId: id, label } = entry;
  const part = preview?.part;
  const name = `${nameOf(preview ? { ...preview, label } : { id, label })}${part ? `, a part of ${part.previewId}` : ''}`;
  const error = errorText(entry, preview);
  if (entry.actor === 'model') {
    const what = { failed, returnedError: RETURNED_ERROR, applied: '', discarded: '' }[outcome];
    const when = onAbandonedBranch ? 'on the abandoned branch' : 'ended after it was interrupted';
    const vote = `Your vote to ${entry.action} ${name} ${when}:`;
    return what === '' ? `${vote} ${outcome}.` : `${vote} it ${what}:${error}`;
  }
  if (isFoundApplied(entry)) return `${name} was applied. ${FOUND_APPLIED} Who decided it is not known.`;
  const who = entry.actor === 'human' ? 'The user' : 'Another extension';
  const typed = entry.reason === DEFAULT_HUMAN_REASON[entry.action] ? '' : ` Reason: ${reasonText(entry)}`;
  switch (outcome) {
    case 'applied':
      return `${who} applied ${name}.${typed}${unsavedText(entry.unsaved)}${resultText(entry, preview)}`;
    case 'discarded': {
      const whose = entry.actor === 'human' ? "the user's decision" : 'a decision';
      const refused = part ? `\nThe refused part:\n${fenced(part.patch)}` : '';
      return `${who} discarded ${name}. This is ${whose}, not a failure.${typed}${refused}`;
    }
    case 'returnedError':
      return `${who} applied ${name}.${typed} It ${RETURNED_ERROR}:${error}`;
    case 'failed':
      return `${who} tried to ${entry.action} ${name}, which ${failed}:${error}`;
  }
}

/** Takes back an earlier message about an apply. */
function lostOutcomeText({ previewId, label, message = '' }: LedgerEntry, lost: readonly LostFile[]): string {
  const paths = listed(lost.map(({ path }) => path));
  return `${previewId} (${label}) was applied, and is pending again: ${message} Read ${paths} again before you go on.`;
}

/**
 * An error as it follows a colon. An error of a producer's code is fenced, since it could pass for a sentence of ours or of the
 * user, and so is one of several lines; the answer of a tool that has fenced foreign words itself is not.
 */
function errorText({ message, reason, kind }: LedgerEntry, preview?: Preview): string {
  const error = message ?? reason;
  if (isCalledForResult(preview)) return ` ${error}`;
  const isPlain = kind !== 'action' && safeText(error, Infinity) === error;
  return isPlain ? ` ${error}` : `\n${fenced(escapeInvisible(error))}`;
}

function isCalledForResult(preview: Preview | undefined): boolean {
  return preview?.purpose === 'command' || preview?.purpose === 'toolCall';
}

/** The result for which the model staged the preview: the output of a command, or the answer of a tool of VS Code. */
function resultText({ message }: LedgerEntry, preview: Preview | undefined): string {
  return isCalledForResult(preview) && message !== undefined ? `\nIts result:\n${message}` : '';
}

function isFoundApplied({ actor, reason }: Resolution): boolean {
  return actor === 'extension' && reason === FOUND_APPLIED;
}

/** A quoted reason. An extension's reason never becomes a line of its own, no matter what is in it. */
function reasonText({ reason, actor }: Vote): string {
  return actor === 'human' ? `"${reason}"` : quoted(reason);
}

/** The same for a plan, which the user approves or sends back. */
function planOutcomeText(entry: LedgerEntry): string {
  const { previewId, reason } = entry;
  const note = reason === DEFAULT_HUMAN_REASON[entry.action] ? undefined : reason;
  switch (plainOutcome(entry.outcome)) {
    case 'applied': {
      const said = note === undefined ? '' : ` The user says: "${note}"`;
      return `The user approved the plan (${previewId}): carry it out now.${said}`;
    }
    case 'discarded':
      if (isPlanModeLeft(entry))
        return `The user withdrew the plan (${previewId}), which waited for approval. The user's next prompt says what to do.`;
      return note === undefined
        ? `The user sent the plan (${previewId}) back and did not say why. Ask what is missing, and whether a plan is still wanted.`
        : `The user sent the plan (${previewId}) back: "${note}"\nPlan mode is still on: if a plan is still wanted, refine it and submit it again.`;
    case 'failed':
      return `The user tried to ${entry.action === 'apply' ? 'approve' : 'send back'} the plan (${previewId}), which failed:${errorText(entry)}`;
  }
}

function byWhom(actor: Actor, asker: Actor): string {
  switch (actor) {
    case 'human':
      return 'the user';
    case 'model':
      return asker === 'model' ? 'you' : 'the model';
    case 'extension':
      return 'another extension';
  }
}

/** The reason for a vote; `undefined` if the user gave none. */
export function reasonGiven({ actor, action, reason }: Vote): string | undefined {
  return actor === 'human' && reason === humanReason(action) ? undefined : reason;
}
