import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';

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
  | {
      readonly kind: 'more';
      readonly from: number;
      readonly count: number;
      readonly agent?: string;
      /** The preview whose files they are. A command that is given this row must not take it for the preview. */
      readonly filesOf?: PreviewRow;
    }
  /** The previews of one agent, where several have some pending; an empty name stands for Redline itself. */
  | { readonly kind: 'agent'; readonly agent: string; readonly count: number }
  | { readonly kind: 'expired'; readonly count: number };

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
      return [...top(listed), ...expiredGroup(store)];
    case 'agent':
      return page(listed, 0, node.agent);
    case 'more':
      return node.filesOf ? filePage(store, node.filesOf, node.from) : page(listed, node.from, node.agent);
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
      if (node.filesOf) return `files:${node.filesOf.previewId}:${node.from}`;
      return `more:${node.from}${node.agent === undefined ? '' : `:${node.agent}`}`;
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
function top(previews: readonly Preview[]): PendingNode[] {
  const groups = byAgent(previews);
  if (groups.size < 2) return page(previews, 0);
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
function page(all: readonly Preview[], from: number, agent?: string): PendingNode[] {
  const previews = agent === undefined ? all : all.filter(preview => agentOf(preview) === agent);
  const nodes: PendingNode[] = previews.slice(from, from + PAGE).map(previewNode);
  const count = previews.length - from - PAGE;
  if (count <= 0) return nodes;
  return [...nodes, { kind: 'more', from: from + PAGE, count, ...(agent === undefined ? {} : { agent }) }];
}

function filePage(store: PreviewStore, filesOf: PreviewRow, from: number): PendingNode[] {
  const { previewId, revision } = filesOf;
  const changes = store.get(previewId)?.changes ?? [];
  const nodes = changes
    .slice(from, from + PAGE)
    .map(({ path }): PendingNode => ({ kind: 'file', previewId, revision, path }));
  const count = changes.length - from - PAGE;
  return count > 0 ? [...nodes, { kind: 'more', from: from + PAGE, count, filesOf }] : nodes;
}

function expiredGroup(store: PreviewStore): PendingNode[] {
  const count = shownExpired(store).length;
  return count > 0 ? [{ kind: 'expired', count }] : [];
}

function previewNode({ id, revision }: Preview): PendingNode {
  return { kind: 'preview', previewId: id, revision };
}
