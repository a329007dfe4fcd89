import assert from 'node:assert/strict';
import { lstatSync } from 'node:fs';
import { english } from '../../../../src/agent/base/localiser.ts';
import { stagedEntries, unstage } from '../../../../src/agent/hold/external/applied/gitIndex.ts';
import { holdBack } from '../../../../src/agent/hold/external/holdBack.ts';
import { readUncommitted } from '../../../../src/agent/hold/external/readUncommitted.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { PreviewLogEntry } from '../../../../src/agent/hold/preview/log/previewLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import type { QueuedPreview } from '../../../../src/agent/hold/preview/previewStoreOptions.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { type GitRepository } from '../../../support/gitRepository.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

/** A store of previews with its invoker, over files in memory or on a disk; `log` has what would be stored. */
export function world(files: Readonly<Record<string, string>>, disk?: DiskWorkspace) {
  const workspace = new MemoryWorkspace(files);
  const log: PreviewLogEntry[] = [];
  const sink = {
    append: (entry: PreviewLogEntry) => void log.push(entry),
    flush: () => Promise.resolve(),
    compact: () => Promise.resolve(),
  };
  const store = new PreviewStore(sink as never, error => assert.fail(String(error)));
  const invoker = new Invoker(
    store,
    disk ?? Object.assign(workspace, { isProtected: () => Promise.resolve(false) }),
    () => 'recommend',
  );
  const overlay = new Overlay(store);
  const rebaser = new Rebaser({ store, workspace, logger: console });
  const stage = (action: PendingAction): QueuedPreview => {
    const { sessionId = '', agent } = action;
    const origin = { sessionId, ...(agent ? { agent } : {}), asksModel: false };
    return queueResolveHandler({ store, invoker, overlay, l10n: english }, action, origin);
  };
  return { workspace, store, invoker, rebaser, stage, log };
}

/** Holds back what differs from the last commit, all of it or these paths, in a repository on disk. */
export async function holdBackIn(
  repository: GitRepository,
  {
    only,
    unsaved = [],
    onRead = () => undefined,
  }: {
    readonly only?: readonly string[];
    readonly unsaved?: readonly string[];
    /** Called before a file is read. */
    readonly onRead?: () => void;
  } = {},
) {
  const { git, folder } = repository;
  const disk = new DiskWorkspace(folder.root);
  const index = await stagedEntries(git.program);
  const changed = (await git.uncommitted()).filter(({ path }) => only?.includes(path) ?? true);
  const read = await readUncommitted(
    git,
    changed,
    {
      read: path => {
        onRead();
        return disk.read(path);
      },
      encodingOf: () => disk.encodingOf(),
      placeOf: async path => ({
        ...(await disk.placeOf(path)),
        ...(unsaved.includes(path) ? { isUnsaved: true } : {}),
      }),
    },
    {
      resolve: path => disk.resolvePath(path),
      resolveLink: path => Promise.resolve(path),
      isLink: path =>
        Promise.resolve(lstatSync(folder.at(path), { throwIfNoEntry: false })?.isSymbolicLink() ?? false),
    },
  );
  const { store, invoker, stage } = world({}, disk);
  const held = await holdBack(read.files, { l10n: english, store, invoker, stage });
  const leftOut = new Set(read.leftOut.map(({ path }) => path));
  const staged = changed.filter(({ path, isStaged }) => isStaged && !leftOut.has(path));
  const paths = new Set(staged.flatMap(({ path, from = path }) => [path, from]));
  const stillStaged = await unstage(git.program, paths, index);
  const apply = async (): Promise<void> => {
    const { id, revision } = store.get(held?.held.id ?? '') ?? assert.fail();
    await invoker.resolve({ id, revision, action: 'apply', reason: '', actor: 'human' });
  };
  const reasons = read.leftOut.map(({ path, why }) => `${path}: ${why}`).sort();
  return { ...read, reasons, stillStaged, isHeld: held !== undefined, apply };
}
