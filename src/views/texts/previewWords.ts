import * as l10n from '@vscode/l10n';
import type { DeepReadonly } from '../../agent/base/json.ts';
import type { CardProblem, CardState, PreviewItem } from '../chat/protocol.ts';
import { plural, shortList } from '../plainText.ts';

// The page imports this too, without Node's types: so these functions take the types that the page is sent, which a `PreviewView`
// fits.

/** The problem of a `PreviewView`, or a part of it that was sent to the page. */
type Problem = DeepReadonly<CardProblem>;
type Resolved = Extract<CardState, { actor: unknown }>;

/** The codicons of changes to files. */
export const kindIcons = {
  modify: 'diff-modified',
  create: 'diff-added',
  delete: 'diff-removed',
  rename: 'diff-renamed',
} as const;

/** Makes foreign text fit where a sentence is shown. */
type Clean = (text: string) => string;

/** The reason why a preview cannot be applied, as a sentence. */
export function problemText(problem: Problem, clean: Clean): string {
  const list = (names: readonly string[], more: number | undefined): string =>
    shortList(
      names.map(name => clean(name)),
      more,
    );
  switch (problem.kind) {
    case 'conflicts': {
      const places = problem.files.map(({ path, count }) => l10n.t('{0} in {1}', count, path));
      return l10n.t('Conflicts to resolve in the proposal: {0}.', list(places, problem.more));
    }
    case 'stale':
      return l10n.t('Stale: {0} changed after this was proposed.', list(problem.paths, problem.more));
    case 'failed':
      return problem.isPartial
        ? l10n.t('The last attempt failed, and may have run in part: {0}', clean(problem.error))
        : l10n.t('The last attempt failed: {0}', clean(problem.error));
  }
}

/** Describes *Rebase*. */
export function rebaseText(): string {
  return l10n.t('Rebase fits the change to the file as it is now, for you to look at. It writes nothing.');
}

/** Whether applying the preview runs it again after an attempt that may have run in part. */
export function isRunAgain(problem: Problem | undefined): boolean {
  return problem?.kind === 'failed' && problem.isPartial === true;
}

/** The step that a preview is in right now. */
export function underWayText(action: 'apply' | 'discard', face: PreviewItem['face'] | undefined): string {
  if (action === 'discard') return l10n.t('Discarding…');
  return face === 'run' || face === 'call' ? l10n.t('Running…') : l10n.t('Applying…');
}

/** Label of the button that applies a preview. */
export function applyVerb(face: PreviewItem['face'], problem: Problem | undefined): string {
  if (isRunAgain(problem)) return l10n.t('Run Again');
  switch (face) {
    case 'change':
      return l10n.t('Apply');
    case 'create':
      return l10n.t('Create');
    case 'delete':
      return l10n.t('Delete');
    case 'rename':
      return l10n.t('Rename');
    case 'run':
      return l10n.t('Run');
    case 'call':
      return l10n.t('Call Tool');
    case 'approve':
      return l10n.t('Approve');
  }
}

/** Label of the button that applies or discards this many previews. */
export function allText(action: 'apply' | 'discard', count: number): string {
  const forms =
    action === 'apply'
      ? l10n.t('Apply 1 change|Apply all {0} changes')
      : l10n.t('Discard 1 change|Discard all {0} changes');
  return plural(forms, count);
}

/** `2 conflicts left` */
export function conflictsLeftText({ files }: Extract<Problem, { kind: 'conflicts' }>): string {
  const count = files.reduce((sum, file) => sum + file.count, 0);
  return plural(l10n.t('1 conflict left|{0} conflicts left'), count);
}

/** @param recommendation with `isOfSet`, its reason is not one for this preview alone; `isPast` once someone has decided */
export function recommendationText(
  {
    action,
    reason,
    isOfSet,
    isPast,
    isUnread,
  }: {
    readonly action: 'apply' | 'discard';
    readonly reason: string;
    readonly isOfSet?: boolean | undefined;
    readonly isPast?: boolean | undefined;
    readonly isUnread?: boolean | undefined;
  },
  clean: Clean,
): string {
  const said = clean(reason) || l10n.t('No reason provided');
  const why = isUnread ? `${said} ${l10n.t('(The model was not shown all of the diff.)')}` : said;
  if (isPast)
    return action === 'apply'
      ? l10n.t('The model recommended Apply: {0}', why)
      : l10n.t('The model recommended Discard: {0}', why);
  if (isOfSet)
    return action === 'apply'
      ? l10n.t('The model recommends Apply for several changes together: {0}', why)
      : l10n.t('The model recommends Discard for several changes together: {0}', why);
  return action === 'apply'
    ? l10n.t('The model recommends Apply: {0}', why)
    : l10n.t('The model recommends Discard: {0}', why);
}

/** Why an expired preview can no longer be resolved. */
export function expiredText(
  { reason, wasInterrupted }: Readonly<Extract<CardState, { kind: 'expired' }>>,
  clean: Clean,
): string {
  if (reason !== undefined) return l10n.t('Expired: {0}', clean(reason));
  return wasInterrupted
    ? l10n.t('Interrupted while being applied: the action may or may not have run')
    : l10n.t('Expired: this action can no longer run');
}

/**
 * `Applied by you`
 * @param agent the agent of another program that did it
 * @param isPlan a plan is approved or sent back
 */
export function outcomeText(
  kind: Resolved['kind'],
  actor: Resolved['actor'],
  agent: string | undefined,
  isPlan = false,
): string {
  const name = actor === 'model' ? agent : undefined;
  switch (kind) {
    case 'applied':
      if (name !== undefined) return l10n.t('Applied by {0}', name);
      return {
        human: isPlan ? l10n.t('Approved by you') : l10n.t('Applied by you'),
        model: l10n.t('Applied by the model'),
        extension: l10n.t('Applied by another extension'),
      }[actor];
    case 'discarded':
      if (name !== undefined) return l10n.t('Discarded by {0}', name);
      return {
        human: isPlan ? l10n.t('Sent back by you') : l10n.t('Discarded by you'),
        model: l10n.t('Discarded by the model'),
        extension: l10n.t('Discarded by another extension'),
      }[actor];
    case 'undone':
      return {
        human: l10n.t('Undone by you'),
        model: l10n.t('Undone by the model'),
        extension: l10n.t('Undone by another extension'),
      }[actor];
  }
}

/**
 * The outcome in a word, such as `applied`, for places that do not say who decided.
 * @param isPlan as in {@link outcomeText}
 */
export function outcomeWord(kind: Resolved['kind'], actor?: Resolved['actor'], isPlan = false): string {
  switch (kind) {
    case 'applied':
      return isPlan ? l10n.t('approved') : l10n.t('applied');
    case 'discarded':
      return isPlan && actor === 'human' ? l10n.t('sent back') : l10n.t('discarded');
    case 'undone':
      return l10n.t('undone');
  }
}

/** How a command ended. */
interface Run {
  readonly exitCode?: number | undefined;
  readonly seconds: number;
  readonly endedBy?: 'timeLimit' | 'user' | undefined;
  readonly missing?: readonly string[] | undefined;
}

/** `Exit 1 · 2.1 s`, and the programs and files that the sandbox lacked. */
export function runText({ missing = [], ...run }: Run): string {
  const end = endText(run);
  return missing.length === 0 ? end : `${end} · ${l10n.t('not in the sandbox: {0}', missing.join(', '))}`;
}

function endText({ exitCode, seconds, endedBy }: Omit<Run, 'missing'>): string {
  const time = seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
  if (endedBy === 'timeLimit') return l10n.t('Time limit · {0} s', time);
  if (endedBy === 'user') return l10n.t('Stopped · {0} s', time);
  return exitCode === undefined ? l10n.t('Ended · {0} s', time) : l10n.t('Exit {0} · {1} s', exitCode, time);
}

/** Whether a command exited on its own and reported success. */
export function hasSucceeded({ exitCode }: Run): boolean {
  return exitCode === 0;
}

/** `by you` @param agent see {@link outcomeText} */
export function byText(actor: Resolved['actor'], agent: string | undefined): string {
  if (actor === 'model' && agent !== undefined) return l10n.t('by {0}', agent);
  return {
    human: l10n.t('by you'),
    model: l10n.t('by the model'),
    extension: l10n.t('by another extension'),
  }[actor];
}
