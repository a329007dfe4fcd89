import type { FileChange } from './fileChange.ts';

/** Who resolved, or wants to. */
export type Actor = 'human' | 'model' | 'extension';

export type ResolveAction = 'apply' | 'discard';

/** What the model may do with its own `resolve`: setting `redline.resolve.modelAuthority`. */
export type ModelAuthority = 'recommend' | 'apply' | 'none';

/** Which pending preview is the head: setting `redline.resolve.order`. */
export type ResolveOrder = 'newestFirst' | 'oldestFirst';

/** The model's opinion on one revision; it changes nothing by itself. */
export interface Recommendation {
  readonly action: ResolveAction;
  readonly reason: string;
}

/** Where a preview comes from. Previews that an extension pushes outside of any tool call have no origin. */
export interface PreviewOrigin {
  readonly sessionId: string;
  /** The assistant message whose call staged it: a `resolve` in that same message has not seen the diff. */
  readonly messageId: string;
  readonly toolCallId: string;
}

/** What becomes of a preview. Only `pending` can be resolved; the last three are final. */
export type PreviewState =
  | {
      readonly kind: 'pending';
      /** Workspace paths whose base moved on; empty while the preview can be applied. */
      readonly stale: readonly string[];
      readonly lastError?: string;
      readonly recommendation?: Recommendation;
    }
  | { readonly kind: 'applying'; readonly action: ResolveAction; readonly actor: Actor }
  | { readonly kind: 'applied'; readonly by: Resolution }
  | { readonly kind: 'discarded'; readonly by: Resolution }
  | {
      readonly kind: 'expired';
      /** It was being applied when the process ended: whether it was done is not known. */
      readonly interrupted?: true;
      /** No longer shown. */
      readonly dismissed?: true;
    };

/** Who resolved a preview, how and why. */
export interface Resolution {
  readonly actor: Actor;
  readonly reason: string;
  readonly at: string;
}

/** What a preview was split off. */
export interface PartOf {
  readonly previewId: string;
  /** How many hunks it holds. */
  readonly hunks: number;
  /** The part as a patch, for the model; capped. */
  readonly patch: string;
}

/**
 * One proposed change as data: it can be stored, sent and shown without its producer. A preview never changes in
 * place: whatever the person would see differently (an edit, a split, a rebase) makes the next revision, and every
 * vote names the revision that was seen.
 */
export interface Preview {
  /** `p1`, `p2`, …; never reused in a workspace's storage. */
  readonly id: string;
  /** Counts up from 1. */
  readonly revision: number;
  readonly label: string;
  readonly sourceToolName: string;
  /** The exact changes that Redline lands itself; `null` for an opaque preview, whose producer's callback is the action. */
  readonly changes: readonly FileChange[] | null;
  /** Ids of previews that must be applied before this one. */
  readonly dependsOn: readonly string[];
  readonly details?: unknown;
  /** Ids of the applied previews that this one takes back. */
  readonly undoes?: readonly string[];
  readonly origin: PreviewOrigin | null;
  /** Set when this was split off another preview, to be resolved by itself. */
  readonly part?: PartOf;
  /** A person edited the proposal: from then on the model only recommends. */
  readonly editedByUser?: true;
  /** ISO 8601. */
  readonly stagedAt: string;
  readonly state: PreviewState;
}

/** The revisions at which somebody saw previews, by their ids. Plain data: lenses and links carry it. */
export type SeenRevisions = Readonly<Record<string, number>>;

export function revisionsOf(previews: readonly Preview[]): SeenRevisions {
  return Object.fromEntries(previews.map(({ id, revision }) => [id, revision]));
}

/** True while the preview is listed: pending, or being resolved right now. */
export function isOpen(preview: Preview): boolean {
  return preview.state.kind === 'pending' || preview.state.kind === 'applying';
}

/** `p3 (AST Edit: 2 replacements in 1 file)`: how texts for the model name a preview. */
export function nameOf(preview: Preview): string {
  return `${preview.id} (${preview.label})`;
}
