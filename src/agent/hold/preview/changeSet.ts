import { shortened } from '../../base/cutText.ts';
import type { Preview, PreviewOrigin, Recommendation } from './preview.ts';

/** The longest title of a change set, in characters. */
const MAX_TITLE = 200;

/** Names a change set: the previews of one prompt, one run of an agent or one branch. */
export type ChangeSetRef = Pick<PreviewOrigin, 'setId' | 'setTitle'>;

/** The previews of one change set, in the order in which they were given. */
export interface ChangeSet {
  readonly id: string;
  /** The beginning of the prompt; `undefined` for the sets of other agents, which do not report theirs. */
  readonly title: string | undefined;
  readonly previews: readonly Preview[];
}

/** A set that a prompt begins. @param prompt its whole text */
export function setOfPrompt(setId: string, prompt: string): ChangeSetRef {
  const setTitle = shortened(prompt.replace(/\s+/g, ' ').trim(), MAX_TITLE);
  return { setId, ...(setTitle === '' ? {} : { setTitle }) };
}

/** The set reference of a preview, for the preview that replaces it. */
export function setOf({ origin }: Preview): ChangeSetRef {
  const { setId, setTitle } = origin ?? {};
  return { ...(setId === undefined ? {} : { setId }), ...(setTitle === undefined ? {} : { setTitle }) };
}

/** Groups previews into sets, each at the place of its first one. A preview without a set forms its own, under its own id. */
export function inSets(previews: readonly Preview[]): readonly ChangeSet[] {
  const sets = new Map<string, { id: string; title: string | undefined; previews: Preview[] }>();
  for (const preview of previews) {
    const { setId = preview.id, setTitle } = setOf(preview);
    const set = sets.get(setId);
    if (set) set.previews.push(preview);
    else sets.set(setId, { id: setId, title: setTitle, previews: [preview] });
  }
  return [...sets.values()];
}

/** Whether one vote on all of `voteOn` covers several previews of the set of `preview`. */
export function isVoteOnSet(
  preview: Preview,
  voteOn: readonly string[],
  get: (id: string) => Preview | undefined,
): boolean {
  const { setId } = setOf(preview);
  const ofSet = voteOn.flatMap(id => get(id) ?? []).filter(each => setOf(each).setId === setId);
  return setId !== undefined && ofSet.length > 1;
}

/** A recommendation of the model for several previews of a set together: how many of the pending ones it covers. */
export interface SetAdvice extends Pick<Recommendation, 'action' | 'reason'> {
  readonly count: number;
  /** Number of pending previews. */
  readonly of: number;
}

/** The recommendations made for several of these together, in the order of the previews. */
export function adviceOfSet(previews: Iterable<Preview>): readonly SetAdvice[] {
  const pending = [...previews].filter(({ state }) => state.kind === 'pending');
  const found = new Map<string, SetAdvice>();
  for (const { state } of pending) {
    const recommendation = state.kind === 'pending' ? state.recommendation : undefined;
    if (!recommendation?.isOfSet) continue;
    const { action, reason } = recommendation;
    const key = `${action} ${reason}`;
    const count = (found.get(key)?.count ?? 0) + 1;
    found.set(key, { action, reason, count, of: pending.length });
  }
  return [...found.values()];
}
