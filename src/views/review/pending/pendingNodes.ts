import { inSets } from '../../../agent/hold/preview/changeSet.ts';
import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import {
  agentOf,
  byAgent,
  shownExpired,
  type Fold,
  type PendingNode,
  type PreviewRow,
  type SetRow,
} from './pendingNode.ts';

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
    case 'all':
      return [];
  }
}

/** The previews, or a group for each agent if there are several; the one that proposed the first preview comes first. */
function top(store: PreviewStore, previews: readonly Preview[]): PendingNode[] {
  const groups = byAgent(previews);
  if (groups.size < 2) return page(store, previews, 0);
  return Array.from(groups, ([agent, { length }]) => ({ kind: 'agent', agent, count: length }));
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

/** A row for each change set of several previews, even if some of them are decided already; the others have rows of their own. */
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

/** Open previews in the order of the list, then decided ones. */
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
