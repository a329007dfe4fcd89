import { PLAN_SOURCE } from './authority.ts';
import type { LedgerEntry } from './ledger.ts';
import { nameOf, type Actor, type PartOf, type Preview, type ResolveAction } from './preview.ts';

/** Said to the model when a preview was staged. The wording is a contract. */
export const RESOLVE_REMINDER = `<system-reminder>
This is a preview. Call the \`resolve\` tool to apply or discard these changes.
</system-reminder>`;

/** Said to the model when it resolves and nothing is there. The wording is a contract. */
export const NOTHING_PENDING = 'No pending action to resolve. Nothing to apply or discard.';

/** The reasons that stand for a click without words. */
const DEFAULT_HUMAN_REASON = { apply: 'Applied by the user.', discard: 'Discarded by the user.' } as const;

export function reminderText(preview: Preview): string {
  return `${RESOLVE_REMINDER}\nPending: ${nameOf(preview)}`;
}

/** The reason of a human's vote: what was typed, else the sentence that stands for a click. */
export function humanReason(action: ResolveAction, typed?: string): string {
  const reason = typed?.trim();
  return reason ? reason : DEFAULT_HUMAN_REASON[action];
}

/** The line before the result of a tool call that staged something. */
export function stagedText(previews: readonly Preview[], userReviews: boolean): string {
  const ids = previews.map(preview => preview.id).join(', ');
  const who = userReviews ? ' The user reviews it.' : '';
  return `Staged as ${ids}, no file modified yet.${who}`;
}

/** The result of landing previews: the one that was meant, and those it is made on. */
export function appliedText(group: readonly Preview[], reason: string, unsaved: readonly string[]): string {
  const what = group.length === 1 ? (group[0]?.label ?? '') : group.map(nameOf).join(', ');
  const note =
    unsaved.length === 0
      ? ''
      : ` Not saved yet, because it has other unsaved changes: ${unsaved.join(', ')}.`;
  return `Applied: ${what}. Reason: ${reason}${note}`;
}

/** Told to the model when a preview is at another revision than the one it saw. */
export function revisionText(preview: Preview, by: 'rebase' | 'user' | 'split', patch?: string): string {
  const { id, revision, label } = preview;
  switch (by) {
    case 'rebase':
      return `${id} (${label}) was moved onto the file as it is now; it is at revision ${revision}. Earlier recommendations on it are dropped.`;
    case 'user': {
      const text = `The user edited the proposal of ${id} (${label}); it is at revision ${revision} and the user decides on it.`;
      return patch === undefined ? text : `${text}\nWhat the user changed in it:\n${patch}`;
    }
    case 'split':
      return `A part was split off ${id} (${label}), which the user decides on by itself; the rest is at revision ${revision}.`;
  }
}

export function unknownPreviewText(id: string): string {
  return `There is no preview ${id}. Call resolve without an id to resolve the current one.`;
}

/** Told to the model and the person when asking did not lead to an answer, or `failures` of its applies failed. */
export function leftToUserText(preview: Preview, failures: number): string {
  const why =
    failures > 0 ? `could not be applied ${failures} times` : 'was not resolved when it was asked for';
  return `${nameOf(preview)} ${why}. It is left to the user now.`;
}

export function unseenText(preview: Preview): string {
  return `${nameOf(preview)} was staged after your last look: you have not seen its diff yet. Nothing was changed. Resolve it in your next message.`;
}

export function foreignText(preview: Preview): string {
  return `${nameOf(preview)} does not belong to this conversation: you have not seen its diff. Nothing was changed. The user resolves it.`;
}

export function revisedText(preview: Preview, seen: number): string {
  return (
    `${nameOf(preview)} is at revision ${preview.revision} now, and this was about revision ${seen}. ` +
    'Nothing was changed. Look at the new revision and resolve it again.'
  );
}

export function unsettledText(preview: Preview, paths: readonly string[]): string {
  return `${nameOf(preview)} still holds conflict markers in ${paths.join(', ')}, which the user settles first. Nothing was changed.`;
}

export function recommendedText(preview: Preview): string {
  return (
    `Your recommendation for ${nameOf(preview)} is recorded. The user decides; nothing has changed yet. ` +
    'Do not resolve it again: you will be told the outcome.'
  );
}

export function ownVoteText(preview: Preview): string {
  return `${nameOf(preview)} is being resolved by the very callback that asks for it, which has to end first.`;
}

/** Told to `asker`, who voted too late. `last` is what the ledger has of the preview. */
export function circularVoteText(preview: Preview): string {
  return `${nameOf(preview)} is being resolved by a callback that waits for the one that asks for it. One of them has to end first.`;
}

export function alreadyResolvedText(preview: Preview, asker: Actor, last?: LedgerEntry): string {
  const { state } = preview;
  switch (state.kind) {
    case 'applied':
    case 'discarded': {
      const failure = last?.outcome === 'failed' ? `, which failed: ${last.message ?? last.reason}` : '';
      return `${nameOf(preview)} was already resolved by ${byWhom(state.by.actor, asker)}: ${state.kind}${failure}. Reason: ${state.by.reason}`;
    }
    case 'expired':
      if (state.interrupted)
        return `${nameOf(preview)} was being applied when the window closed. Whether it was done is not known: check before you stage it again.`;
      return expiredText(preview);
    case 'pending':
      return `${nameOf(preview)} was being resolved by somebody else, which failed: ${state.lastError ?? 'unknown reason'}. It is pending again.`;
    case 'applying':
      return `${nameOf(preview)} is being resolved by ${byWhom(state.actor, asker)} right now.`;
  }
}

export function expiredText(preview: Preview): string {
  return `${nameOf(preview)} has expired: what it would have run is gone. Nothing was changed. Stage it again if it is still needed.`;
}

/** Tells the model what became of a preview that it did not resolve itself, or whose resolve it lost sight of. */
export function outcomeText(entry: LedgerEntry, part?: PartOf): string {
  if (entry.sourceToolName === PLAN_SOURCE && entry.actor === 'human') return planOutcomeText(entry);
  const name = `${entry.previewId} (${entry.label})`;
  if (entry.actor === 'model') {
    const outcome =
      entry.outcome === 'failed' ? `it failed: ${entry.message ?? entry.reason}` : entry.outcome;
    return `Your ${entry.action} of ${name} ran on after it was interrupted: ${outcome}.`;
  }
  if (part && entry.outcome === 'discarded') return `${outcomeText(entry)}\nThe refused part:\n${part.patch}`;
  const who = entry.actor === 'human' ? 'The user' : 'Another extension';
  const typed = entry.reason === DEFAULT_HUMAN_REASON[entry.action] ? '' : ` Reason: "${entry.reason}"`;
  switch (entry.outcome) {
    case 'applied':
      return `${who} applied ${name}.${typed}`;
    case 'discarded': {
      const whose = entry.actor === 'human' ? "the user's decision" : 'a decision';
      return `${who} discarded ${name}. This is ${whose}, not a failure.${typed}`;
    }
    case 'failed':
      return `${who} tried to ${entry.action} ${name}, which failed: ${entry.message ?? entry.reason}`;
  }
}

/** The same for a plan, which is approved or sent back. */
function planOutcomeText(entry: LedgerEntry): string {
  const { previewId, reason } = entry;
  const note = reason === DEFAULT_HUMAN_REASON[entry.action] ? undefined : reason;
  switch (entry.outcome) {
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
