import type { Localiser, Sentence } from '../../base/localiser.ts';
import { changeOf, type FileChange, type TextSide } from '../preview/fileChange.ts';
import { counted } from '../preview/label.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { QueuedPreview } from '../preview/previewStoreOptions.ts';
import type { Invoker } from '../preview/resolve/invoker.ts';
import { inverseOf } from '../preview/undo.ts';
import { originOf } from './stageGathered.ts';

/** A file with uncommitted changes. */
export interface UncommittedFile {
  /** Workspace path. */
  readonly path: string;
  /** Its path in the last commit, if it was renamed since. */
  readonly from?: string;
  /** Content in the last commit; `null`: the file is new. */
  readonly head: TextSide | null;
  /** Content on disk; `null`: it was deleted. */
  readonly now: TextSide | null;
  /** If the file exists on only one of the two sides: its permission bits there. */
  readonly mode?: number;
}

export interface HoldBackHost {
  /** The language of the user. */
  readonly l10n: Localiser;
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  /** Stages the action with `queueResolveHandler`. */
  readonly stage: (action: PendingAction) => QueuedPreview;
}

/** The result of holding changes back. */
export interface HeldBack {
  /** The pending preview with the uncommitted content. */
  readonly held: Preview;
  /** The preview that gave the files back the content of the last commit. Undoing it restores the uncommitted content. */
  readonly reverted: Preview;
}

const SOURCE_NAME: Sentence = l10n => l10n.t('your uncommitted changes');

/**
 * Turns uncommitted changes into a preview, and gives the files back the content of the last commit. It first stages two
 * previews: one that gives the files back and, building on it, one with the uncommitted content. So wherever the process ends,
 * the content is in a pending preview or in the file. If it cannot give the files back, it withdraws both.
 * @returns `undefined` if no file differs from the last commit.
 * @throws the invoker's error; then the files are as they were.
 */
export async function holdBack(
  files: readonly UncommittedFile[],
  { l10n, store, invoker, stage }: HoldBackHost,
): Promise<HeldBack | undefined> {
  const changes = files.flatMap(heldChange);
  if (changes.length === 0) return undefined;
  const origin = {
    ...originOf({ name: SOURCE_NAME, l10n, command: 'hold_back' }),
    purpose: 'holdBack' as const,
  };
  const modes = Object.fromEntries(
    files.flatMap(({ path, mode }) => (mode === undefined ? [] : [[path, mode]])),
  );
  const back = stage({
    ...origin,
    ...counted('Hold back uncommitted changes to ', { noun: 'file', count: changes.length }),
    title: l10n => l10n.t('Hold back uncommitted changes'),
    changes: inverseOf(changes, { modes }),
  });
  const kept = stage({
    ...origin,
    label: 'Your uncommitted changes',
    title: l10n => l10n.t('Your uncommitted changes'),
    changes,
  });
  const discard = async ({ id }: Preview): Promise<void> => {
    if (store.get(id)?.state.kind === 'pending')
      await invoker.resolve({ id, action: 'discard', reason: WITHDRAWN, actor: 'human' });
  };
  try {
    await Promise.all([back.stored, kept.stored]);
    const { id, revision } = back.preview;
    await invoker.resolve({ id, revision, action: 'apply', reason: HELD_BACK, actor: 'human' });
  } catch (error) {
    // First the one that builds on the other, so that it does not become stale in between.
    await discard(kept.preview);
    await discard(back.preview);
    throw error;
  }
  return {
    held: store.get(kept.preview.id) ?? kept.preview,
    reverted: store.get(back.preview.id) ?? back.preview,
  };
}

const HELD_BACK = 'Held back for review.';
const WITHDRAWN = 'The files could not be given back what the last commit has.';

function heldChange({ path, from, head, now, mode }: UncommittedFile): readonly FileChange[] {
  if (from !== undefined && head && now) return [{ kind: 'rename', path, from, before: head, after: now }];
  const change = changeOf(path, head, now);
  if (!change) return [];
  return [change.kind === 'create' && mode !== undefined ? { ...change, mode } : change];
}
