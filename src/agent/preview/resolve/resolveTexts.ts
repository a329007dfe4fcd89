import { listed } from '../../base/listed.ts';
import { plural } from '../../text/plural.ts';
import type { Fact } from '../feed.ts';
import { FOUND_APPLIED, plainOutcome, type CheckFact, type LedgerEntry } from '../ledger.ts';
import { nameOf, type Actor, type Preview, type ResolveAction } from '../preview.ts';
import type { Proof } from './proof.ts';

/** Tells the model that a preview was staged. The wording is fixed; what varies goes into {@link reminderText}. */
export const RESOLVE_REMINDER = `<system-reminder>
This is a preview. Call the \`resolve\` tool to apply or discard these changes.
</system-reminder>`;

/** Answers a `resolve` when nothing is pending. The wording is fixed. */
export const NOTHING_PENDING = 'No pending action to resolve. Nothing to apply or discard.';

/** The reasons of a user's vote without a typed reason. The wording is a contract. */
const DEFAULT_HUMAN_REASON = { apply: 'Applied by the user.', discard: 'Discarded by the user.' } as const;

/** Answers a `resolve` that would have submitted a plan. */
export const PLAN_MODE_ENDED =
  'Plan mode was switched off before this arrived, so no plan was submitted. Nothing was changed. Call resolve with the id of a preview to resolve it.';

/** What has become of a preview whose apply returned an error, and of one whose attempt failed. */
const RETURNED_ERROR = 'ran and returned an error, and does not run again';
const FAILED = 'failed, so it was';

/** What an attempt that failed leaves undone. The preview is pending again, or has expired if its producer is gone. */
export const NOT_DONE: Readonly<Record<ResolveAction, string>> = {
  apply: 'not applied',
  discard: 'not discarded',
};

export function reminderText(preview: Preview): string {
  return `${RESOLVE_REMINDER}\nPending: ${nameOf(preview)}`;
}

/** The reason of a user's vote: what was typed, else the default sentence. */
export function humanReason(action: ResolveAction, typed?: string): string {
  const reason = typed?.trim();
  return reason ? reason : DEFAULT_HUMAN_REASON[action];
}

/** The line before the result of a tool call that staged something. */
export function stagedText(previews: readonly Preview[], userReviews: boolean): string {
  const who = userReviews ? ' The user reviews it.' : '';
  return `Staged as ${idsOf(previews)}, no file modified yet.${buildsOnText(previews)}${who}`;
}

/** The ids, as a list. */
export function idsOf(previews: readonly Preview[]): string {
  return previews.map(preview => preview.id).join(', ');
}

/** ` Builds on the pending preview p1.`; empty if they build on no others. */
export function buildsOnText(previews: readonly Preview[]): string {
  const own = new Set(previews.map(preview => preview.id));
  const beneath = [...new Set(previews.flatMap(preview => preview.dependsOn))].filter(id => !own.has(id));
  if (beneath.length === 0) return '';
  return ` Builds on the pending ${beneath.length === 1 ? 'preview' : 'previews'} ${beneath.join(', ')}.`;
}

/** The result of applying previews: the requested one, after those that it builds on. */
export function appliedText(group: readonly Preview[], reason: string, unsaved: readonly string[]): string {
  const what = group.length === 1 ? (group[0]?.label ?? '') : group.map(nameOf).join(', ');
  const note =
    unsaved.length === 0
      ? ''
      : ` Not saved yet, because it has other unsaved changes: ${unsaved.join(', ')}.`;
  return `Applied: ${what}. Reason: ${reason}${note}`;
}

/** Tells an agent what happened to a preview of its own that it did not do itself. */
export function factText(fact: Fact, preview: Preview): string {
  switch (fact.kind) {
    case 'attempt':
      return outcomeText(fact.entry, { preview });
    case 'revision':
      return revisionText({ ...preview, revision: fact.revision }, fact.by, fact.patch);
    case 'expiry':
      return expiredText(preview);
  }
}

/** Tells the model that a preview has a new revision. */
export function revisionText(preview: Preview, by: 'rebase' | 'user' | 'split', patch?: string): string {
  const { id, revision, label } = preview;
  switch (by) {
    case 'rebase':
      return `${id} (${label}) was rebased onto the current file and is now at revision ${revision}. Earlier recommendations for it no longer count.`;
    case 'user': {
      if (preview.kind === 'plan')
        return `The user edited the plan (${id}), which is now at revision ${revision}. It reads:\n${patch ?? ''}`;
      const text = `The user edited the proposal of ${id} (${label}). It is now at revision ${revision}, and the user decides on it.`;
      return patch === undefined ? text : `${text}\nWhat the user changed in it:\n${patch}`;
    }
    case 'split':
      return `A part of ${id} (${label}) was split off for the user to decide on separately; the rest is now at revision ${revision}.`;
  }
}

export function unknownPreviewText(id: string): string {
  return `There is no preview ${id}. Call resolve without an id to resolve the current one.`;
}

/**
 * Tells the model and the user that the model is no longer asked to resolve a preview.
 * @param failures how many applies failed; 0 if the model did not answer.
 */
export function leftToUserText(preview: Preview, failures: number): string {
  const why =
    failures > 0 ? `failed to apply ${plural(failures, 'time')}` : 'was not resolved when asked for';
  return `${nameOf(preview)} ${why}. It is now left to the user.`;
}

export function unseenText(preview: Preview): string {
  return `${nameOf(preview)} was staged only now, so you have not seen its diff yet. Nothing was changed. Resolve it in your next message.`;
}

export function otherConversationText(preview: Preview): string {
  return `${nameOf(preview)} does not belong to this conversation, so you have not seen its diff. Nothing was changed. The user resolves it.`;
}

export function outdatedVoteText(preview: Preview, seen: number): string {
  return (
    `${nameOf(preview)} is now at revision ${preview.revision}, but this vote was for revision ${seen}. ` +
    'Nothing was changed. Look at the new revision and resolve it again.'
  );
}

export function openConflictsText(preview: Preview, paths: readonly string[]): string {
  return `${nameOf(preview)} still contains conflict markers in ${listed(paths)}. The user must resolve them first. Nothing was changed.`;
}

/** The line before the error that the model's own apply returned. */
export function returnedErrorText(preview: Preview): string {
  return `${nameOf(preview)} counts as applied: it ${RETURNED_ERROR}. The error:`;
}

/**
 * @param planning what the model voted for, if it is only recorded because plan mode is on
 * @param unproved why it is only recorded, in the mode in which checks must pass
 */
export function recommendedText(
  preview: Preview,
  planning?: ResolveAction,
  unproved?: Extract<Proof, { isProved: false }>,
): string {
  const name = nameOf(preview);
  if (unproved) return unprovedText(name, unproved);
  const recorded =
    planning === undefined
      ? `Your recommendation for ${name} is recorded.`
      : `Plan mode is on, so your ${planning} of ${name} is only recorded, as a recommendation.`;
  return `${recorded} The user decides; nothing has changed yet. Do not resolve it again: you will be told the outcome.`;
}

function unprovedText(name: string, { why, checks }: Extract<Proof, { isProved: false }>): string {
  const kept = `${name} was not applied. Your vote is kept as a recommendation, and the user decides.`;
  switch (why) {
    case 'failed': {
      const failed = checks.filter(({ outcome }) => outcome !== 'passed').map(checkFactText);
      return `${kept} Not every check passes with it: ${failed.join(', ')}. Call run_checks to see what they say, and mend it. It is applied with the next preview that you vote for if the checks pass on both.`;
    }
    case 'changed':
      return `${kept} Files changed while the checks ran, or have unsaved changes, so their results are not about what would be written.`;
    case 'noChecks':
      return `${kept} The user has set no check that concerns its files.`;
    case 'cannotRun':
      return `${kept} The checks cannot run by themselves here: the user must run them.`;
  }
}

/** How a check ended: `test failed (exit code 1)`. */
export function checkFactText({ name, outcome, exitCode }: CheckFact): string {
  switch (outcome) {
    case 'passed':
      return `${name} passed`;
    case 'failed':
      return `${name} failed${exitCode === undefined ? '' : ` (exit code ${exitCode})`}`;
    case 'timedOut':
      return `${name} was ended after its time limit`;
    case 'stopped':
      return `${name} was stopped`;
    case 'notRun':
      return `${name} could not be run`;
  }
}

export function ownVoteText(preview: Preview): string {
  return `${nameOf(preview)} is being resolved by the callback that made this request. The callback must return first.`;
}

export function circularVoteText(preview: Preview): string {
  return `${nameOf(preview)} is being resolved by a callback that is waiting for the callback that made this request. One of them must return first.`;
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
        last?.outcome === 'returnedError' ? `, and returned an error: ${last.message ?? last.reason}` : '';
      return `${nameOf(preview)} was already resolved by ${byWhom(state.by.actor, asker)}: ${state.kind}${failure}. Reason: ${state.by.reason}`;
    }
    case 'expired':
      if (state.interrupted)
        return `${nameOf(preview)} was being applied when the window closed. It is unknown whether it took effect: check before you stage it again.`;
      return expiredText(preview);
    case 'pending':
      return `Another attempt to resolve ${nameOf(preview)} failed: ${state.lastError ?? 'unknown reason'}. It is pending again.`;
    case 'applying':
      return `${nameOf(preview)} is being resolved by ${byWhom(state.actor, asker)} right now.`;
  }
}

export function expiredText(preview: Preview): string {
  const { state } = preview;
  if (state.kind === 'expired' && state.reason !== undefined)
    return `${nameOf(preview)} has expired: ${state.reason}`;
  return `${nameOf(preview)} has expired: what it would have run is gone. Nothing was changed. Stage it again if it is still needed.`;
}

/** Circumstances that change the words of {@link outcomeText}. */
interface OutcomeContext {
  /** The preview, if it is still known. */
  readonly preview?: Preview;
  /** The model resolved it on a branch that has since been abandoned, and no longer sees its call. */
  readonly onAbandonedBranch?: boolean;
}

/** Tells the model the outcome of a preview that it did not resolve itself, or whose `resolve` it no longer sees. */
export function outcomeText(
  entry: LedgerEntry,
  { preview, onAbandonedBranch = false }: OutcomeContext = {},
): string {
  if (entry.kind === 'plan' && entry.actor === 'human') return planOutcomeText(entry);
  const { outcome } = entry;
  const failed = `${FAILED} ${NOT_DONE[entry.action]}`;
  const name = `${entry.previewId} (${entry.label})`;
  const error = entry.message ?? entry.reason;
  if (entry.actor === 'model') {
    const what = { failed, returnedError: RETURNED_ERROR, applied: '', discarded: '' }[outcome];
    const end = what === '' ? outcome : `it ${what}: ${error}`;
    const when = onAbandonedBranch ? 'on the abandoned branch' : 'finished after it was interrupted';
    return `Your ${entry.action} of ${name} ${when}: ${end}.`;
  }
  if (isFoundApplied(entry)) return `${name} was applied. ${FOUND_APPLIED} Who decided it is not known.`;
  if (preview?.part && outcome === 'discarded')
    return `${outcomeText(entry)}\nThe refused part:\n${preview.part.patch}`;
  const who = entry.actor === 'human' ? 'The user' : 'Another extension';
  const typed = entry.reason === DEFAULT_HUMAN_REASON[entry.action] ? '' : ` Reason: "${entry.reason}"`;
  switch (outcome) {
    case 'applied':
      return `${who} applied ${name}.${typed}${resultText(entry, preview)}`;
    case 'discarded': {
      const whose = entry.actor === 'human' ? "the user's decision" : 'a decision';
      return `${who} discarded ${name}. This is ${whose}, not a failure.${typed}`;
    }
    case 'returnedError':
      return `${who} applied ${name}.${typed} It ${RETURNED_ERROR}: ${error}`;
    case 'failed':
      return `${who} tried to ${entry.action} ${name}, which ${failed}: ${error}`;
  }
}

/** What the model stages for its result: what a command writes, what a tool of VS Code answers. */
function resultText({ message }: LedgerEntry, preview: Preview | undefined): string {
  const isWanted = preview?.purpose === 'command' || preview?.purpose === 'toolCall';
  return isWanted && message !== undefined ? `\nIts result: ${message}` : '';
}

function isFoundApplied({ actor, reason }: Pick<LedgerEntry, 'actor' | 'reason'>): boolean {
  return actor === 'extension' && reason === FOUND_APPLIED;
}

/** The same for a plan, which the user approves or sends back. */
function planOutcomeText(entry: LedgerEntry): string {
  const { previewId, reason } = entry;
  const note = reason === DEFAULT_HUMAN_REASON[entry.action] ? undefined : reason;
  switch (plainOutcome(entry.outcome)) {
    case 'applied': {
      const said = note === undefined ? '' : ` The user says: "${note}"`;
      return `The user approved the plan (${previewId}). Plan mode is off: carry it out now.${said}`;
    }
    case 'discarded':
      return note === undefined
        ? `The user wants the plan (${previewId}) refined, and did not say how. Ask what is missing, or improve it and submit it again.`
        : `The user wants the plan (${previewId}) refined: "${note}". Plan mode is still on: refine it and submit it again.`;
    case 'failed':
      return `The user tried to ${entry.action === 'apply' ? 'approve' : 'send back'} the plan (${previewId}), which failed: ${entry.message ?? reason}`;
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
export function reasonGiven({
  actor,
  action,
  reason,
}: Pick<LedgerEntry, 'actor' | 'action' | 'reason'>): string | undefined {
  return actor === 'human' && reason === humanReason(action) ? undefined : reason;
}
