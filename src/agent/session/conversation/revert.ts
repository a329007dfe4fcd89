import type { RevertCategory } from '../model/messages.ts';
import type { NodeId } from './nodeId.ts';

export const REVERT_TOOL = 'revert_to_state';

/** The actor of a revert. A model may only drop its own messages; the user may go to any node. */
export type RevertActor = 'model' | 'human';

/** A request to make another node the active one. */
export interface RevertRequest {
  /** `null` if the user only switches branches: then the target gets no tag. */
  readonly category: RevertCategory | null;
  /** `null` for the point before the first message, which only the user may go to. */
  readonly target: NodeId | null;
  /** The lesson to remember from the abandoned branch. */
  readonly summary: string | null;
  readonly actor: RevertActor;
}

/** The outcome of one request. The log stores it and is the authority on it. */
export interface RevertRecord {
  readonly category: RevertCategory | null;
  readonly target: NodeId | null;
  /** The nodes that left the trunk, in order; empty if the request was refused. */
  readonly abandonedNodeIds: readonly NodeId[];
  readonly summary: string | null;
  readonly applied: boolean;
  /** Why the request was refused; `null` if it was applied. */
  readonly reason: string | null;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly actor: RevertActor;
}

export type TagKind = 'revert-lesson' | 'revert-finding' | 'revert-outcome' | 'revert-checkpoint';

/** The trace of an abandoned branch, attached to the node that the revert went back to. */
export interface NodeTag {
  readonly kind: TagKind;
  /** The summary and the names of the tools that ran in the branch. */
  readonly text: string;
  /** The summary alone; empty if none was given. */
  readonly summary: string;
  /** `ConversationTree.turns` when the tag was made. */
  readonly createdAtTurn: number;
  readonly abandonedNodeIds: readonly NodeId[];
}

const kinds: Readonly<Record<RevertCategory, TagKind>> = {
  failure: 'revert-lesson',
  tangent: 'revert-finding',
  completion: 'revert-outcome',
  'step-summary': 'revert-checkpoint',
};

export function tagKindOf(category: RevertCategory): TagKind {
  return kinds[category];
}

/** Whether the summary replaces the text of its target, if that is a tool call or a result. */
export function replacesContent({ kind }: Pick<NodeTag, 'kind'>): boolean {
  return kind === 'revert-lesson' || kind === 'revert-finding';
}

/** Whether the tag never decays. */
export function isPinned(tag: NodeTag): boolean {
  return !replacesContent(tag);
}

/**
 * The text of a tag: the summary on one line, and the tools that ran.
 * @param tools names in the order of their first call.
 */
export function tagText(summary: string, tools: readonly string[]): string {
  const abandoned = tools.length > 0 ? `abandoned: ${tools.join(', ')}` : '';
  if (summary === '') return abandoned || 'a branch was abandoned here';
  return abandoned === '' ? summary : `${summary} (${abandoned})`;
}

/** The summary as one line; empty if there is none. */
export function summaryLine(summary: string | null): string {
  return (summary ?? '').replace(/\s+/g, ' ').trim();
}
