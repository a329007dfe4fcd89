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

/** A store in memory, and the storage of the last owner once this window has its lock and has opened it. */
interface Held {
  readonly store: PreviewStore;
  readonly log: UnstoredLog;
  readonly blobs: UnstoredBlobs;
  lock?: ProcessLock | undefined;
  left?: Awaited<ReturnType<typeof openStored>>;
}

/** A store in memory, which takes over the storage once the window that owns it has closed. */
export function openInMemory(parts: StorageParts): OpenStore {
  const [log, blobs] = [new UnstoredLog(), new UnstoredBlobs()];
  const options = { ...storeOptions(parts), blobs, numbers: randomNumbers() };
  const store = new PreviewStore(log, onFailure(parts), options);
  const held: Held = { store, log, blobs };
  const closed = new AbortController();
  let taking = Promise.resolve(false);
  parts.closing.add(async () => {
    closed.abort();
    await taking;
    const isComplete = await closeStore(store, parts.logger);
    if (isComplete && !isWriting(store)) await held.lock?.release();
  });
  return {
    store,
    isDurable: false,
    takeOver: (workspace, lookEvery = LOOK_MS) => {
      const { signal } = closed;
      const wait = (): Promise<unknown> =>
        delay(lookEvery, undefined, { signal, ref: false }).catch(() => undefined);
      return (taking = takeOver(parts, held, workspace, { signal, wait }));
    },
  };
}

/** @returns whether all previews are in the log of the storage. Never rejects. */
async function takeOver(
  parts: StorageParts,
  held: Held,
  workspace: ResolvingFiles,
  { signal, wait }: { readonly signal: AbortSignal; readonly wait: () => Promise<unknown> },
): Promise<boolean> {
  let isIn = false;
  let free = 0;
  for (; !signal.aborted; await wait()) {
    try {
      const file = lockIn(parts.folder);
      if (!held.lock) {
        free = (await ProcessLock.isHeld(file)) ? 0 : free + 1;
        if (free < FREE_LOOKS) continue;
        held.lock = await ProcessLock.take(file, 0);
      }
      if (!held.lock) continue;
      held.left ??= await openStored(parts, held.lock);
      // Only once: afterwards, a commit in the log may be one in progress here.
      if (!isIn) await moveIn(parts, held, held.left, workspace);
      isIn = true;
      await held.log.flush();
      parts.trouble.recovered('previews');
      parts.logger.info('The window that stored the previews has closed. This window stores them now.');
      return true;
    } catch (error) {
      onFailure(parts)(error);
    }
  }
  return false;
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
  { store, log, blobs }: Held,
  left: NonNullable<Held['left']>,
  workspace: ResolvingFiles,
): Promise<void> {
  const { recoverInterruptedCommits } = await import('./interruptedCommits.ts');
  await recoverInterruptedCommits(left.store, workspace, parts.logger, path => isWrittenBy(store, path));
  if (!(await left.store.drain())) throw new Error('Previews of the last window cannot be stored.');
  const { entries } = await left.log.load();
  await store.adopt(entries);
  if (left.log.contents) await blobs.moveTo(left.log.contents);
  log.moveTo(left.log);
}
