import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isAbortError } from '../../../../src/agent/base/errors.ts';
import { ConversationPreviews } from '../../../../src/agent/session/conversation/conversationPreviews.ts';
import { ConversationTree } from '../../../../src/agent/session/conversation/conversationTree.ts';
import { messageIdOf } from '../../../../src/agent/session/conversation/nodeId.ts';
import { factText } from '../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { ModelResolver, type ResolveCall } from '../../../../src/agent/session/forcing/modelResolver.ts';
import { ToolChoiceQueue } from '../../../../src/agent/session/forcing/toolChoiceQueue.ts';
import {
  resultText,
  type AgentToolResult,
  type PendingAction,
} from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import type { NoteShown } from '../../../../src/agent/hold/preview/shownDiffs.ts';
import { modelResult } from '../../../../src/agent/hold/preview/resolve/modelResult.ts';
import type { Handled, Resolved } from '../../../../src/agent/hold/preview/resolve/resolved.ts';
import { NOTHING_PENDING } from '../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

class ResolverHarness extends InvokerHarness {
  readonly queue = new ToolChoiceQueue<ResolveCall, Resolved | Handled>();
  readonly tree = new ConversationTree();
  previews = new ConversationPreviews('s1', this.tree, this.store);
  readonly resolver = new ModelResolver(this.store, this.invoker, this.queue, () => this.previews);
  /** The parts of diffs that it was shown. */
  texts: string[] = [];

  /** Stages a preview that the model was reminded of, and whose diff it was shown up to here. */
  remindedOf(action: Partial<PendingAction> = {}, end = Infinity): Preview {
    const preview = this.stage(action);
    this.previews.addReminder(preview.id);
    this.show(preview, 0, end);
    return preview;
  }

  /** Shows the model this part of the preview's diff, from its next request on. */
  show(preview: Preview, from: number, end: number, text = `${preview.id} ${from} ${end}`): void {
    this.texts.push(text);
    this.resolver.noteShown(preview, { from, end, text });
  }

  /** The next request is made, with all that was shown. */
  beginTurn(): void {
    this.resolver.beginTurn();
    const text = this.texts.join('\n');
    this.resolver.noteRequest([{ role: 'steering', kind: 'notice', text, previewIds: [] }]);
  }

  /** Stages an edit, or a command, by a call of the message that is being answered. */
  stageInCall(purpose?: 'command'): void {
    const id =
      this.tree.active ??
      this.tree.append({
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'call_1', name: 'run_command', arguments: '{}' }],
        stopReason: 'toolCalls',
      }).id;
    this.store.stage({
      label: 'Edit',
      sourceToolName: 'test',
      ...(purpose
        ? { kind: 'action', changes: null, purpose }
        : { kind: 'files', changes: [modify('a.txt', 'a', 'A')] }),
      dependsOn: [],
      origin: {
        sessionId: 's1',
        call: { messageId: messageIdOf(id), toolCallId: 'call_1' },
        asksModel: true,
      },
      stagedAt: new Date().toISOString(),
    });
  }

  async call(over: Partial<ResolveCall> = {}): Promise<AgentToolResult> {
    const noteShown: NoteShown = (preview, { from, end, text }) => this.show(preview, from, end, text);
    return modelResult(await this.resolver.resolve({ action: 'discard', reason: 'no', noteShown, ...over }));
  }
}

test('with nothing pending the model is told exactly so', async () => {
  const harness = new ResolverHarness();
  harness.beginTurn();
  await assert.rejects(harness.call(), { name: 'ToolError', message: NOTHING_PENDING });
});

test('an id names its preview, although another is in flight', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  harness.queue.pushOnce(
    { type: 'tool', name: 'resolve' },
    { onInvoked: () => assert.fail('the id comes first') },
  );
  harness.beginTurn();
  harness.queue.nextToolChoice();
  await harness.call({ id: 'p1' });
  assert.deepEqual([harness.state('p1').kind, harness.state('p2').kind], ['discarded', 'pending']);
});

test('without an id the directive in flight decides', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  harness.queue.pushOnce(
    { type: 'tool', name: 'resolve' },
    { onInvoked: call => harness.resolver.resolvePreview('p1', call) },
  );
  harness.beginTurn();
  harness.queue.nextToolChoice();
  await harness.call();
  assert.deepEqual([harness.state('p1').kind, harness.state('p2').kind], ['discarded', 'pending']);
});

test('the directive in flight decides, although another call of the same message has staged a preview', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.queue.pushOnce(
    { type: 'tool', name: 'resolve' },
    {
      onServed: () => harness.resolver.expectAnswerTo('p1'),
      onInvoked: call => harness.resolver.resolvePreview('p1', call),
    },
  );
  harness.beginTurn();
  harness.queue.nextToolChoice();
  harness.stageInCall();
  await harness.call();
  assert.deepEqual([harness.state('p1').kind, harness.state('p2').kind], ['discarded', 'pending']);
  await assert.rejects(harness.call(), /^ToolError: p2 \(Edit\) was staged only now/);
});

test('the same if the user resolves the forced preview meanwhile: the call is told that outcome', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  const directive = forcedThenWithdrawn(harness);
  await harness.resolve();
  directive.remove();
  harness.stageInCall();
  assert.match(resultText(await harness.call()), /^p1 \(Edit\) was already resolved by the user: applied/);
  assert.equal(harness.state('p2').kind, 'pending');
});

test('without a directive in flight, a call after a sibling that staged a preview is refused', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.beginTurn();
  harness.stageInCall();
  await assert.rejects(harness.call(), /^ToolError: p2 \(Edit\) was staged only now/);
  assert.equal(harness.state('p1').kind, 'pending');
});

test('without one in flight it is the preview last reminded of that is still pending', async () => {
  const harness = new ResolverHarness();
  for (let n = 0; n < 3; n++) harness.remindedOf();
  harness.previews.addReminder('p1');
  await harness.resolve({ id: 'p3', action: 'discard' });
  for (const expected of ['p1', 'p2']) {
    harness.beginTurn();
    await harness.call();
    assert.equal(harness.state(expected).kind, 'discarded');
  }
  harness.beginTurn();
  await assert.rejects(harness.call(), /No pending action/);
});

test('several calls in one message take one preview after the other', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  harness.beginTurn();
  await harness.call();
  await harness.call();
  assert.deepEqual(harness.outcomes(), ['p2 discard discarded', 'p1 discard discarded']);
  await assert.rejects(harness.call(), /No pending action/);
});

test('a preview that the model was never reminded of is found by its id only', async () => {
  const harness = new ResolverHarness();
  harness.stage();
  harness.beginTurn();
  await assert.rejects(
    harness.call(),
    /^ToolError: No pending preview waits for you\. The user decides on p1 \(Edit\)/,
  );
  await harness.call({ id: 'p1' });
  assert.equal(harness.state().kind, 'discarded');
});

test('a preview of another conversation cannot be resolved, by its id neither: its diff was not seen', async () => {
  const harness = new ResolverHarness();
  harness.stage();
  harness.remindedOf();
  harness.previews = new ConversationPreviews('s2', new ConversationTree(), harness.store);
  harness.resolver.clear();
  harness.beginTurn();
  for (const id of ['p1', 'p2'])
    await assert.rejects(
      harness.call({ id }),
      /^ToolError: p\d \(Edit\) does not belong to this conversation/,
    );
  assert.deepEqual(harness.outcomes(), []);
});

test('a second call of one message is about the next preview, with none left about the first', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  harness.queue.pushOnce(
    { type: 'tool', name: 'resolve' },
    {
      onServed: () => harness.resolver.expectAnswerTo('p1'),
      onInvoked: call => harness.resolver.resolvePreview('p1', call),
    },
  );
  harness.beginTurn();
  harness.queue.nextToolChoice();
  await harness.call();
  await harness.call();
  assert.deepEqual(harness.outcomes(), ['p1 discard discarded', 'p2 discard discarded']);
  assert.match(resultText(await harness.call()), /^p1 \(Edit\) was already resolved by you/);
});

test('when a human resolved the forced preview first, the call is still about that one', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  const directive = forcedThenWithdrawn(harness);
  await harness.resolve();
  directive.remove();
  assert.match(resultText(await harness.call()), /^p1 \(Edit\) was already resolved by the user: applied/);
  assert.equal(harness.state('p2').kind, 'pending');
});

test('a preview that was staged since the request has not been seen: its resolve is refused', async () => {
  const harness = new ResolverHarness();
  harness.beginTurn();
  harness.remindedOf();
  for (const id of [undefined, 'p1']) {
    const call = harness.call({ action: 'apply', ...(id ? { id } : {}) });
    await assert.rejects(call, /^ToolError: p1 \(Edit\) .* have not seen it yet\. It is still pending\./);
  }
  assert.equal(harness.state().kind, 'pending');
  harness.beginTurn();
  await harness.call({ action: 'apply' });
  assert.equal(harness.state().kind, 'applied');
});

for (const isTold of [false, true])
  test(`a vote on a revision that only moved the lines that the model saw counts at once${isTold ? '' : ', also while it votes'}`, async () => {
    const harness = new ResolverHarness();
    harness.remindedOf();
    harness.beginTurn();
    harness.workspace.put('a.txt', 'new\na');
    const changes = [modify('a.txt', 'new\na', 'new\nA')];
    harness.store.restore([{ type: 'revised', id: 'p1', revision: 2, changes, dependsOn: [], by: 'rebase' }]);
    if (isTold) harness.beginTurn();
    await harness.call({ id: 'p1', action: 'apply' });
    assert.equal(harness.workspace.text('a.txt'), 'new\nA');
  });

const UNSHOWN =
  /^ToolError: Your vote on p\d .* does not count yet, since you have not been shown all of it /;

for (const isTold of [false, true])
  test(`a vote after the user has decided one of two hunks alone ${isTold ? 'is about the other' : 'is answered with the diff of the other'}`, async () => {
    const harness = new ResolverHarness();
    const lines = (first: string, last: string): string => `${first}\n\n\n\n\n${last}\n`;
    harness.workspace.put('a.txt', lines('a', 'b'));
    harness.remindedOf({ changes: [modify('a.txt', lines('a', 'b'), lines('A', 'B'))] });
    harness.beginTurn();
    revised(harness, 'split', modify('a.txt', lines('a', 'b'), lines('a', 'B')));
    if (isTold) harness.beginTurn();
    else {
      await assert.rejects(
        harness.call({ id: 'p1', action: 'apply' }),
        /^ToolError: Your vote on p1 \(Edit\) does not count yet, since you have not been shown all of it at revision 2\. Its diff follows; vote again in your next message\.\n```\na\.txt: 1 line added, 1 removed\.\n[^]*\+B\n```$/,
      );
      assert.equal(harness.workspace.text('a.txt'), lines('a', 'b'));
      harness.beginTurn();
    }
    await harness.call({ id: 'p1', action: 'apply' });
    assert.equal(harness.workspace.text('a.txt'), lines('a', 'B'));
  });

for (const [what, first, then] of [
  [
    'an edit that creates the file, since it is gone',
    modify('a.txt', 'a', 'A'),
    create('a.txt', 'never shown\nA'),
  ],
  ['a deletion of a file that has more lines now', remove('a.txt', 'a'), remove('a.txt', 'a\nnever shown')],
] as const)
  test(`a rebase of ${what} is told as that, and a vote on it is answered with its diff`, async () => {
    const harness = new ResolverHarness();
    harness.remindedOf({ changes: [first] });
    harness.beginTurn();
    revised(harness, 'rebase', then);
    await assert.rejects(
      harness.call({ id: 'p1', action: 'apply' }),
      /does not count yet[^]*[+-]never shown/,
    );
    assert.equal(harness.workspace.text('a.txt'), 'a');
    const fact = harness.store.feed.facts.at(-1) ?? assert.fail();
    const preview = harness.store.get('p1') ?? assert.fail();
    assert.match(
      factText(fact, preview),
      /^p1 \(Edit\) was rebased onto the files as they are now, and creates or/,
    );
  });

/** `p1` has these changes from now on, which the model is not shown. */
function revised({ store }: ResolverHarness, by: 'rebase' | 'split', ...changes: FileChange[]): void {
  store.restore([{ type: 'revised', id: 'p1', revision: 2, changes, dependsOn: [], by }]);
}

for (const isLooking of [false, true])
  test(`what the model is shown ${isLooking ? 'by a look' : 'by the answer to its vote'} counts from its next message on`, async () => {
    const harness = new ResolverHarness();
    const preview = harness.remindedOf({}, 9);
    harness.beginTurn();
    const vote = { id: 'p1', action: 'apply' } as const;
    if (isLooking) harness.show(preview, 0, Infinity);
    else await assert.rejects(harness.call(vote), UNSHOWN);
    await assert.rejects(harness.call(vote), UNSHOWN);
    assert.equal(harness.workspace.text('a.txt'), 'a');
    harness.beginTurn();
    await harness.call(vote);
    assert.equal(harness.workspace.text('a.txt'), 'A');
  });

test('a long diff counts as shown once all of it was, without a gap', async () => {
  const harness = new ResolverHarness();
  const preview = harness.remindedOf({}, 9);
  const vote = { id: 'p1', action: 'apply' } as const;
  for (const from of [30, 20, 10]) {
    harness.show(preview, from, from === 30 ? Infinity : from + 10);
    harness.beginTurn();
    assert.equal(harness.resolver.isShown(preview), false);
  }
  harness.show(preview, 5, 30);
  harness.show(preview, 30, Infinity);
  await assert.rejects(harness.call(vote), UNSHOWN);
  harness.beginTurn();
  await harness.call(vote);
  assert.equal(harness.workspace.text('a.txt'), 'A');
});

test('a diff in the report of a command counts as shown once the command has ended', async () => {
  const harness = new ResolverHarness();
  harness.stageInCall('command');
  harness.stageInCall();
  const before = harness.store.get('p1') ?? assert.fail();
  const effects = harness.store.get('p2') ?? assert.fail();
  harness.store.beginResolving('p1', 'apply', 'human');
  const part = { from: 0, end: Infinity, text: 'The diff of p2' };
  harness.resolver.noteShown(effects, part);
  harness.beginTurn();
  await assert.rejects(harness.call({ id: 'p2', action: 'apply' }), /^ToolError: Your vote on p2 /);
  await harness.store.endResolving([], [before]);
  harness.texts = [`Its result: ${part.text}`];
  harness.beginTurn();
  await harness.call({ id: 'p2', action: 'apply' });
  assert.equal(harness.workspace.text('a.txt'), 'A');
});

test('a vote whose answer is stopped has shown nothing', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf({}, 0);
  harness.beginTurn();
  const shown: string[] = [];
  const stop = new AbortController();
  const vote = (signal?: AbortSignal): Promise<AgentToolResult> =>
    harness.call({
      id: 'p1',
      action: 'apply',
      ...(signal ? { signal } : {}),
      noteShown: ({ id }) => void shown.push(`${id}, ${signal ? 'stopped' : 'answered'}`),
    });
  const stopped = assert.rejects(vote(stop.signal), isAbortError);
  const answered = assert.rejects(vote(), UNSHOWN);
  stop.abort();
  await stopped;
  await answered;
  assert.deepEqual(shown, ['p1, answered']);
});

for (const unshown of ['p1', 'p2', 'p3'])
  test(`checked: of one vote, nothing is applied while ${unshown} was not shown, and then everything is`, async () => {
    const harness = new ResolverHarness('checked');
    harness.prover = {
      prove: () => Promise.resolve({ isProved: true, checks: [] }),
      factsOf: () => [],
    };
    const voteOn = ['p1', 'p2', 'p3'];
    for (const id of voteOn)
      harness.remindedOf({ changes: [create(`${id}.txt`, id)] }, id === unshown ? 0 : Infinity);
    const written = () => voteOn.flatMap(id => harness.workspace.text(`${id}.txt`) ?? []);
    harness.beginTurn();
    for (const id of voteOn) {
      const call = harness.call({ id, action: 'apply', voteOn });
      if (id === unshown) await assert.rejects(call, UNSHOWN);
      else
        assert.match(
          resultText(await call),
          /The checks have not run yet; your next vote to apply includes it\./,
        );
    }
    assert.deepEqual(written(), []);
    harness.beginTurn();
    for (const id of voteOn) await harness.call({ id, action: 'apply', voteOn });
    assert.deepEqual(written(), voteOn);
  });

for (const isWhole of [false, true])
  test(`a vote on an amended preview ${isWhole ? 'counts at once' : 'is answered with the diff if its other file was not shown'}`, async () => {
    const harness = new ResolverHarness();
    const other = create('b.txt', 'b');
    harness.remindedOf({ changes: [modify('a.txt', 'a', 'A'), other] }, isWhole ? Infinity : 40);
    harness.beginTurn();
    await harness.store.revise('p1', [modify('a.txt', 'a', 'AA'), other], [], 'amend');
    harness.resolver.noteAmended(harness.store.get('p1') ?? assert.fail());
    if (!isWhole) {
      await assert.rejects(harness.call({ id: 'p1', action: 'apply' }), UNSHOWN);
      harness.beginTurn();
    }
    await harness.call({ id: 'p1', action: 'apply' });
    assert.deepEqual(harness.workspace.snapshot(), { 'a.txt': 'AA', 'b.txt': 'b' });
  });

test('a preview that was rebased, looked up and then amended has been shown', async () => {
  const harness = new ResolverHarness();
  const other = create('b.txt', 'b');
  harness.workspace.put('a.txt', 'new\na');
  harness.remindedOf({ changes: [modify('a.txt', 'a', 'A'), other] }, 9);
  harness.beginTurn();
  const moved = modify('a.txt', 'new\na', 'new\nA');
  revised(harness, 'rebase', moved, other);
  harness.beginTurn();
  harness.show(harness.store.get('p1') ?? assert.fail(), 0, Infinity);
  await harness.store.revise('p1', [moved, create('b.txt', 'bb')], [], 'amend');
  harness.resolver.noteAmended(harness.store.get('p1') ?? assert.fail());
  harness.beginTurn();
  await harness.call({ id: 'p1', action: 'apply' });
  assert.deepEqual(harness.workspace.snapshot(), { 'a.txt': 'new\nA', 'b.txt': 'bb' });
});

test('when the conversation comes back, nobody knows that a diff was shown', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.beginTurn();
  harness.resolver.clear();
  harness.beginTurn();
  await assert.rejects(harness.call({ id: 'p1', action: 'apply' }), UNSHOWN);
  assert.equal(harness.workspace.text('a.txt'), 'a');
});

test('when a human was faster, the model is told the outcome, and the next preview is left alone', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.remindedOf();
  harness.beginTurn();
  await harness.resolve({ id: 'p2', reason: 'mine' });
  const result = await harness.call({ action: 'discard' });
  assert.equal(resultText(result), 'p2 (Edit) was already resolved by the user: applied. Reason: mine');
  assert.equal(harness.state('p1').kind, 'pending');
});

test('an id of long ago gives its outcome; an unknown one an error', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  await harness.resolve({ action: 'discard', reason: 'old' });
  harness.beginTurn();
  assert.match(
    resultText(await harness.call({ id: 'p1' })),
    /already resolved by the user: discarded\. Reason: old$/,
  );
  await assert.rejects(harness.call({ id: 'p77' }), /^ToolError: There is no preview p77/);
});

test('the model resolves as the model, with its extra and its signal', async () => {
  const harness = new ResolverHarness();
  harness.remindedOf();
  harness.beginTurn();
  await assert.rejects(harness.call({ signal: AbortSignal.abort() }), isAbortError);
  assert.equal(harness.state().kind, 'pending');
  await harness.call({ id: 'p1', extra: { n: 1 } });
  const [entry] = harness.store.ledger();
  assert.equal(entry?.actor, 'model');
  assert.deepEqual(entry.extra, { n: 1 });
});

/** Forces an answer to `p1` in a turn that begins now. The caller withdraws the directive before it is answered. */
function forcedThenWithdrawn({ queue, resolver }: ResolverHarness): ReturnType<typeof queue.pushOnce> {
  const directive = queue.pushOnce(
    { type: 'tool', name: 'resolve' },
    { onServed: () => resolver.expectAnswerTo('p1'), onInvoked: () => assert.fail('it was withdrawn') },
  );
  resolver.beginTurn();
  queue.nextToolChoice();
  return directive;
}
