/** Windows that open a storage in a temporary folder, as the extension does when it is activated, and what they tell the user. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { Closing } from '../../src/agent/base/disposable.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { draft } from './drafts.ts';
import * as stub from './fuzz/vscodeStub.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';
import { TempFolder } from './tempFolder.ts';

stub.useVscodeStub();
const { lockStorage, mustRecover, openStore } = await import('../../src/views/storage/previewStorage.ts');
const { recoverInterruptedCommits } = await import('../../src/views/storage/interruptedCommits.ts');
const { StorageTrouble } = await import('../../src/views/storage/storageTrouble.ts');

let temp: TempFolder;
let count = 0;

export const vote = { action: 'apply', reason: 'ok', actor: 'human' } as const;
export const rollback = { newFolders: [], modes: {} };

/** The messages to the user in this test. */
export const told: string[] = [];
const show = (text: string): Promise<undefined> => Promise.resolve(void told.push(text));

/** Call it once in a file of tests: files may run in one process, which loads this module for the first of them only. */
export function useStorageWindows(): void {
  before(async () => (temp = await TempFolder.create()));
  after(() => temp.remove());
  beforeEach(() => {
    told.splice(0);
    Object.assign(stub.window, {
      showInformationMessage: show,
      showWarningMessage: show,
      showErrorMessage: show,
    });
  });
}

/** The files of a workspace's storage. */
export function newStorage() {
  const root = temp.at(`storage${count++}`);
  fs.mkdirSync(root);
  const at = (...parts: string[]): string => path.join(root, ...parts);
  return { root, at, log: at('previews.jsonl'), lock: at('window.lock') };
}

/** @param looks whether a second window on the storage looks for the end of the first one all the time, or from `take` on */
export async function openWindow(root: string, workspace = new MemoryWorkspace(), looks = true) {
  const closing = new Closing(error => assert.fail(String(error)));
  const trouble = new StorageTrouble();
  const parts = { folder: stub.Uri.file(root) as never, closing, logger: silentLogger, trouble };
  const lock = await lockStorage(parts, true, 0);
  const open = await openStore(parts, lock);
  const { store, isDurable } = open;
  if (isDurable && mustRecover(store)) await recoverInterruptedCommits(store, workspace, silentLogger);
  const take = () => open.takeOver?.(workspace, 1);
  const taken = looks ? take() : undefined;
  const invoker = new Invoker(store, workspace, () => 'apply');
  return {
    lock,
    store,
    workspace,
    trouble,
    isDurable,
    take,
    taken,
    stage: (...drafts: Parameters<typeof draft>[0][]) =>
      drafts.map(each => store.stage(draft(each)).preview.id),
    apply: (id: string) => invoker.resolve({ id, ...vote }),
    close: () => closing.close(),
  };
}

/** The process of a window ended: whatever it has locked names one that does not exist. */
export function kill(...locks: string[]): void {
  for (const lock of locks) fs.writeFileSync(lock, '{"pid":2147483646}');
}

export function outcomes(store: PreviewStore): readonly string[] {
  return store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`);
}
