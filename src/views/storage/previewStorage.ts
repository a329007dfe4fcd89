import { openPreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Closing, Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import type { Blobs } from '../../agent/hold/preview/blobs.ts';
import { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { PreviewStoreOptions } from '../../agent/hold/preview/previewStoreOptions.ts';
import type { Settings } from '../settings.ts';
import { showWarning } from '../toast.ts';
import { previewNumbersIn } from './previewNumbers.ts';
import type { LogName, StorageTrouble } from './storageTrouble.ts';

/**
 * How long to wait for an extension host that is shutting down to release the lock, in milliseconds. VS Code gives it 5 s from when
 * it hears that it is to end, which is late on a busy machine.
 */
const LOCK_WAIT_MS = 10_000;
/** How long work that is under way is waited for when the window closes, in milliseconds. VS Code ends the host after 5 s. */
const CLOSE_WAIT_MS = 2_000;
/** How much resolved previews may keep in the storage, in bytes. */
const MAX_KEPT_BYTES = 32 * 1_048_576;
/** After how many votes and revisions the oldest of what is too much is forgotten; also at the start. */
const FORGET_EVERY = 25;

/** What opening the storage of a window needs. */
export interface StorageParts {
  /** The storage of the workspace; that of all windows without a folder is one. */
  readonly folder: vscode.Uri;
  /** Ends what is opened here, in order, before the process ends. */
  readonly closing: Closing;
  readonly trouble: StorageTrouble;
  readonly logger: Logger;
}

/** Whether this window owns the storage, another window does, or that cannot be told. */
export type StorageLock =
  | {
      readonly kind: 'owned';
      /** Leaves the storage locked until this process ends. */
      readonly keep: () => void;
    }
  | { readonly kind: 'otherWindow' }
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * Locks this workspace's storage for this window, until everything that is opened after it is closed. The user is told if
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
    const lock = await ProcessLock.take(path.join(folder.fsPath, 'window.lock'), patience);
    if (!lock) {
      if (hasFolder) warnAboutOtherWindow();
      return { kind: 'otherWindow' };
    }
    let isKept = false;
    closing.add(async () => {
      if (!isKept) await lock.release();
    });
    return { kind: 'owned', keep: () => (isKept = true) };
  } catch (error) {
    logger.error(`Locking ${folder.fsPath} failed: ${detailOf(error)}`);
    return { kind: 'unknown', error };
  }
}

/** The folder for the logs of windows that do not own the workspace's storage. */
export function sideLogFolder(storage: string): string {
  return path.join(storage, 'windows');
}

/**
 * The contents of binary files that the logs in a storage name.
 * @param isOwned whether this window owns the storage. What no preview of it names may still be named in the log of another
 *   window, so that nothing is removed while there is one.
 */
export function blobsOf(storage: string, { isOwned }: { readonly isOwned: boolean }): Blobs {
  return blobsIn(path.join(storage, 'blobs'), () => isOwned && !existsSync(sideLogFolder(storage)));
}

/**
 * Keeps contents in a folder, whose code is loaded on first use.
 * @param mayRemove whether this process knows everything that names a content of the folder
 */
function blobsIn(folder: string, mayRemove: () => boolean): Blobs {
  let opened: Promise<Blobs> | undefined;
  const open = (): Promise<Blobs> =>
    (opened ??= import('../../agent/hold/preview/blobFolder.ts').then(
      ({ BlobFolder }) => new BlobFolder(folder, mayRemove),
    ));
  return {
    put: async bytes => (await open()).put(bytes),
    get: async side => (await open()).get(side),
    // Most workspaces have no binary file to forget.
    retain: async (named, before) => {
      if (opened || existsSync(folder)) await (await open()).retain(named, before);
    },
  };
}

/** Whether a crash may have interrupted commits, of this window or others. */
export function mustRecover(store: PreviewStore, storage: string): boolean {
  const mayBeTorn = store.interruptedCommits.length + store.unsyncedCommits.length > 0;
  return mayBeTorn || existsSync(sideLogFolder(storage));
}

/** Settles when work that is under way has been waited for long enough. */
export function closePatience(): Promise<void> {
  return new Promise(resolve => void setTimeout(resolve, CLOSE_WAIT_MS).unref());
}

function warnAboutOtherWindow(): void {
  void showWarning(
    vscode.l10n.t(
      'Another window stores the previews of this workspace. Previews in this window are lost when it closes.',
    ),
  );
}

/** The store of a window. */
export interface OpenStore {
  readonly store: PreviewStore;
  /** Whether it writes the workspace's log. If not, previews and the ledger last as long as this window. */
  readonly isDurable: boolean;
}

/**
 * Opens the store with the previews of this workspace. If this window does not own the storage, or the log cannot be read, that
 * log is left untouched and previews last as long as this window. The user is told of what keeps them from being stored.
 */
export async function openStore(parts: StorageParts, lock: StorageLock): Promise<OpenStore> {
  const { folder, trouble, logger } = parts;
  switch (lock.kind) {
    case 'owned':
      break;
    case 'otherWindow': {
      const { store, failure } = await openTemporaryStore(parts);
      if (failure) trouble.failed('sideLog', failure.error);
      return { store, isDurable: false };
    }
    case 'unknown': {
      const { store, failure } = await openTemporaryStore(parts);
      trouble.notLocked(lock.error, failure === undefined);
      return { store, isDurable: false };
    }
  }
  const file = path.join(folder.fsPath, 'previews.jsonl');
  try {
    // Before the log is made, which a new storage is recognized by.
    const options = await storeOptions(parts, 'previews');
    const log = openPreviewLog(file);
    const { entries, unreadable, badLines, torn } = await log.load();
    if (badLines.length > 0) logger.warn(`${file}: skipped unreadable lines: ${badLines.join(', ')}`);
    if (torn) logger.warn(`${file}: dropped an incomplete last line`);
    const store = new PreviewStore(log, onFailure(parts, 'previews'), options);
    await store.restoreInTurns(entries, unreadable);
    if (unreadable.length > 0) {
      const { tellDamage } = await import('./damagedLines.ts');
      // Being told must not keep what can be read from being opened.
      await tellDamage(folder.fsPath, unreadable).catch((error: unknown) =>
        logger.error(`Keeping the damaged lines of ${file} failed: ${detailOf(error)}`),
      );
    }
    parts.closing.add(async () => {
      await closeStore(store, logger);
      // Otherwise another window would roll back what this process is still writing.
      if (isWriting(store)) lock.keep();
    });
    return { store, isDurable: true };
  } catch (error) {
    logger.error(`Reading ${file} failed: ${detailOf(error)}`);
    const { store, failure } = await openTemporaryStore(parts);
    trouble.notRead(failure?.error);
    return { store, isDurable: false };
  }
}

/** A store with a log that lasts as long as this window, and why that cannot be written, if it cannot. */
async function openTemporaryStore(
  parts: StorageParts,
): Promise<{ readonly store: PreviewStore; readonly failure?: { readonly error: unknown } }> {
  const { folder, closing, trouble, logger } = parts;
  const { SidePreviewLog } = await import('./sideLog.ts');
  const log = new SidePreviewLog(sideLogFolder(folder.fsPath), () => trouble.recovered('sideLog'));
  const store = new PreviewStore(log, onFailure(parts, 'sideLog'), await storeOptions(parts, 'sideLog'));
  closing.add(async () => {
    const isComplete = await closeStore(store, logger);
    // Its lock lasts as long as this process: another window would roll back what is still being written.
    if (!isWriting(store)) await log.close(isComplete && store.interruptedCommits.length === 0);
  });
  try {
    await log.open();
    return { store };
  } catch (error) {
    logger.error(`Opening a log for this window failed; it is tried again: ${detailOf(error)}`);
    return { store, failure: { error } };
  }
}

function onFailure({ trouble, logger }: StorageParts, log: LogName): (error: unknown) => void {
  return error => {
    logger.error(`Writing previews failed; what waits is kept in memory and retried: ${detailOf(error)}`);
    trouble.failed(log, error);
  };
}

async function storeOptions(
  { folder, trouble, logger }: StorageParts,
  log: LogName,
): Promise<PreviewStoreOptions> {
  return {
    blobs: blobsOf(folder.fsPath, { isOwned: log === 'previews' }),
    numbers: await previewNumbersIn(folder.fsPath, error =>
      logger.error(`Counting previews in ${folder.fsPath} failed: ${detailOf(error)}`),
    ),
    onLogRecovery: () => {
      logger.info('Writing previews works again; everything that waited is written.');
      trouble.recovered(log);
    },
    onUnsynced: (ids, failed) =>
      void import('./notSynced.ts').then(({ tellNotSynced }) => tellNotSynced(ids, failed, logger)),
    onUnstorable: (ids, error) => {
      logger.error(`The latest state of ${ids.join(', ')} can never be written: ${detailOf(error)}`);
      trouble.lostPreviews(ids);
    },
  };
}

/** Waits for files that are being written, and writes what waits. @returns whether the log has everything. */
async function closeStore(store: PreviewStore, logger: Logger): Promise<boolean> {
  await Promise.race([untilNothingIsWritten(store), closePatience()]);
  const isComplete = await store.close();
  if (!isComplete) logger.error('Some changes of previews could not be written before the window closed.');
  return isComplete;
}

/** Settles once no apply writes files any more. */
function untilNothingIsWritten(store: PreviewStore): Promise<void> {
  return new Promise(resolve => {
    if (!isWriting(store)) return resolve();
    const following = store.onDidChange(() => {
      if (isWriting(store)) return;
      following.dispose();
      resolve();
    });
  });
}

function isWriting(store: PreviewStore): boolean {
  return Array.from(store.open).some(({ kind, state }) => kind === 'files' && state.kind === 'applying');
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
  // Where nothing was ever resolved, there is nothing to forget, and nothing of it to load.
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
