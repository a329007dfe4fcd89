import * as vscode from 'vscode';
import type { Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { Settings } from '../settings.ts';
import { showWarning } from '../toast.ts';
import {
  closeStore,
  isWriting,
  lockIn,
  openStored,
  type OpenStore,
  type StorageParts,
} from './storedPreviews.ts';

/**
 * How long to wait for an extension host that is shutting down to release the lock, in milliseconds. VS Code gives it 5 s after
 * telling it to end, and on a busy machine that message arrives late.
 */
const LOCK_WAIT_MS = 10_000;
/** How much resolved previews may keep in the storage, in bytes. */
const MAX_KEPT_BYTES = 32 * 1_048_576;
/** Number of votes and revisions after which the store forgets the oldest previews beyond the limit; also at the start. */
const FORGET_EVERY = 25;

/** Whether this window owns the storage, another window does, or that cannot be told. */
export type StorageLock =
  | {
      readonly kind: 'owned';
      readonly lock: ProcessLock;
      /** Leaves the storage locked until this process ends. */
      readonly keep: () => void;
    }
  | { readonly kind: 'otherWindow' }
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * Locks this workspace's storage for this window, until everything opened after the lock has been closed. The user is told if
 * another window has it.
 * @param hasFolder windows without a folder share one storage, but have no previews to lose.
 * @param patience how long another window may still be closing, in milliseconds; for tests.
 */
export async function lockStorage(
  { folder, closing, logger }: StorageParts,
  hasFolder: boolean,
  patience = LOCK_WAIT_MS,
): Promise<StorageLock> {
  try {
    const lock = await ProcessLock.take(lockIn(folder), patience);
    if (!lock) {
      if (hasFolder)
        void showWarning(
          vscode.l10n.t(
            'Another window stores the previews of this workspace. Until that window closes, those of this one are only in memory, and are lost when it closes or reloads.',
          ),
        );
      return { kind: 'otherWindow' };
    }
    let isKept = false;
    closing.add(async () => {
      if (!isKept) await lock.release();
    });
    return { kind: 'owned', lock, keep: () => (isKept = true) };
  } catch (error) {
    logger.error(`Locking ${folder.fsPath} failed: ${detailOf(error)}`);
    return { kind: 'unknown', error };
  }
}

/** Whether a crash may have interrupted commits. */
export function mustRecover(store: PreviewStore): boolean {
  return store.interruptedCommits.length + store.unsyncedCommits.length > 0;
}

/**
 * Opens the store with the previews of this workspace. If this window does not own the storage, or the log cannot be read, that
 * log is left untouched and previews are in memory. A message to the user says why they cannot be stored.
 */
export async function openStore(parts: StorageParts, lock: StorageLock): Promise<OpenStore> {
  const { closing, trouble, logger } = parts;
  if (lock.kind === 'unknown') trouble.notLocked(lock.error);
  if (lock.kind === 'owned')
    try {
      const { store } = await openStored(parts, lock.lock);
      closing.add(async () => {
        const isComplete = await closeStore(store, logger);
        // Another window would roll back a commit that this process is still writing, and would not know the numbers of unstored previews.
        if (!isComplete || isWriting(store)) lock.keep();
      });
      return { store, isDurable: true };
    } catch (error) {
      logger.error(`Reading the stored previews failed: ${detailOf(error)}`);
      trouble.notRead();
    }
  const { openInMemory } = await import('./memoryStore.ts');
  const { takeOver, ...open } = openInMemory(parts);
  return lock.kind === 'otherWindow' ? { ...open, takeOver } : open;
}

/** Forgets previews that were resolved long ago, as the settings say, now and from time to time. */
export function forgetOldPreviews(store: PreviewStore, settings: Settings, logger: Logger): Disposable {
  const forget = (): void => {
    store.forgetResolved(daysAgo(settings.retentionDays), MAX_KEPT_BYTES).then(
      damaged => {
        if (damaged.length > 0) logger.error(`Contents of ${damaged.join(', ')} are missing or damaged.`);
      },
      (error: unknown) => logger.error(`Forgetting old previews failed: ${detailOf(error)}`),
    );
  };
  // If nothing was ever resolved, there is nothing to forget, and no need to load it.
  if (store.ledger().length > 0) forget();
  let steps = 0;
  const count = (more: number): void => {
    steps += more;
    if (steps >= FORGET_EVERY) forget();
    steps %= FORGET_EVERY;
  };
  const following = [
    store.onDidResolve(entries => count(entries.length)),
    store.onDidRevise(({ by }) => count(by === 'rebase' ? 0 : 1)),
  ];
  return { dispose: () => following.forEach(each => each.dispose()) };
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000);
}
