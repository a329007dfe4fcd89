import type { Preview } from '../../../agent/hold/preview/preview.ts';
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
  | { readonly kind: 'expired'; readonly count: number }
  /** A click applies all that can be applied together. */
  | { readonly kind: 'all'; readonly count: number };

/** A change set of several previews, with those that are open and listed, in their order. */
export interface SetRow {
  readonly kind: 'set';
  readonly setId: string;
  /** The beginning of the prompt; absent for the set of another agent. */
  readonly title?: string;
  readonly open: readonly PreviewRow[];
}

/** The parent whose rows are folded; the top if no field is set. */
export interface Fold {
  readonly agent?: string;
  /** The preview whose files they are. A command that is given this row must not take it for the preview. */
  readonly filesOf?: PreviewRow;
  /** The change set whose previews they are. */
  readonly inSet?: SetRow;
}

export interface PreviewRow {
  readonly kind: 'preview';
  readonly previewId: string;
  readonly revision: number;
}

/** A row's key, which stays the same while the row stands for the same thing. */
export function nodeKey(node: PendingNode): string {
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
    case 'all':
      return node.kind;
  }
}

/** Expired previews that the user has not dismissed, oldest first. */
export function shownExpired(store: PreviewStore): Preview[] {
  return store.all().filter(({ state }) => state.kind === 'expired' && !state.dismissed);
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
