import { stepsOf, type FileChange } from './fileChange.ts';
import type { LabelParts } from './label.ts';
import type { FolderRoot } from './workspace.ts';

/** Who resolves a preview. */
export type Actor = 'human' | 'model' | 'extension';

export type ResolveAction = 'apply' | 'discard';

/** The model's opinion on one revision; it changes nothing by itself. */
export interface Recommendation {
  readonly action: ResolveAction;
  readonly reason: string;
}

/** A tool call of a conversation. */
export interface CallRef {
  readonly sessionId: string;
  /** The assistant message that makes the call. */
  readonly messageId: string;
  readonly toolCallId: string;
}

/**
 * An agent of another program, as it names itself, or the source of what a person brought into review, such as `branch x`.
 * Foreign text: only a label, no decision depends on it.
 */
export interface AgentName {
  readonly name: string;
  /** Empty if it tells none. */
  readonly version: string;
}

/** The conversation that a preview concerns, and what staged it there. */
export interface PreviewOrigin {
  /** A conversation of Redline or, if there is an `agent`, what tells its connection or source from all others. */
  readonly sessionId: string;
  /** The agent of another program that proposed it, over MCP, or where a person brought it from. */
  readonly agent?: AgentName;
  /**
   * The tool call that staged it: a `resolve` in the same message has not seen the diff. Absent for what the user or an
   * extension staged outside the messages.
   */
  readonly call?: Omit<CallRef, 'sessionId'>;
  /** Whether the model is asked to resolve it. If not, it is only told the outcome. */
  readonly asksModel: boolean;
}

/** The life of a preview. Only a `pending` one can be resolved; the last three states are final. */
export type PreviewState =
  | {
      readonly kind: 'pending';
      /** Workspace paths that no longer hold the preview's base; empty while the preview can be applied. */
      readonly stale: readonly string[];
      readonly lastError?: string;
      readonly recommendation?: Recommendation;
    }
  | { readonly kind: 'applying'; readonly action: ResolveAction; readonly actor: Actor }
  | {
      readonly kind: 'applied';
      readonly by: Resolution;
      /** Permission bits of the files that applying it removed, or whose bits it set, by path, for undoing it. */
      readonly modes?: Readonly<Record<string, number>>;
      /** Folders that were made for its files, for undoing it. */
      readonly newFolders?: readonly string[];
    }
  | { readonly kind: 'discarded'; readonly by: Resolution }
  | {
      readonly kind: 'expired';
      /** It was being applied when the process ended, so it is unknown whether its action ran to completion. */
      readonly interrupted?: true;
      /** Why, in a sentence, if that is known. */
      readonly reason?: string;
      /** Hidden for good. */
      readonly dismissed?: true;
    };

/** Who resolved a preview, how and why. */
export interface Resolution {
  readonly actor: Actor;
  readonly reason: string;
  readonly at: string;
}

/** Where a preview was split off. */
export interface PartOf {
  readonly previewId: string;
  /** How many hunks it holds. */
  readonly hunks: number;
  /** For a single hunk: its number, from 1, among all that its file had. */
  readonly number?: number;
  /** The part as a patch, for the model; capped. */
  readonly patch: string;
}

/**
 * What a preview of Redline's own is for, where something depends on that: a command that runs, a call of a tool of VS Code,
 * the configuration of an agent, the user's uncommitted changes, the inverse of an abandoned branch. No tool of others and no
 * extension can set it; the name of a source is only a label.
 */
export type Purpose = 'command' | 'toolCall' | 'setUp' | 'holdBack' | 'revert';

/** What a preview is and what applying it does. */
export type PreviewContent =
  /** Redline writes exactly these changes. */
  | { readonly kind: 'files'; readonly changes: readonly FileChange[] }
  /** `plan`: applying approves what plan mode submitted. `action`: applying runs the producer's callback; its effect is opaque. */
  | { readonly kind: 'plan' | 'action'; readonly changes: null };

/**
 * One proposed change as data: it can be stored, sent and shown without its producer. A preview never changes in
 * place: everything that changes what the user sees (an edit, a split, a rebase) makes a new revision, and every vote
 * names the revision that was seen.
 */
export type Preview = PreviewContent & {
  /** `p1`, `p2`, …; never reused in a workspace's storage. */
  readonly id: string;
  /** Counts up from 1. */
  readonly revision: number;
  readonly label: string;
  /** What the label is made of, if it has counts that follow the changes. */
  readonly labelParts?: LabelParts;
  /** What people read instead of the label, by which the model, the log and other extensions know the preview. */
  readonly title?: string;
  /** Who proposed it: only a label, no decision depends on it. */
  readonly sourceToolName: string;
  readonly purpose?: Purpose;
  /** Applying it runs something, so only a human may, in every mode. */
  readonly humanOnly?: true;
  /** Ids of previews that must be applied before this one. */
  readonly dependsOn: readonly string[];
  readonly details?: unknown;
  /** Ids of the applied previews that this one undoes. */
  readonly undoes?: readonly string[];
  /** The id of the discarded preview that this one proposes again. */
  readonly reopens?: string;
  /**
   * `null` for what belongs to no conversation of Redline: what a tool of VS Code's own agents proposed, and the configuration of
   * agents, which a command of the user stages.
   */
  readonly origin: PreviewOrigin | null;
  /** Set if this was split off another preview to be resolved separately. */
  readonly part?: PartOf;
  /** An older version showed it for an agent in a terminal, which would have written it. It expires when it is read. */
  readonly agentWrites?: true;
  /** The user edited the proposal: from then on the model can only recommend. */
  readonly editedByUser?: true;
  /**
   * The folders that were open when it was proposed: what its paths are relative to. It can be applied only while they lead to
   * the same places. Absent for what has no files, and for what older versions staged.
   */
  readonly roots?: readonly FolderRoot[];
  /** ISO 8601. */
  readonly stagedAt: string;
  readonly state: PreviewState;
};

/** The revisions of previews that were seen, by id. Plain data, for lenses and links to carry. */
export type SeenRevisions = Readonly<Record<string, number>>;

/** The workspace paths that a preview changes, each once. */
export function pathsOf({ changes }: Pick<Preview, 'changes'>): readonly string[] {
  return [...new Set((changes ?? []).flatMap(stepsOf).map(step => step.path))];
}

export function revisionsOf(previews: readonly Preview[]): SeenRevisions {
  return Object.fromEntries(previews.map(({ id, revision }) => [id, revision]));
}

/** True while the preview is listed: pending, or being resolved right now. */
export function isOpen(preview: Preview): boolean {
  return preview.state.kind === 'pending' || preview.state.kind === 'applying';
}

/**
 * Whether applying it runs or approves something, and only the user may: a command, a call of a tool, a plan. Such a preview is
 * never applied together with others, but only by a vote of its own.
 */
export function needsOwnVote({ kind, humanOnly }: Preview): boolean {
  return kind !== 'files' && humanOnly === true;
}

/** How views name a preview. */
export function titleOf({ title, label }: Pick<Preview, 'title' | 'label'>): string {
  return title ?? label;
}

/** How texts for the model name a preview: `p3 (AST Edit: 2 replacements in 1 file)`. */
export function nameOf(preview: Preview): string {
  return `${preview.id} (${preview.label})`;
}
