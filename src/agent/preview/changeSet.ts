import type { Preview, PreviewOrigin } from './preview.ts';

/** The longest title of a change set, in characters. */
const MAX_TITLE = 200;

/** Names a change set: what one prompt, one run of an agent or one branch produced. */
export type ChangeSetRef = Pick<PreviewOrigin, 'setId' | 'setTitle'>;

/** The previews of one change set, in the order in which they were given. */
export interface ChangeSet {
  readonly id: string;
  /** The beginning of the prompt; `undefined` for the sets of other agents, which tell none. */
  readonly title: string | undefined;
  readonly previews: readonly Preview[];
}

/** A set that a prompt begins. @param prompt its whole text */
export function setOfPrompt(setId: string, prompt: string): ChangeSetRef {
  const line = prompt.replace(/\s+/g, ' ').trim();
  const setTitle = line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
  return { setId, ...(setTitle === '' ? {} : { setTitle }) };
}

/** The reference to the set of a preview, for one that takes its place. */
export function setOf({ origin }: Preview): ChangeSetRef {
  const { setId, setTitle } = origin ?? {};
  return { ...(setId === undefined ? {} : { setId }), ...(setTitle === undefined ? {} : { setTitle }) };
}

/** The previews in sets, each at the place of its first one. What belongs to none is a set by itself, under its own id. */
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
