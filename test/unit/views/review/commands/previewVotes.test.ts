import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';

stub.useVscodeStub();
const { PreviewVotes } = await import('../../../../../src/views/review/commands/previewVotes.ts');

for (const typed of ['it', 'what it builds on', undefined])
  test(`after what a preview imports, it is applied unless the user has begun to type: ${typed ?? 'nothing'}`, async () => {
    const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
    const workspace = new MemoryWorkspace({ 'cart.ts': '' });
    const rebaser = new Rebaser({ store, workspace, logger: silentLogger });
    const warned: string[] = [];
    Object.assign(stub.window, {
      showInformationMessage: () => Promise.resolve(undefined),
      showWarningMessage: (text: string, _options: unknown, button?: string) => {
        warned.push(text);
        return Promise.resolve(button);
      },
    });
    const unsaved = new Set<string>();
    const ctx = {
      store,
      rebaser,
      invoker: new Invoker(store, workspace, () => 'none'),
      logger: silentLogger,
      edits: { hasUnsaved: (id: string) => unsaved.has(id) },
      opener: { together: (work: () => unknown) => work() },
    };
    const [one, two] = ['let a;\n', "let a;\nimport { rate } from './tax';\n"];
    const stage = (changes: readonly ReturnType<typeof modify>[], dependsOn: string[] = []): string =>
      store.stage(draft({ changes, dependsOn })).preview.id;
    const base = stage([modify('cart.ts', '', one)]);
    const cart = stage([modify('cart.ts', one, two)], [base]);
    const tax = stage([create('tax.ts', 'export const rate = 1;\n')]);
    store.onDidResolve(() => typed && unsaved.add(typed === 'it' ? cart : base));
    const votes = new PreviewVotes(ctx as never, {} as never);
    await votes.vote('apply', [cart], [{ id: cart, revision: 1 }]);
    const stays = typed ? 'pending' : 'applied';
    assert.deepEqual(
      [base, cart, tax].map(id => store.get(id)?.state.kind),
      [stays, stays, 'applied'],
    );
    assert.equal(/has edits that you have not saved/.test(warned.at(-1) ?? ''), typed !== undefined);
    rebaser.dispose();
  });
