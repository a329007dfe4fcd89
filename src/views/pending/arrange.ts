import { foldersAbove } from '../../agent/preview/fileSteps.ts';
import { isOpen, type Preview } from '../../agent/preview/preview.ts';
import { hasConflict } from '../../agent/preview/rebase/conflictMarkers.ts';
import { agentOf } from './pendingNodes.ts';

export const sortKeys = ['reading', 'risk', 'proposed', 'path', 'size'] as const;
/**
 * `reading`: as one reads them, see `inReadingOrder`. `risk`: the gravest kind of risk first, what has none last. `proposed`: the order of the setting. `path`: by the first file. `size`: the
 * most changed lines first.
 */
export type SortKey = (typeof sortKeys)[number];

export const filterStates = ['stale', 'conflicts', 'failed', 'recommended'] as const;
export type FilterState = (typeof filterStates)[number];

/** Which previews are shown: in each field, those that match any of its values. An empty field lets everything through. */
export interface PendingFilter {
  /** By name; an empty one stands for Redline itself. */
  readonly agents: readonly string[];
  /** Workspace paths of folders in which a preview changes a file, at any depth. */
  readonly folders: readonly string[];
  readonly states: readonly FilterState[];
  /** Only previews with something that was not looked at. */
  readonly notLookedAt: boolean;
}

export const noFilter: PendingFilter = { agents: [], folders: [], states: [], notLookedAt: false };

export function isFilter({ agents, folders, states, notLookedAt }: PendingFilter): boolean {
  return agents.length > 0 || folders.length > 0 || states.length > 0 || notLookedAt;
}

/** What sorting and filtering need to know of a preview beside itself. */
export interface ArrangeFacts {
  /** How many lines it changes; `undefined` until they are counted. */
  readonly sizeOf: (preview: Preview) => number | undefined;
  /** The place of its gravest risk among the kinds of risks; `undefined` if it has none. */
  readonly riskOf: (preview: Preview) => number | undefined;
  /** Whether all of it was looked at and it is in view no more. */
  readonly isDoneWith: (preview: Preview) => boolean;
}

/** From this many previews on, names are sorted by their characters, which is faster. */
const MANY = 2_000;
const naturally = new Intl.Collator('en', { numeric: true });

/** The previews that the filter lets through, in the order of `sort`; where that leaves it open, in the given order. */
export function arrange(
  previews: readonly Preview[],
  sort: SortKey,
  filter: PendingFilter,
  facts: ArrangeFacts,
): readonly Preview[] {
  const shown = isFilter(filter) ? previews.filter(preview => matches(preview, filter, facts)) : previews;
  switch (sort) {
    // Reading order is one of change sets, which are made of what is shown.
    case 'reading':
    case 'proposed':
      return shown;
    case 'path': {
      const compare: (one: string, other: string) => number =
        shown.length < MANY
          ? (one, other) => naturally.compare(one, other)
          : (one, other) => (one < other ? -1 : one > other ? 1 : 0);
      const pathOf = ({ changes }: Preview): string | undefined => changes?.[0]?.path;
      return sorted(shown, pathOf, compare);
    }
    case 'risk':
      return sorted(shown, facts.riskOf, (one, other) => one - other);
    case 'size':
      return sorted(shown, facts.sizeOf, (one, other) => other - one);
  }
}

/** What has no key comes last. */
function sorted<T>(
  previews: readonly Preview[],
  keyOf: (preview: Preview) => T | undefined,
  compare: (one: T, other: T) => number,
): readonly Preview[] {
  const keys = new Map(previews.map(preview => [preview, keyOf(preview)]));
  return previews.toSorted((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return compare(a, b);
  });
}

/** What is being resolved stays, so that the review goes on from its place. */
function matches(preview: Preview, filter: PendingFilter, { isDoneWith }: ArrangeFacts): boolean {
  const { agents, folders, states, notLookedAt } = filter;
  if (preview.state.kind === 'applying') return true;
  if (agents.length > 0 && !agents.includes(agentOf(preview))) return false;
  if (states.length > 0 && !states.some(state => isIn(preview, state))) return false;
  if (notLookedAt && isDoneWith(preview)) return false;
  if (folders.length === 0) return true;
  return preview.changes?.some(({ path }) => folders.some(folder => path.startsWith(`${folder}/`))) === true;
}

/** Whether a preview is in a state that one can filter by. */
export function isIn({ state, changes }: Preview, wanted: FilterState): boolean {
  if (state.kind !== 'pending') return false;
  switch (wanted) {
    case 'stale':
      return state.stale.length > 0;
    case 'conflicts':
      return changes?.some(hasConflict) === true;
    case 'failed':
      return state.lastError !== undefined;
    case 'recommended':
      return state.recommendation !== undefined;
  }
}

/** All that one can filter these previews by, each with the number of previews that it would show. */
export interface FilterChoices {
  readonly agents: ReadonlyMap<string, number>;
  readonly folders: ReadonlyMap<string, number>;
  readonly states: ReadonlyMap<FilterState, number>;
}

/** @param previews those that are not open are left out */
export function filterChoices(previews: readonly Preview[]): FilterChoices {
  const agents = new Map<string, number>();
  const folders = new Map<string, number>();
  const states = new Map<FilterState, number>();
  const count = <K>(counts: Map<K, number>, key: K): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const preview of previews.filter(isOpen)) {
    count(agents, agentOf(preview));
    for (const state of filterStates) if (isIn(preview, state)) count(states, state);
    const above = new Set(preview.changes?.flatMap(({ path }) => foldersAbove(path)));
    for (const folder of above) count(folders, folder);
  }
  const byName = [...folders].sort(([one], [other]) => naturally.compare(one, other));
  return { agents, folders: new Map(byName), states };
}
