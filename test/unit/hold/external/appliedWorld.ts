import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import { appliedPreviews } from '../../../../src/agent/hold/external/applied/appliedChanges.ts';
import { stageApplied, type Staged } from '../../../../src/agent/hold/external/applied/stageApplied.ts';
import type { Git } from '../../../../src/agent/hold/external/git.ts';
import { changeOf, sideOfBytes, type FileSide } from '../../../../src/agent/hold/preview/fileChange.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { GitRepository, type Committed } from '../../../support/gitRepository.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

/** A real repository whose files previews change: they are staged and applied as in the extension. */
export class AppliedWorld {
  readonly repository: GitRepository;
  readonly store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  /** The folder that is open: the repository, or one in it. */
  readonly folder: string;
  /** Absolute paths of files that an editor has unsaved changes of. */
  readonly unsaved = new Set<string>();
  readonly #invoker: Invoker;
  readonly #overlay = new Overlay(this.store);

  private constructor(repository: GitRepository, folder: string) {
    this.repository = repository;
    this.folder = folder;
    this.#invoker = new Invoker(this.store, new DiskWorkspace(folder), () => 'recommend');
  }

  /** @param files are committed and checked out. */
  static async create(
    t: TestContext,
    files: Readonly<Record<string, Committed>>,
    { folder = '.', config = {} }: { folder?: string; config?: Readonly<Record<string, string>> } = {},
  ): Promise<AppliedWorld> {
    const repository = await GitRepository.create(t);
    for (const [name, value] of Object.entries(config)) repository.config(name, value);
    repository.checkedOut(files);
    return new AppliedWorld(repository, path.join(repository.folder.root, folder));
  }

  /** The window has another folder open. */
  inFolder(folder: string): AppliedWorld {
    return new AppliedWorld(this.repository, folder);
  }

  /** What a file of the folder holds. */
  disk(name: string): string {
    return readFileSync(path.join(this.folder, name), 'latin1');
  }

  /** A change of a file of the folder, from what it holds, or to a new one. */
  async edit(
    files: Readonly<Record<string, string | null>>,
    over: Partial<PendingAction> = {},
  ): Promise<Preview> {
    const changes = Object.entries(files).flatMap(([name, text]) => {
      const after = text === null ? null : (sideOfBytes(Buffer.from(text)) ?? assert.fail());
      return changeOf(name, this.#side(name), after) ?? [];
    });
    return this.apply({ changes, ...over });
  }

  async rename(from: string, to: string, text?: string): Promise<Preview> {
    const before = this.#side(from) ?? assert.fail();
    const after = text === undefined ? before : (sideOfBytes(Buffer.from(text)) ?? assert.fail());
    return this.apply({ changes: [{ kind: 'rename', from, path: to, before, after }] });
  }

  async undo(preview: Preview): Promise<Preview> {
    return this.apply(undoAction(preview) ?? assert.fail());
  }

  async apply(action: Partial<PendingAction>, reason = 'ok'): Promise<Preview> {
    const { store } = this;
    const pending = { label: 'Edit', sourceToolName: 'test', ...action };
    const { sessionId = 's1', agent } = action;
    const origin = { sessionId, ...(agent ? { agent } : {}), asksModel: true };
    const { preview } = queueResolveHandler(
      { store, invoker: this.#invoker, overlay: this.#overlay, l10n: english },
      pending,
      origin,
    );
    await this.#invoker.resolve({ id: preview.id, action: 'apply', reason, actor: 'human' });
    const applied = store.get(preview.id) ?? assert.fail();
    assert.equal(applied.state.kind, 'applied');
    return applied;
  }

  stageIn(git: Git): Promise<Staged> {
    return stageApplied({
      git,
      previews: appliedPreviews(this.store),
      fileOf: (_, name) => path.join(this.folder, name),
      unsaved: [...this.unsaved],
    });
  }

  /** @returns the files that were left out, as `path: why`. */
  async stage(): Promise<readonly string[]> {
    const { left } = await this.stageIn(this.repository.git);
    return left.map(({ path: at, why }) => `${at}: ${why}`).sort();
  }

  /** What is staged of a file. */
  staged(name: string): string {
    return this.repository.run(['cat-file', 'blob', `:${name}`]);
  }

  /** What git says of the working tree, a line for each path. */
  status(): readonly string[] {
    return this.repository.run(['status', '--porcelain']).split('\n').filter(Boolean);
  }

  #side(name: string): FileSide | null {
    try {
      return sideOfBytes(readFileSync(path.join(this.folder, name))) ?? null;
    } catch {
      return null;
    }
  }
}
