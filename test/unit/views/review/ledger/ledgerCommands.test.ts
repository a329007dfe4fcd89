import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../../../../../src/agent/base/localiser.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { Overlay } from '../../../../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { queueResolveHandler } from '../../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
Object.assign(stub.window, { setStatusBarMessage: () => undefined });
const { reopen, undo } = await import('../../../../../src/views/review/ledger/ledgerCommands.ts');
const { BulkVotes } = await import('../../../../../src/views/review/commands/bulkVotes.ts');

/** A preview that the user has resolved, and what the commands need. */
async function given(action: 'apply' | 'discard') {
  const { store, invoker, workspace } = new InvokerHarness('none');
  workspace.put('a.txt', 'a');
  const host = { store, invoker, overlay: new Overlay(store), l10n: english };
  const opened: string[] = [];
  const ctx = {
    store,
    invoker,
    logger: silentLogger,
    rebaser: new Rebaser({ store, workspace, logger: silentLogger }),
    opener: { open: ({ id }: Preview) => Promise.resolve(opened.push(id)) },
    edits: { hasUnsaved: () => false },
    session: {
      stageForUser: (staged: PendingAction) =>
        queueResolveHandler(host, staged, { sessionId: 's', asksModel: false }),
    },
  } as never;
  const { id, revision } = store.stage(draft()).preview;
  const vote = () => invoker.resolve({ id, revision, action, actor: 'human', reason: '' });
  const states = () => store.all().map(preview => `${preview.id} ${preview.state.kind}`);
  return { id, vote, store, workspace, ctx, opened, states };
}

test('a double click on Undo undoes once', async () => {
  const { id, vote, ctx, workspace, states } = await given('apply');
  await vote();
  const clicks = await Promise.all([undo(ctx, [id]), undo(ctx, [id])]);
  assert.deepEqual(
    [clicks, states()],
    [
      ['p2', 'p2'],
      ['p1 applied', 'p2 applied'],
    ],
  );
  assert.equal(workspace.text('a.txt'), 'a');
});

test('a double click on Reopen proposes once more, and no click on an old notification does so again', async () => {
  const { id, ctx, opened, states } = await given('discard');
  const clicked = Promise.withResolvers<string>();
  Object.assign(stub.window, { showInformationMessage: () => clicked.promise });
  await new BulkVotes(ctx).discardAll([{ id }]);
  const clicks = await Promise.all([reopen(ctx, [id]), reopen(ctx, [id])]);
  assert.deepEqual(
    [clicks, opened],
    [
      ['p2', 'p2'],
      ['p2', 'p2'],
    ],
  );
  clicked.resolve('Reopen');
  await new Promise(setImmediate);
  assert.deepEqual(states(), ['p1 discarded', 'p2 pending']);
});
