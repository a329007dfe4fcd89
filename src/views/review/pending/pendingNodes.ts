import { inSets } from '../../../agent/hold/preview/changeSet.ts';
import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';

/**
 * One row of the tree. Rows are plain data that is passed to commands: a preview is identified by its id and the revision
 * that the row shows.
 */
export type PendingNode =
  | PreviewRow
  | {
      readonly kind: 'file';
      readonly previewId: string;
      readonly revision: number;
      /** The change's workspace path. */
      readonly path: string;
    }
  /** The rows from the nth on, folded: thousands of them are only built when the user unfolds them. */
  | ({ readonly kind: 'more'; readonly from: number; readonly count: number } & Fold)
  | SetRow
  /** The previews of one agent, where several have some pending; an empty name stands for Redline itself. */
  | { readonly kind: 'agent'; readonly agent: string; readonly count: number }
  | { readonly kind: 'expired'; readonly count: number };

/** A change set of several previews, with those that are open and listed, in their order. */
interface SetRow {
  readonly kind: 'set';
  readonly setId: string;
  /** The beginning of the prompt; absent for the set of another agent. */
  readonly title?: string;
  readonly open: readonly PreviewRow[];
}

/** Whose rows are folded; all those at the top without any of these. */
interface Fold {
  readonly agent?: string;
  /** The preview whose files they are. A command that is given this row must not take it for the preview. */
  readonly filesOf?: PreviewRow;
  /** The change set whose previews they are. */
  readonly inSet?: SetRow;
}

interface PreviewRow {
  readonly kind: 'preview';
  readonly previewId: string;
  readonly revision: number;
}

/** How many rows of one level are shown before the rest is folded into one. */
export const PAGE = 500;

/**
 * The rows below `node`, or the top ones.
 * @param listed the open previews that have a row, in their order
 */
export function childrenOf(
  store: PreviewStore,
  listed: readonly Preview[],
  node: PendingNode | undefined,
): readonly PendingNode[] {
  switch (node?.kind) {
    case undefined:
      return [...top(store, listed), ...expiredGroup(store)];
    case 'agent':
      return page(store, listed, 0, node.agent);
    case 'more':
      if (node.inSet) return setPage(store, node.inSet, node.from);
      return node.filesOf
        ? filePage(store, node.filesOf, node.from)
        : page(store, listed, node.from, node.agent);
    case 'set':
      return setPage(store, node, 0);
    case 'expired':
      return shownExpired(store).reverse().map(previewNode);
    case 'preview':
      return filePage(store, node, 0);
    case 'file':
      return [];
  }
}

/** A row's key, which stays the same while the row stands for the same thing. */
export function keyOf(node: PendingNode): string {
  switch (node.kind) {
    case 'preview':
      return `preview:${node.previewId}`;
    case 'file':
      return `file:${node.previewId}:${node.path}`;
    case 'more':
      if (node.inSet) return `inSet:${node.inSet.setId}:${node.from}`;
      if (node.filesOf) return `files:${node.filesOf.previewId}:${node.from}`;
      return `more:${node.from}${node.agent === undefined ? '' : `:${node.agent}`}`;
    case 'set':
      return `set:${node.setId}`;
    case 'agent':
      return `agent:${node.agent}`;
    case 'expired':
      return 'expired';
  }
}

/** Expired previews that the user has not dismissed, oldest first. */
export function shownExpired(store: PreviewStore): Preview[] {
  return store.all().filter(({ state }) => state.kind === 'expired' && !state.dismissed);
}

/** The previews, or a group for each agent if there are several; the one that proposed the first preview comes first. */
function top(store: PreviewStore, previews: readonly Preview[]): PendingNode[] {
  const groups = byAgent(previews);
  if (groups.size < 2) return page(store, previews, 0);
  return Array.from(groups, ([agent, { length }]) => ({ kind: 'agent', agent, count: length }));
}

/** The previews of each agent, by its name; an empty one stands for Redline itself. */
export function byAgent(previews: readonly Preview[]): Map<string, Preview[]> {
  const groups = new Map<string, Preview[]>();
  for (const preview of previews) {
    const group = groups.get(agentOf(preview));
    if (group) group.push(preview);
    else groups.set(agentOf(preview), [preview]);
  }
  return groups;
}

/** The name of the agent that proposed a preview; empty for Redline itself. */
export function agentOf({ origin }: Preview): string {
  return origin?.agent?.name ?? '';
}

/** @param agent only its previews, if it is given. */
function page(store: PreviewStore, all: readonly Preview[], from: number, agent?: string): PendingNode[] {
  const previews = agent === undefined ? all : all.filter(preview => agentOf(preview) === agent);
  const rows = setRows(store, previews);
  // The only set of an agent would repeat the agent's own row.
  const [only] = rows;
  const isRepeated =
    agent !== undefined && rows.length === 1 && only?.kind === 'set' && only.title === undefined;
  const shown = isRepeated ? previews.map(previewNode) : rows;
  return folded(shown, from, agent === undefined ? {} : { agent });
}

/** A row for each change set of several previews, of which some may be decided already; the others have rows of their own. */
function setRows(store: PreviewStore, previews: readonly Preview[]): PendingNode[] {
  const sizes = sizesOfSets(store);
  return inSets(previews).flatMap((set): PendingNode[] => {
    if ((sizes.get(set.id) ?? 1) < 2) return set.previews.map(previewNode);
    const open = set.previews.map(previewNode);
    return [{ kind: 'set', setId: set.id, ...(set.title === undefined ? {} : { title: set.title }), open }];
  });
}

/** How many previews each change set has. Those that were split off, reopened or undone do not make it larger. */
function sizesOfSets(store: PreviewStore): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { origin, part, reopens } of store.all()) {
    if (origin?.setId === undefined || part || reopens !== undefined) continue;
    sizes.set(origin.setId, (sizes.get(origin.setId) ?? 0) + 1);
  }
  return sizes;
}

/** The previews of a change set in the order of staging, without those that expired. */
export function previewsOfSet(store: PreviewStore, setId: string): readonly Preview[] {
  const all = store.all().filter(({ origin }) => origin?.setId === setId);
  return all.filter(({ state }) => state.kind !== 'expired');
}

/** Those that are open in the order of the list, then those that are decided. */
function setPage(store: PreviewStore, inSet: SetRow, from: number): PendingNode[] {
  const decided = previewsOfSet(store, inSet.setId).filter(preview => !isOpen(preview));
  // Some may have been decided since the row of the set was made.
  const gone = new Set(decided.map(({ id }) => id));
  const rows = [...inSet.open.filter(({ previewId }) => !gone.has(previewId)), ...decided.map(previewNode)];
  return folded(rows, from, { inSet });
}

function filePage(store: PreviewStore, filesOf: PreviewRow, from: number): PendingNode[] {
  const { previewId, revision } = filesOf;
  const changes = store.get(previewId)?.changes ?? [];
  const rows = changes.map(({ path }): PendingNode => ({ kind: 'file', previewId, revision, path }));
  return folded(rows, from, { filesOf });
}

/** A page of these rows from the nth on; a row for the rest, if there is more. */
function folded(rows: readonly PendingNode[], from: number, of: Fold): PendingNode[] {
  const shown = rows.slice(from, from + PAGE);
  const count = rows.length - from - PAGE;
  return count > 0 ? [...shown, { kind: 'more', from: from + PAGE, count, ...of }] : shown;
}

function expiredGroup(store: PreviewStore): PendingNode[] {
  const count = shownExpired(store).length;
  return count > 0 ? [{ kind: 'expired', count }] : [];
}

function previewNode({ id, revision }: Preview): PreviewRow {
  return { kind: 'preview', previewId: id, revision };
}
