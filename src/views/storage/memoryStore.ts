import { setTimeout as delay } from 'node:timers/promises';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { UnstoredBlobs } from '../../agent/hold/preview/blobs.ts';
import { UnstoredLog } from '../../agent/hold/preview/log/unstoredLog.ts';
import { randomNumbers } from '../../agent/hold/preview/previewNumbers.ts';
import { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import {
  closeStore,
  isWriting,
  lockIn,
  onFailure,
  openStored,
  storeOptions,
  type OpenStore,
  type StorageParts,
} from './storedPreviews.ts';

/** How often a window looks whether the owner of the storage has closed or died, in milliseconds. */
const LOOK_MS = 5_000;
/** How many looks in a row must find nobody: a window that reloads comes back sooner. */
const FREE_LOOKS = 6;

/** A store in memory, which takes over the storage once the window that owns it has closed. */
export function openInMemory(parts: StorageParts): OpenStore {
  const [log, blobs] = [new UnstoredLog(), new UnstoredBlobs()];
  const options = { ...storeOptions(parts), blobs, numbers: randomNumbers() };
  const store = new PreviewStore(log, onFailure(parts), options);
  const closed = new AbortController();
  let taking: Promise<Taken> = Promise.resolve({});
  parts.closing.add(async () => {
    closed.abort();
    const { lock } = await taking;
    const isComplete = await closeStore(store, parts.logger);
    if (isComplete && !isWriting(store)) await lock?.release();
  });
  return {
    store,
    isDurable: false,
    takeOver: (workspace, lookEvery = LOOK_MS) => {
      const { signal } = closed;
      const wait = (): Promise<unknown> =>
        delay(lookEvery, undefined, { signal, ref: false }).catch(() => undefined);
      taking = takeOver(parts, { store, log, blobs }, workspace, { signal, wait });
      return taking.then(({ isStored = false }) => isStored);
    },
  };
}

/** What the last owner of the storage has left. */
type Left = Awaited<ReturnType<typeof openStored>>;

interface Taken {
  /** The lock of the storage, once this window has it. */
  readonly lock?: ProcessLock | undefined;
  /** Whether all previews are in its log. */
  readonly isStored?: boolean;
}

/** Never rejects. */
async function takeOver(
  parts: StorageParts,
  held: { readonly store: PreviewStore; readonly log: UnstoredLog; readonly blobs: UnstoredBlobs },
  workspace: ResolvingFiles,
  { signal, wait }: { readonly signal: AbortSignal; readonly wait: () => Promise<unknown> },
): Promise<Taken> {
  let lock: ProcessLock | undefined;
  let left: Left | undefined;
  let isIn = false;
  let free = 0;
  for (; !signal.aborted; await wait()) {
    try {
      const file = lockIn(parts.folder);
      if (!lock) {
        free = (await ProcessLock.isHeld(file)) ? 0 : free + 1;
        if (free < FREE_LOOKS) continue;
      }
      lock ??= await ProcessLock.take(file, 0);
      if (!lock) continue;
      // Only once: afterwards, a commit in the log may be one in progress here.
      left ??= await openStored(parts, lock);
      if (!isIn) await moveIn(parts, held, workspace, left);
      isIn = true;
      await held.log.flush();
      parts.trouble.recovered('previews');
      parts.logger.info('The window that stored the previews has closed. This window stores them now.');
      return { lock, isStored: true };
    } catch (error) {
      onFailure(parts)(error);
    }
  }
  return { lock };
}

/** Whether a window has changed a file, or is about to. */
function isWrittenBy(store: PreviewStore, path: string): boolean {
  const isApplied = store
    .ledger()
    .some(({ outcome, files }) => outcome === 'applied' && files.some(file => file.path === path));
  return isApplied || store.open.touching([path]).some(({ state }) => state.kind === 'applying');
}

/** Ends the last owner's unfinished commits as the next start would, and joins its log with this window's previews. */
async function moveIn(
  parts: StorageParts,
  {
    store,
    log,
    blobs,
  }: { readonly store: PreviewStore; readonly log: UnstoredLog; readonly blobs: UnstoredBlobs },
  workspace: ResolvingFiles,
  left: Left,
): Promise<void> {
  const { recoverInterruptedCommits } = await import('./interruptedCommits.ts');
  await recoverInterruptedCommits(left.store, workspace, parts.logger, path => isWrittenBy(store, path));
  if (!(await left.store.drain())) throw new Error('Previews of the last window cannot be stored.');
  const { entries } = await left.log.load();
  await store.adopt(entries);
  if (left.log.contents) await blobs.moveTo(left.log.contents);
  log.moveTo(left.log);
}
