import { isText, proposing, sideOfText, type FileChange } from './fileChange.ts';
import type { Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { CONFLICT_LABELS } from './rebase/conflictMarkers.ts';
import { hunksOf, patchText } from '../text/hunks.ts';
import { keepLineEndings } from '../text/lineEndings.ts';
import { mergeTexts } from '../text/threeWayMerge.ts';
import { planOf } from './plan.ts';

/** The most lines of an edit that the model is shown. */
const MAX_PATCH_LINES = 60;

/** Text that a person has typed into a proposal. */
export interface TypedText {
  readonly previewId: string;
  /** Workspace path of the file; `undefined` for a plan. */
  readonly path: string | undefined;
  readonly text: string;
  /** The proposal when the typing began, if known. */
  readonly base: string | undefined;
}

/** Result of committing typed text. */
export type CommittedText =
  | {
      readonly kind: 'committed';
      /** Revision of the preview that has this text. */
      readonly revision: number;
      /** Whether the proposal had changed since the typing began: then no one has seen the resulting text. */
      readonly isMerged: boolean;
      /** Base of further typing on top of this text: unless the two were merged, the current proposal. */
      readonly base: string;
    }
  /** The preview is not pending, or no longer has the file. */
  | { readonly kind: 'notPending' }
  /** The plan would be empty. */
  | { readonly kind: 'emptyPlan' }
  /** The encoding of the file lacks a character of the text. */
  | { readonly kind: 'lacks'; readonly encoding: string };

/**
 * Makes typed text the next revision of a proposal. If the proposal has changed since the typing began, the two are merged, with
 * conflict markers where needed. A text that changes nothing makes no revision.
 */
export async function commitText(store: PreviewStore, typed: TypedText): Promise<CommittedText> {
  const { previewId, path, base } = typed;
  for (;;) {
    const preview = store.get(previewId);
    const change = preview?.changes?.find(each => each.path === path);
    const plan = preview && planOf(preview);
    const after = change?.after;
    const now = plan?.text ?? (after && isText(after) ? after.text : undefined);
    if (preview?.state.kind !== 'pending' || now === undefined) return { kind: 'notPending' };
    const isMerged = base !== undefined && base !== now;
    const own = await keepLineEndings(base ?? now, typed.text);
    const text = isMerged ? await mergedText(base, now, own) : own;
    const edited = plan ? undefined : await withText(preview, change, text);
    if (edited && 'encoding' in edited) return { kind: 'lacks', encoding: edited.encoding };
    if (store.get(previewId) !== preview) continue; // it was revised meanwhile: start over
    const { id, revision } = preview;
    const isSame = plan ? text.trim() === plan.text.trim() : edited?.patch === undefined;
    const stored = isSame ? now : plan ? text.trim() : text;
    const result = { kind: 'committed', isMerged, base: isMerged ? own : stored } as const;
    if (isSame) return { ...result, revision };
    if (plan && text.trim() === '') return { kind: 'emptyPlan' };
    if (plan) await store.revisePlan(id, { ...plan, text: text.trim() }, text.trim());
    else if (edited) await store.revise(id, edited.changes, preview.dependsOn, 'user', edited.patch);
    return { ...result, revision: revision + 1 };
  }
}

/** Text typed on `base`, merged into the current proposal, with conflict markers where both changed the same lines. */
export async function mergedText(base: string, now: string, typed: string): Promise<string> {
  return (await mergeTexts(base, now, typed, CONFLICT_LABELS)).text;
}

/**
 * The changes with one proposal as a person left it, without a patch if it is unchanged; or the encoding that lacks a character.
 */
async function withText(
  { changes }: Preview,
  change: FileChange | undefined,
  text: string,
): Promise<
  | { readonly changes: readonly FileChange[]; readonly patch?: string }
  | { readonly encoding: string }
  | undefined
> {
  if (!changes || !change?.after || !isText(change.after)) return undefined;
  const { encoding } = change.after;
  const after = sideOfText(text, encoding);
  if (after.text !== text) return { encoding: encoding.name };
  if (after.hash === change.after.hash) return { changes };
  const patch = patchText(change.path, await hunksOf(change.after.text, after.text), MAX_PATCH_LINES);
  const next = change.kind === 'modify' ? await proposing(change, after) : { ...change, after };
  return { changes: changes.map(candidate => (candidate === change ? next : candidate)), patch };
}
