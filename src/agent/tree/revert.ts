import type { RevertCategory } from '../model/revertCategories.ts';
import type { NodeId } from './nodeId.ts';

export const REVERT_TOOL = 'revert_to_state';

/** Who goes back. A model may only drop its own words; a person may go anywhere. */
export type RevertActor = 'model' | 'human';

/** A wish to go to another node; nothing has happened yet. */
export interface RevertRequest {
  /** `null`: a person just goes somewhere else, and nothing is attached to the target. */
  readonly category: RevertCategory | null;
  /** `null`: before the first message, which only a person may want. */
  readonly target: NodeId | null;
  /** What to remember of the branch that is left. */
  readonly summary: string | null;
  readonly actor: RevertActor;
}

/** What became of one request, as the log keeps it: its only authority. */
export interface RevertRecord {
  readonly category: RevertCategory | null;
  readonly target: NodeId | null;
  /** What left the trunk, in order; empty when nothing was applied. */
  readonly abandonedNodeIds: readonly NodeId[];
  readonly summary: string | null;
  readonly applied: boolean;
  /** Why it was not applied. */
  readonly reason: string | null;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly actor: RevertActor;
}

export type TagKind = 'revert-lesson' | 'revert-finding' | 'revert-outcome' | 'revert-checkpoint';

/** What stays of an abandoned branch, on the node that was gone back to. */
export interface NodeTag {
  readonly kind: TagKind;
  /** The summary, and the names of the tools that really ran in the branch. */
  readonly text: string;
  /** The summary alone; empty if none was given. */
  readonly summary: string;
  /** Answers of the session when it was made. */
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

/** Whether the tag takes the place of what its target said, where that is a tool call or a result. */
export function replacesContent({ kind }: Pick<NodeTag, 'kind'>): boolean {
  return kind === 'revert-lesson' || kind === 'revert-finding';
}

/** Whether the tag is shown for ever. */
export function isPinned({ kind }: Pick<NodeTag, 'kind'>): boolean {
  return !replacesContent({ kind });
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

/** A summary as it is stored and shown: one line; absent ones are empty. */
export function summaryLine(summary: string | null): string {
  return (summary ?? '').replace(/\s+/g, ' ').trim();
}
