import { watch, type FSWatcher } from 'node:fs';
import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { coalesce } from '../../agent/base/async.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { countText } from '../../agent/base/localiser.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { openPreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { PreviewProjection } from '../../agent/hold/preview/previewProjection.ts';

/** How long changes of another window's storage are collected before it is read again, in milliseconds. */
const GATHER_MS = 1_000;

/**
 * Counts the pending previews of the other windows on the same folder. VS Code gives each of them a storage of its own. It
 * only reads there.
 */
export class OtherWindows {
  readonly #storage: string;
  readonly #onCount: (count: number) => void;
  readonly #logger: Logger;
  readonly #watchers: FSWatcher[] = [];
  readonly #countSoon = coalesce(() => void this.#count(), GATHER_MS);
  #storages: readonly string[] = [];
  #isDisposed = false;

  /**
   * @param storage the folder of this window's storage.
   * @param onCount is told how many previews other open windows on this folder have pending, first and after each change.
   */
  constructor(storage: string, onCount: (count: number) => void, logger: Logger) {
    this.#storage = storage;
    this.#onCount = onCount;
    this.#logger = logger;
  }

  /** Begins to follow them; settles after the first count. Never rejects. */
  async start(): Promise<void> {
    try {
      this.#storages = await otherStorages(this.#storage);
    } catch (error) {
      this.#logger.warn(`Looking for other windows on this folder failed: ${detailOf(error)}`);
    }
    if (this.#isDisposed) return;
    for (const other of this.#storages) this.#watch(other);
    await this.#count();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#countSoon.cancel();
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Without a watcher, the first count stays. */
  #watch(storage: string): void {
    const onError = (error: unknown): void =>
      this.#logger.warn(`Watching ${storage} failed: ${detailOf(error)}`);
    try {
      const watcher = watch(storage, { persistent: false }, this.#countSoon);
      watcher.on('error', onError);
      this.#watchers.push(watcher);
    } catch (error) {
      onError(error);
    }
  }

  async #count(): Promise<void> {
    let count = 0;
    for (const storage of this.#storages) {
      try {
        count += await pendingIn(storage);
      } catch (error) {
        this.#logger.warn(`Reading the previews in ${storage} failed: ${detailOf(error)}`);
      }
    }
    if (!this.#isDisposed) this.#onCount(count);
  }
}

/** The storages of the other windows that the folder of this one was ever open in. */
async function otherStorages(storage: string): Promise<readonly string[]> {
  const parent = path.dirname(storage);
  const [own, all] = [path.basename(parent), path.dirname(parent)];
  const folder = own.replace(/-\d+$/, '');
  const isSameFolder = (name: string): boolean =>
    name === folder || (name.startsWith(`${folder}-`) && /^\d+$/.test(name.slice(folder.length + 1)));
  const names = (await readdir(all)).filter(name => name !== own && isSameFolder(name));
  return names.map(name => path.join(all, name, path.basename(storage)));
}

/** How many previews are open in a storage, if its window is open too. */
async function pendingIn(storage: string): Promise<number> {
  if (!(await ProcessLock.isHeld(path.join(storage, 'window.lock')))) return 0;
  const projection = new PreviewProjection();
  await openPreviewLog(path.join(storage, 'previews.jsonl')).read({
    entry: entry => void projection.apply(entry),
  });
  return projection.open.size;
}

/** Says in the pending view where those previews are; empty if there are none. */
export function otherWindowsText(count: number): string {
  if (count === 0) return '';
  const forms = vscode.l10n.t(
    'Another window on this folder has 1 pending preview. It is reviewed there.|Another window on this folder has {0} pending previews. They are reviewed there.',
  );
  return countText(forms, vscode.l10n)(count);
}
