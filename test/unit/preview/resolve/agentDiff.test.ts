import { test } from 'node:test';
import assert from 'node:assert/strict';
import { JournalError } from '../../../../src/agent/base/errors.ts';
import { sideOfText } from '../../../../src/agent/preview/fileChange.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import { AgentDiff } from '../../../../src/agent/preview/resolve/agentDiff.ts';
import { resolvePart } from '../../../../src/agent/preview/resolve/resolvePart.ts';
import { modify } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

const BASE = Array.from({ length: 20 }, (_, i) => `${i}\n`).join('');
const proposed = (...lines: number[]): string =>
  lines.reduce((text, line) => text.replace(`\n${line}\n`, `\n${line}!\n`), BASE);

/** A diff with three hunks of an agent that writes at once what it is told, unless it is told not to. */
class Setup {
  readonly harness = new InvokerHarness();
  readonly told: string[] = [];
  disk = BASE;
  writes: (text: string) => string = text => text;

  constructor() {
    const diff = new AgentDiff({
      name: 'Agent',
      patienceMs: 0,
      onDisk: async () => Buffer.from(this.disk),
      accept: text => {
        this.told.push(text);
        this.disk = this.writes(text);
      },
      reject: () => void this.told.push('(nothing)'),
    });
    void this.harness.workspace.write('a.txt', Buffer.from(BASE), sideOfText('a').hash);
    this.harness.stage({ changes: [modify('a.txt', BASE, proposed(3, 10, 17))], diff });
  }

  async hunk(action: 'apply' | 'discard', hunk: number): Promise<void> {
    const { store, invoker } = this.harness;
    const { revision } = store.get('p1') ?? assert.fail();
    const request = { id: 'p1', revision, action, reason: 'r', actor: 'human' as const };
    await resolvePart({ store, invoker }, request, { path: 'a.txt', hunk });
  }
}

test('the agent is told once, with what was decided of all parts', async () => {
  const t = new Setup();
  await t.hunk('apply', 1);
  await t.hunk('discard', 0);
  assert.deepEqual(t.told, []);
  await t.harness.resolve();
  assert.deepEqual(t.told, [proposed(10, 17)]);
  assert.deepEqual(t.harness.outcomes(), ['p3 discard discarded', 'p2 apply applied', 'p1 apply applied']);
});

test('when all parts are discarded one by one, the agent is told to write nothing', async () => {
  const t = new Setup();
  await t.hunk('discard', 0);
  await t.hunk('discard', 0);
  assert.deepEqual(t.told, []);
  await t.hunk('discard', 0);
  assert.deepEqual(t.told, ['(nothing)']);
});

test('a part with a new revision is undecided again', async () => {
  const t = new Setup();
  await t.hunk('apply', 0);
  const { store } = t.harness;
  await store.revise('p2', [modify('a.txt', BASE, proposed(3).replace('3!', 'three'))], [], 'user');
  await t.harness.resolve();
  assert.deepEqual(t.told, [], 'the rest waits for that part');
});

test('a chain decides the parts that it names, at the revisions that were seen', async () => {
  const t = new Setup();
  await t.hunk('apply', 0);
  const { store } = t.harness;
  await store.revise('p2', [modify('a.txt', BASE, proposed(3))], [], 'rebase');
  await assert.rejects(t.harness.resolve({ chain: { p2: 1 } }), /p2 .* is now at revision 2/);
  await t.harness.resolve({ chain: { p2: 2 } });
  assert.deepEqual(t.told, [proposed(3, 10, 17)]);
});

test('what the agent writes otherwise, or does not write, is not applied, and cannot be told again', async () => {
  for (const [writes, why] of [
    [() => 'else', /Agent wrote something else/],
    [() => BASE, /did not write it/],
  ] as const) {
    const t = new Setup();
    t.writes = writes;
    await t.hunk('apply', 0);
    await assert.rejects(t.harness.resolve(), why);
    assert.deepEqual(t.harness.outcomes(), ['p2 apply failed', 'p1 apply failed']);
    for (const id of ['p1', 'p2']) {
      const state = t.harness.state(id);
      assert.ok(state.kind === 'expired' && why.test(state.reason ?? ''), id);
    }
  }
});

test('the agent is told nothing while the disk holds something else than the editor', async () => {
  const t = new Setup();
  t.disk = 'older\n';
  await assert.rejects(t.harness.resolve(), /Nothing was sent: a\.txt has unsaved changes in an editor/);
  assert.deepEqual(t.told, []);
  assert.equal(t.harness.state().kind, 'pending');
});

test('the agent is told nothing if the journal cannot be written', async () => {
  const t = new Setup();
  t.harness.log.fault = new Error('full');
  await assert.rejects(t.harness.resolve(), JournalError);
  assert.deepEqual(t.told, []);
  assert.equal(t.harness.state().kind, 'pending');
});

test('a crash after the agent was told leaves an expired preview that says that it is unknown what happened', async () => {
  const t = new Setup();
  let crashed: PreviewStore | undefined;
  t.writes = text => {
    crashed = new PreviewStore(t.harness.log, () => undefined);
    crashed.restore(t.harness.log.entries);
    return text;
  };
  await t.harness.resolve();
  assert.deepEqual(crashed?.get('p1')?.state, { kind: 'expired', interrupted: true });
  assert.deepEqual(crashed?.interruptedCommits, []);
});

test('an agent that is gone can be told nothing: its diff expires as a whole, with the reason', async () => {
  const t = new Setup();
  await t.hunk('apply', 0);
  for (const id of ['p1', 'p2']) t.harness.invoker.expire(id, 'Agent has ended.');
  const state = t.harness.state('p2');
  assert.ok(state.kind === 'expired' && state.reason === 'Agent has ended.');
  await t.harness.resolve();
  assert.deepEqual(t.told, []);
});
