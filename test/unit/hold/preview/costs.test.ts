/** What something costs is counted in changes that are looked at: it must not grow with what else is pending. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../../src/agent/base/localiser.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import { PendingFiles } from '../../../../src/agent/hold/preview/pendingFiles.ts';
import { revisionsOf, type Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoBranchAction } from '../../../../src/agent/hold/preview/undo.ts';
import { create, modify } from '../../../support/changes.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

/** A store with all that follows it in the core, which counts how often the kind of one of its changes is read. */
class Counting {
  visits = 0;
  readonly store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  readonly workspace = new MemoryWorkspace();
  readonly invoker = new Invoker(this.store, this.workspace, () => 'apply');
  readonly files = new PendingFiles(this.store);
  readonly rebaser = new Rebaser({ store: this.store, workspace: this.workspace, logger: silentLogger });
  readonly #overlay = new Overlay(this.store);

  stage(change: FileChange): Preview {
    const counted = new Proxy(change, {
      get: (target, name, receiver): unknown => {
        if (name === 'kind') this.visits++;
        return Reflect.get(target, name, receiver);
      },
    });
    return queueResolveHandler(
      { store: this.store, invoker: this.invoker, overlay: this.#overlay, l10n: english },
      { label: 'Edit', sourceToolName: 'test', changes: [counted] },
      { sessionId: 's1', asksModel: true },
    ).preview;
  }

  /** How many changes are looked at meanwhile. */
  async during(work: () => unknown): Promise<number> {
    const before = this.visits;
    await work();
    await this.rebaser.refresh([]);
    return this.visits - before;
  }

  vote(id: string, action: 'apply' | 'discard' = 'apply') {
    return this.invoker.resolve({ id, action, reason: 'ok', actor: 'human' });
  }

  /** So many previews of one file, each made on the one before. */
  chain(length: number): Preview {
    let last = this.stage(create('a.txt', '0'));
    for (let n = 1; n < length; n++) last = this.stage(modify('a.txt', `${n - 1}`, `${n}`));
    return last;
  }
}

describe('costs', () => {
  for (const action of ['apply', 'discard'] as const)
    test(`${action} costs the same beside 10 and beside 1,000 previews of other files`, async () => {
      const beside = async (count: number): Promise<number> => {
        const t = new Counting();
        for (let n = 0; n < count; n++) t.stage(create(`f${n}.txt`, 'x'));
        await t.rebaser.refresh([]);
        return t.during(async () => {
          await t.vote('p3', action);
          t.stage(create('next.txt', 'x'));
          await t.vote('p4', action);
        });
      };
      assert.equal(await beside(1_000), await beside(10));
    });

  test('a chain is staged at a cost that grows with its length', async () => {
    const staged = async (length: number): Promise<number> => {
      const t = new Counting();
      return t.during(() => t.chain(length));
    };
    assert.ok((await staged(400)) <= 4.5 * (await staged(100)));
  });

  test('a chain is refused at a cost that grows with its length', async () => {
    const refused = async (length: number): Promise<number> => {
      const t = new Counting();
      const { id } = t.chain(length);
      t.workspace.put('a.txt', 'someone else');
      const chain = revisionsOf(t.store.list('oldestFirst'));
      return t.during(() =>
        assert.rejects(
          t.invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human', chain }),
          /a\.txt/,
        ),
      );
    };
    assert.ok((await refused(400)) <= 4.5 * (await refused(100)));
  });

  test('the undo of a turn looks once at each preview there was', async () => {
    const t = new Counting();
    let looks = 0;
    const counted = (preview: Preview): Preview =>
      Object.defineProperty({ ...preview }, 'undoes', {
        get: () => {
          looks++;
          return preview.undoes;
        },
      });
    for (let n = 0; n < 50; n++) await t.vote(t.stage(create(`f${n}.txt`, 'x')).id);
    const all = t.store.all().map(counted);
    assert.equal(undoBranchAction(all, all, 'test', 'turn')?.undoes?.length, 50);
    assert.equal(looks, 50);
  });
});
