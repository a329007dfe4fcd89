import assert from 'node:assert/strict';
import { english } from '../../src/agent/base/localiser.ts';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../src/agent/hold/preview/ledger.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction } from '../../src/agent/hold/preview/undo.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import { MemoryEditors } from './memoryEditors.ts';
import { MemoryWorkspace } from '../support/memoryWorkspace.ts';
import { MemoryPreviewLog, restoredStore } from '../support/testSession.ts';

/** Previews of files that editors have open. */
export class EditorWorld {
  readonly workspace: MemoryWorkspace;
  readonly editors: MemoryEditors;
  readonly log = new MemoryPreviewLog();
  readonly store = restoredStore(this.log);
  readonly invoker: Invoker;
  readonly rebaser: Rebaser;

  constructor(files: Readonly<Record<string, string>>) {
    this.workspace = new MemoryWorkspace(files);
    this.editors = new MemoryEditors(this.workspace);
    this.invoker = new Invoker(
      this.store,
      this.workspace,
      () => 'apply',
      undefined,
      () => Promise.resolve(this.editors),
    );
    this.rebaser = new Rebaser({ store: this.store, workspace: this.workspace, logger: silentLogger });
    this.invoker.onDidFailApply(({ id }) => void this.rebaser.refresh([id]));
  }

  /** @returns the id of the preview. */
  stage(...changes: readonly FileChange[]): string {
    return this.#queue({ label: 'Edit', sourceToolName: 'test', changes });
  }

  /** Stages what undoes a preview. */
  async stageUndo(id: string): Promise<string> {
    const preview = this.store.get(id);
    const action = (preview && undoAction(preview)) ?? assert.fail(`${id} is applied`);
    const undo = this.#queue(action);
    await this.rebaser.refresh([undo]);
    return undo;
  }

  async apply(id: string, more: { readonly chain?: Readonly<Record<string, number>> } = {}): Promise<void> {
    await this.invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human', ...more });
  }

  /** What the ledger says of a preview, the oldest first: `failed: sameLines in a.txt` where it did not stay. */
  saidOf(id: string): readonly string[] {
    return this.store.ledger().flatMap(entry => (entry.previewId === id ? [said(entry)] : []));
  }

  /** What the user would have once everything is saved. */
  now(path: string): string | undefined {
    return this.workspace.now(path);
  }

  #queue(action: Parameters<typeof queueResolveHandler>[1]): string {
    const { store, invoker } = this;
    return queueResolveHandler({ store, invoker, overlay: new Overlay(store), l10n: english }, action, null)
      .preview.id;
  }
}

function said({ outcome, lost }: LedgerEntry): string {
  return lost ? `${outcome}: ${lost.map(({ path, why }) => `${why} in ${path}`).join(', ')}` : outcome;
}

/** Waits until nothing happens by itself any more. */
export async function atRest(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise(resolve => setImmediate(resolve));
}
