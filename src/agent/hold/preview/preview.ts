import { safeName } from '../../base/safeName.ts';
import { hasConflict } from './rebase/conflictMarkers.ts';
import { stepsOf } from './fileSteps.ts';
import type { FileRights } from './workspace.ts';
import type { StagedPreview } from './previewSchema.ts';

/** Who resolves a preview. */
export type Actor = 'human' | 'model' | 'extension';

export type ResolveAction = 'apply' | 'discard';

/** The model's opinion on one revision; it changes nothing by itself. */
export interface Recommendation {
  readonly action: ResolveAction;
  readonly reason: string;
  /** It was made for the whole that this was split from: a person sees it, but the model has not voted for the part. */
  readonly isOfWhole?: true;
  /** It was one vote on several previews of its change set: the reason is about all of them, not about this one alone. */
  readonly isOfSet?: true;
  /** The model was not shown all of the diff: a person sees that, and nothing is applied because of it. */
  readonly isUnread?: true;
}

/** A tool call of a conversation. */
export interface CallRef {
  readonly sessionId: string;
  /** The assistant message that makes the call. */
  readonly messageId: string;
  readonly toolCallId: string;
}

/**
 * Name that an agent of another program gives itself, or the source of changes that a person brought into review, such as `branch x`.
 * Foreign text: only a label, no decision depends on it.
 */
export interface AgentName {
  readonly name: string;
  /** Empty if it gives none. */
  readonly version: string;
}

/** Conversation that a preview concerns, and the call or source that staged it there. */
export type PreviewOrigin = NonNullable<StagedPreview['origin']>;

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
      /** The rights of the same files, where they differ from a new file's. */
      readonly rights?: Readonly<Record<string, FileRights>>;
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

/** Content of a preview, and the effect of applying it. */
export type PreviewContent = ContentOf<StagedPreview>;
type ContentOf<T> = T extends StagedPreview ? Pick<T, 'kind' | 'changes'> : never;

export type Purpose = NonNullable<StagedPreview['purpose']>;

/**
 * One proposed change as data: it can be stored, sent and shown without its producer. A preview never changes in
 * place: everything that changes what the user sees (an edit, a split, a rebase) makes a new revision, and every vote
 * names the revision that was seen.
 */
export type Preview = StagedPreview & {
  /** Counts up from 1. */
  readonly revision: number;
  readonly state: PreviewState;
};

/** Revisions of previews that were seen, by id. Plain data, for lenses and links to carry. */
export type SeenRevisions = Readonly<Record<string, number>>;

/** The workspace paths that a preview changes, each once. */
export function pathsOf({ changes }: Preview): readonly string[] {
  return [...new Set((changes ?? []).flatMap(stepsOf).map(step => step.path))];
}

export function revisionsOf(previews: readonly Preview[]): SeenRevisions {
  return Object.fromEntries(previews.map(({ id, revision }) => [id, revision]));
}

/** True while the preview is listed: pending, or being resolved right now. */
export function isOpen(preview: Preview): boolean {
  return preview.state.kind === 'pending' || preview.state.kind === 'applying';
}

/** Whether undoing it makes sense: its changes of files were applied. */
export function isUndoable(preview: Preview): boolean {
  return preview.kind === 'files' && preview.state.kind === 'applied';
}

/** Whether it can be staged again. Without changes of files it cannot: its producer's callback is gone. */
export function isReopenable(preview: Preview): boolean {
  return preview.kind === 'files' && preview.state.kind === 'discarded';
}

/** Whether it is pending, and files no longer match its base. */
export function isStale(preview: Preview | undefined): boolean {
  return preview?.state.kind === 'pending' && preview.state.stale.length > 0;
}

/**
 * Whether applying it runs or approves something, which only the user may do: a command, a call of a tool, a plan. Such a preview
 * is never applied together with others, but only by a vote of its own.
 */
export function needsOwnVote({ kind, humanOnly }: Preview): boolean {
  return kind !== 'files' && humanOnly === true;
}

/** Why it cannot be applied as it is, judged from the preview alone: conflicts or stale paths. An apply also reads the files. */
export function blockOf(preview: Preview | undefined): 'conflicts' | 'stale' | undefined {
  if (preview?.state.kind !== 'pending') return undefined;
  if (preview.changes?.some(hasConflict)) return 'conflicts';
  return preview.state.stale.length > 0 ? 'stale' : undefined;
}

/** Whether Apply All would apply any of these. @param isEdited whether a proposal has edits that are not saved */
export function appliesAny(open: Iterable<Preview>, isEdited: (id: string) => boolean): boolean {
  // The first one applied builds on none of the others.
  const free = [...open].filter(
    each => each.state.kind === 'pending' && !needsOwnVote(each) && !blockOf(each) && !isEdited(each.id),
  );
  if (free.some(({ dependsOn }) => dependsOn.length === 0)) return true;
  const ids = new Set(Array.from(open, ({ id }) => id));
  return free.some(({ dependsOn }) => !dependsOn.some(id => ids.has(id)));
}

/** Name of a preview in views. */
export function titleOf({ title, label }: Preview): string {
  return title ?? label;
}

/** Name of a preview in texts for the model: `p3 (AST Edit: 2 replacements in 1 file)`, or with the model's own title. */
export function nameOf({
  id,
  label,
  modelTitle = label,
}: Pick<Preview, 'id' | 'label' | 'modelTitle'>): string {
  return `${id} (${safeName(modelTitle)})`;
}

/** The most previews that one sentence names by more than their ids. */
const MAX_NAMED = 20;

/** The names, as a list, without titles after the first ones. */
export function namesOf(previews: readonly Preview[]): string {
  return previews.map((preview, at) => (at < MAX_NAMED ? nameOf(preview) : preview.id)).join(', ');
}

/** Whether the preview creates a file that its last revision did not create, or deletes one that was another then. */
export function isWider({ changes }: Preview, was: Preview | undefined): boolean {
  const whole = (all: Preview['changes'] | undefined): readonly string[] =>
    (all ?? []).flatMap(({ kind, path, before }) =>
      kind === 'create' || kind === 'delete' ? `${kind} ${before?.hash} ${path}` : [],
    );
  const had = new Set(whole(was?.changes));
  return whole(changes).some(each => !had.has(each));
}
