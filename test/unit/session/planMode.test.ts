import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../src/agent/base/localiser.ts';
import { textResult, type PendingAction } from '../../../src/agent/hold/preview/pendingAction.ts';
import { PLAN_MODE_ENDED } from '../../../src/agent/hold/preview/resolve/refusedVoteTexts.ts';
import type { Forcing, ModelAuthority } from '../../../src/agent/hold/preview/resolveSettings.ts';
import { planOf } from '../../../src/agent/hold/preview/plan.ts';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import { PlanMode, planModeMessage } from '../../../src/agent/session/planMode.ts';
import { runChecksTool } from '../../../src/agent/session/tools/runChecksTool.ts';
import { latestAnswerText, planTitle } from '../../../src/agent/session/planText.ts';
import { modify } from '../../support/changes.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import {
  createTestSession,
  MemoryPreviewLog,
  type TestSession,
  type TestSessionOptions,
} from '../../support/testSession.ts';
import { previewWith } from '../../support/previewWith.ts';

const submit = (text: string, more: object = {}): ScriptedTurn => ({
  text,
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'ready', ...more } }],
});
const PLAN = '# Rename it\n\n1. Do it.';

function planning(options: TestSessionOptions) {
  const t = createTestSession({ files: { 'a.txt': 'a' }, ...options });
  t.session.setPlanMode(true);
  return t;
}

/** What a server's prompt cache begins with. */
const prefixOf = ({ system, tools }: ChatRequest): string => JSON.stringify([system, tools]);

test('system prompt and tools are the same bytes with plan mode on and off, and each change is told once', async () => {
  const write = { name: 'write_file', arguments: { path: 'a.txt', content: 'b' } };
  const t = createTestSession({
    files: { 'a.txt': 'a' },
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [
      { text: 'Hi.' },
      ...Array.from({ length: 10 }, () => ({ toolCalls: [write] })),
      { text: 'I plan.' },
      { toolCalls: [write, { name: 'run_checks', arguments: {} }] },
      { text: 'Done.' },
    ],
    tools: [runChecksTool({ list: () => [], withBase: () => undefined, run: () => assert.fail() })],
  });
  await t.session.prompt('Hello.');
  t.session.setPlanMode(true);
  await t.session.prompt('Plan it.');
  t.session.setPlanMode(false);
  t.session.setPlanMode(true);
  t.session.setPlanMode(false);
  await t.session.prompt('Go on.');
  assert.equal(new Set(t.requests.map(prefixOf)).size, 1);
  assert.deepEqual(
    t.steering().map(({ kind }) => kind),
    ['plan-on', 'plan-off', 'resolve-reminder'],
  );
  const refused = t.results().slice(0, 10);
  assert.ok(
    refused.every(
      ({ isError, content }) =>
        isError && /^write_file cannot be called while plan mode is on\. /.test(content),
    ),
  );
  assert.deepEqual(
    t
      .results()
      .slice(10)
      .map(({ isError, content }) => [isError, content.split('.')[0]]),
    [
      [false, 'Staged as p1, no file modified yet'],
      [true, 'There are no checks to run: the user has set none'],
    ],
  );
  t.assertSound();
});

test('plan mode is told again where a summary has taken it, after a reload, and after a revert to before it', async () => {
  const t = createTestSession({
    settings: { revertEnabled: true },
    script: [{ text: 'Hi.' }, { text: 'I plan.' }],
  });
  await t.session.prompt('Hello.');
  const last = () => t.session.tree.idAt(t.session.tree.length - 1) ?? assert.fail();
  const before = last();
  t.session.setPlanMode(true);
  await t.session.prompt('Plan it.');
  const told = () => t.steering().filter(({ kind }) => kind === 'plan-on').length;
  assert.equal(told(), 1);
  const summary = { role: 'steering', kind: 'summary', text: 'All of it.', previewIds: [] } as const;
  assert.equal(planModeMessage(t.session.tree, true), undefined);
  t.session.tree.append({ ...summary, through: last() });
  assert.equal(planModeMessage(t.session.tree, true)?.kind, 'plan-on');
  assert.equal(planModeMessage(t.session.tree, false), undefined);
  await t.session.revert({ category: 'tangent', target: before, summary: null });
  assert.equal(planModeMessage(t.session.tree, true)?.kind, 'plan-on');
});

/** What the messages of a request say of the mode last. */
const modeToldIn = (request: ChatRequest | undefined): string | undefined =>
  request?.messages
    .flatMap(message => (message.role === 'steering' && message.kind.startsWith('plan-') ? message.kind : []))
    .at(-1);

test('a plan is recognized by its kind and its shape', () => {
  const details = { title: 'T', text: 'x' };
  assert.deepEqual(planOf(previewWith({ kind: 'plan', details })), details);
  assert.equal(planOf(previewWith({ kind: 'action', details })), undefined);
  for (const odd of [undefined, null, 'T', { title: 'T' }, { title: 1, text: 'x' }])
    assert.equal(planOf(previewWith({ kind: 'plan', details: odd })), undefined);
});

for (const modelAuthority of ['recommend', 'apply', 'none'] satisfies ModelAuthority[]) {
  test(`${modelAuthority}: tools are read-only, a submitted plan waits for the user, approval ends the mode and the session continues`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN, { extra: { title: ' The  title ' } }), { text: 'Waiting.' }, { text: 'On it.' }],
    });
    await t.session.prompt('Plan it.');
    const [on, prompt] = t.requests[0]?.messages ?? [];
    assert.match(on?.role === 'steering' ? on.text : '', /^Plan mode is on: /);
    assert.equal(prompt?.role, 'user');
    assert.ok(
      t.requests.every(({ toolChoice }) => toolChoice === undefined),
      'nothing is forced',
    );
    assert.match(t.results()[0]?.content ?? '', /^The plan "The title" is submitted\./);
    assert.deepEqual(t.results()[0]?.details, {
      action: 'apply',
      reason: 'ready',
      extra: { title: ' The  title ' },
      sourceToolName: 'plan_approval',
      label: 'Plan ready for approval',
      sourceResultDetails: { title: 'The title', submitted: 'p1' },
    });
    const preview = t.store.get('p1');
    assert.equal(preview?.label, 'Plan ready for approval');
    assert.equal(preview.sourceToolName, 'plan_approval');
    assert.deepEqual(preview.details, { title: 'The title', text: PLAN });
    assert.equal(
      preview.origin?.call?.toolCallId,
      t.results()[0]?.toolCallId,
      'it belongs to the call that submits it',
    );
    assert.equal(t.session.state, 'awaitingReview');

    await t.click('p1', 'apply');
    assert.equal(t.session.planMode, false);
    await t.untilState('idle');
    assert.equal(t.answers().at(-1)?.text, 'On it.');
    const told = 'The user approved the plan (p1): carry it out now.';
    assert.deepEqual(
      t
        .steering()
        .slice(-2)
        .map(({ text }) => text),
      ['Plan mode is off.', told],
    );
    t.assertSound();
  });

  test(`${modelAuthority}: sending a plan back keeps the mode on, and the note reaches the model`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), { text: 'Waiting.' }, { text: 'Thinking again.' }],
    });
    await t.session.prompt('Plan it.');
    await t.click('p1', 'discard', 'smaller steps');
    await t.untilState('idle');
    assert.equal(t.session.planMode, true);
    assert.match(
      t.steering().at(-1)?.text ?? '',
      /^The user sent the plan \(p1\) back: "smaller steps"\nPlan mode is still on: if a plan is still wanted, refine/,
    );
  });

  test(`${modelAuthority}: a plan that is sent back without a note asks the model to find out what is missing`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), { text: 'Waiting.' }, { text: 'What is missing?' }],
    });
    await t.session.prompt('Plan it.');
    await t.click('p1', 'discard');
    await t.untilState('idle');
    assert.equal(t.session.planMode, true);
    assert.equal(
      t.steering().at(-1)?.text,
      'The user sent the plan (p1) back and did not say why. Ask what is missing, and whether a plan is still wanted.',
    );
  });

  test(`${modelAuthority}: what the model says after it has submitted a plan does not replace it`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), submit('I have submitted the plan.'), { text: 'Waiting.' }],
    });
    await t.session.prompt('Plan it.');
    assert.equal(t.store.all().length, 1);
    assert.deepEqual(t.store.get('p1')?.details, { title: 'Rename it', text: PLAN });
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    assert.match(t.results().at(-1)?.content ?? '', /^The plan is submitted already/);
    assert.equal(t.session.state, 'awaitingReview');
  });

  test(`${modelAuthority}: a newer plan replaces the older one once that is withdrawn`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), vote('discard'), submit('# Better\n'), { text: 'Waiting.' }],
    });
    await t.session.prompt('Plan it.');
    assert.equal(t.store.get('p1')?.state.kind, 'discarded');
    assert.equal(t.store.get('p2')?.state.kind, 'pending');
    assert.deepEqual(t.store.get('p2')?.details, { title: 'Better', text: '# Better' });
    assert.equal(t.session.state, 'awaitingReview');
  });

  test(`${modelAuthority}: after another prompt a newer plan replaces the older one at once`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), { text: 'Waiting.' }, submit('# Better\n'), { text: 'Waiting.' }],
    });
    await t.session.prompt('Plan it.');
    await t.session.prompt('Without the rename.');
    assert.deepEqual(
      t.store.all().map(({ state }) => state.kind),
      ['discarded', 'pending'],
    );
  });

  test(`${modelAuthority}: the model cannot approve its own plan, not even by its id`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [
        submit(PLAN),
        { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'me', id: 'p1' } }] },
        { text: 'ok' },
      ],
    });
    await t.session.prompt('Plan it.');
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    assert.equal(t.session.planMode, true);
  });
}

test('a plan that the user edits has a new revision, and the model carries out that one', async () => {
  const t = planning({
    script: [submit(PLAN, { extra: { title: 'The title' } }), { text: 'Waiting.' }, { text: 'On it.' }],
  });
  await t.session.prompt('Plan it.');
  const text = '# Better\n\n1. Count.';
  await t.store.revisePlan('p1', { title: 'The title', text }, text);
  const plan = t.store.get('p1');
  assert.ok(plan);
  assert.deepEqual([plan.revision, plan.editedByUser, plan.title], [2, true, 'Plan: The title']);
  assert.deepEqual(planOf(plan), { title: 'The title', text });
  const vote = { id: 'p1', action: 'apply', reason: 'ok', actor: 'human' } as const;
  await assert.rejects(async () => t.invoker.resolve({ ...vote, revision: 1 }), /now at revision 2/);
  assert.equal(t.session.planMode, true);
  await t.invoker.resolve({ ...vote, revision: 2 });
  await t.untilState('idle');
  const last = JSON.stringify(t.requests.at(-1)?.messages);
  const edited = last.indexOf('The user edited the plan (p1), which is now at revision 2.');
  assert.ok(edited > 0 && edited < last.indexOf('The user approved the plan (p1):'), last);
  assert.ok(last.includes('# Better'));
});

test('an approval that fails is no decision on the plan: the session waits on, and goes on after the next one', async () => {
  const log = new MemoryPreviewLog();
  const t = planning({ log, script: [submit(PLAN), { text: 'Waiting.' }, { text: 'On it.' }] });
  await t.session.prompt('Plan it.');
  log.failAppend(1, 6);
  await assert.rejects(t.click('p1', 'apply'), /Nothing was changed/);
  await new Promise(resolve => setImmediate(resolve)); // by then a request would have been made
  assert.deepEqual([t.session.state, t.requests.length, t.session.planMode], ['awaitingReview', 2, true]);
  log.failAppend(1, 0);
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.deepEqual([t.requests.length, t.session.planMode], [3, false]);
  t.assertSound();
});

test('an empty plan is not submitted', async () => {
  const t = planning({ script: [submit(''), { text: 'ok' }] });
  await t.session.prompt('Plan it.');
  assert.match(t.results()[0]?.content ?? '', /^The plan is empty\./);
  assert.deepEqual(t.store.all(), []);
});

test('a discard submits nothing, and withdraws what was submitted', async () => {
  const t = planning({
    script: [
      submit(PLAN),
      { toolCalls: [{ name: 'resolve', arguments: { action: 'discard', reason: 'wait' } }] },
      { text: 'ok' },
    ],
  });
  await t.session.prompt('Plan it.');
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(t.session.state, 'idle');
});

test('auto: a submitted plan ends the turn, also while a preview waits for a vote; a vote on the preview does not', async () => {
  for (const modelAuthority of ['recommend', 'apply'] as const)
    for (const before of [[], [submit('p1 is fine.', { id: 'p1' })]]) {
      const t = planning({
        settings: { modelAuthority, forcing: 'auto' },
        script: [...before, submit(PLAN), { text: 'ok' }],
      });
      t.stage({ label: 'Rewrite', changes: [modify('a.txt', 'a', 'b')] });
      await t.session.prompt('Plan it.');
      assert.equal(t.requests.length, before.length + 1);
      assert.equal(planOf(t.store.get('p2') ?? assert.fail())?.text, PLAN);
      t.assertSound();
    }
});

test('a directive for a preview waits until plan mode ends', async () => {
  const t = createTestSession({
    script: [submit(PLAN), { text: 'Waiting.' }, submit('', {}), { text: 'Done.' }],
  });
  t.stage({ label: 'Deploy', apply: () => Promise.resolve(textResult('Deployed.')) });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan first.');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  assert.deepEqual(
    t.requests.map(({ toolChoice }) => toolChoice?.type),
    [undefined, undefined],
  );
  t.session.setPlanMode(false);
  await t.session.prompt('Now.');
  assert.equal(t.requests[2]?.toolChoice?.type, 'tool');
  assert.equal(t.store.get('p1')?.state.kind, 'applied');
});

const vote = (action: 'apply' | 'discard', more: object = {}): ScriptedTurn => ({
  text: '# Not a plan',
  toolCalls: [{ name: 'resolve', arguments: { action, reason: 'done', ...more } }],
});
const deploy = (): Partial<PendingAction> & Pick<PendingAction, 'label'> => ({
  label: 'Deploy',
  apply: () => assert.fail('it must not run'),
  reject: () => assert.fail('it must not run'),
});

for (const modelAuthority of ['recommend', 'apply', 'none'] satisfies ModelAuthority[]) {
  for (const action of ['apply', 'discard'] as const) {
    test(`${modelAuthority}: while plan mode is on, the model's ${action} of a preview by its id is only recorded`, async () => {
      // The first vote to apply an edit that the model did not write is answered with the diff.
      const looks = action === 'apply' ? [vote(action, { id: 'p1' })] : [];
      const script = [...looks, vote(action, { id: 'p1' }), vote(action, { id: 'p2' }), { text: 'ok' }];
      const t = createTestSession({ files: { 'a.txt': 'a' }, settings: { modelAuthority }, script });
      t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
      t.stage(deploy());
      t.session.setPlanMode(true);
      await t.session.prompt('Plan.');
      for (const [n, name] of ['p1 (Edit)', 'p2 (Deploy)'].entries()) {
        const state = t.store.get(`p${n + 1}`)?.state;
        assert.deepEqual(state, { kind: 'pending', stale: [], recommendation: { action, reason: 'done' } });
        const said = t.results()[looks.length + n];
        assert.equal(said?.isError, false);
        assert.ok(
          said.content.startsWith(`Plan mode is on, so your vote to ${action} ${name} is only recorded`),
        );
        assert.match(said.content, /The user decides; (it has|they have) changed nothing yet\./);
      }
      assert.equal(t.workspace.text('a.txt'), 'a');
      assert.deepEqual(t.store.ledger(), []);
      await t.click('p1', 'apply');
      assert.equal(t.workspace.text('a.txt'), 'A', 'the user still decides');
      t.assertSound();
    });
  }
}

/** The answer, to a request during which plan mode is switched on or off. */
function switching<Answer>(t: TestSession, on: boolean, answer: Answer): Answer {
  t.session.setPlanMode(on);
  return answer;
}

for (const forcing of ['forced', 'off'] satisfies Forcing[])
  for (const action of ['apply', 'discard'] as const)
    test(`${forcing}: an answer to a request that was in the air when plan mode was switched on is a recommendation of ${action}, and no plan`, async () => {
      const t = createTestSession({
        settings: { forcing },
        script: [() => switching(t, true, vote(action)), { text: 'ok' }],
      });
      t.stage(deploy());
      await t.session.prompt('Go.');
      assert.equal(t.requests[0]?.toolChoice?.type, forcing === 'off' ? undefined : 'tool');
      assert.deepEqual(
        t.store.all().map(({ id }) => id),
        ['p1'],
        'no plan is submitted',
      );
      const { state } = t.store.get('p1') ?? assert.fail();
      assert.deepEqual(state, { kind: 'pending', stale: [], recommendation: { action, reason: 'done' } });
      assert.match(t.results()[0]?.content ?? '', /^Plan mode is on, so your .* is only recorded/);
      assert.equal(t.session.planMode, true);
      t.assertSound();
    });

test('a `resolve` of a request in the air for which nothing is pending is no plan either', async () => {
  const t = createTestSession({
    script: [() => switching(t, true, vote('apply')), submit(PLAN), { text: 'ok' }],
  });
  await t.session.prompt('Go.');
  assert.match(t.results()[0]?.content ?? '', /^No pending action to resolve/);
  assert.match(t.results()[1]?.content ?? '', /^The plan "Rename it" is submitted/);
});

test('plan mode that is switched on while a vote waits for the disk still holds it back', async () => {
  const t = createTestSession({
    files: { 'a.txt': 'a' },
    script: [vote('apply'), vote('apply'), { text: 'ok' }],
  });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  let asked = 0;
  t.workspace.isProtected = async () => {
    // The first time it is asked before the request is made.
    if (++asked > 1) t.session.setPlanMode(true);
    return Promise.resolve(false);
  };
  await t.session.prompt('Go.');
  assert.equal(t.workspace.text('a.txt'), 'a');
  assert.match(
    t.results()[1]?.content ?? '',
    /^Plan mode is on, so your vote to apply p1 \(Edit\) is only recorded/,
  );
});

test('a plan that arrives after plan mode was switched off is no vote on a preview', async () => {
  const t = createTestSession({
    script: [() => switching(t, false, submit(PLAN)), vote('apply', { id: 'p1' }), { text: 'ok' }],
  });
  let runs = 0;
  t.stage({ label: 'Deploy', apply: () => Promise.resolve(textResult(`Run ${++runs}.`)) });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan.');
  assert.equal(t.results()[0]?.content, PLAN_MODE_ENDED);
  assert.equal(t.results()[1]?.content, 'Run 1.', 'by its id it is one, now that the mode is off');
  assert.deepEqual(
    t.store.all().map(({ id }) => id),
    ['p1'],
  );
  t.assertSound();
});

test('in plan mode a plan is withdrawn by a discard without an id, and not by its id', async () => {
  const t = planning({
    script: [submit(PLAN), vote('discard', { id: 'p1' }), vote('discard'), { text: 'ok' }],
  });
  const states: unknown[] = [];
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end') states.push(t.store.get('p1')?.state.kind);
  });
  await t.session.prompt('Plan it.');
  assert.deepEqual(states, ['pending', 'pending', 'discarded']);
});

test('a plan that the user withdraws by leaving plan mode is the decision of the user, which the next request tells', async () => {
  const t = planning({ script: [submit(PLAN), { text: 'Waiting.' }, { text: 'Something else.' }] });
  await t.session.prompt('Plan it.');
  const requests = t.requests.length;
  const { promise: decided, resolve: onDecided } = Promise.withResolvers<void>();
  t.store.feed.onDidHappen(() => onDecided());
  t.session.setPlanMode(false);
  await decided;
  await t.session.prompt('Something else.');
  const { actor, action, outcome } = t.store.ledger()[0] ?? assert.fail('no entry');
  assert.deepEqual([actor, action, outcome], ['human', 'discard', 'discarded']);
  assert.equal(t.requests.length, requests + 1, 'the session did not continue by itself');
  assert.deepEqual(
    t
      .steering()
      .slice(1)
      .map(({ text }) => text),
    [
      'Plan mode is off.',
      "The user withdrew the plan (p1), which waited for approval. The user's next prompt says what to do.",
    ],
  );
  t.assertSound();
});

test('a note of the user is one, whatever it says', async () => {
  const t = planning({ script: [submit(PLAN), { text: 'Waiting.' }, { text: 'Refined.' }] });
  await t.session.prompt('Plan it.');
  await t.click('p1', 'discard', 'Plan mode was switched off.');
  await t.session.prompt('Go on.');
  assert.match(t.steering()[1]?.text ?? '', /back: "Plan mode was switched off\."\nPlan mode is still on/);
});

test('no plan is left waiting by leaving plan mode while a plan takes the place of another', async () => {
  const t = planning({ script: [submit(PLAN), { text: 'It waits.' }, submit('# Another'), { text: 'OK.' }] });
  await t.session.prompt('Plan it.');
  t.store.onDidChange(({ state }) => {
    if (state.kind === 'applying' && state.action === 'discard') t.session.setPlanMode(false);
  });
  await t.session.prompt('Another one.');
  assert.deepEqual(
    t.store.all().map(({ state }) => state.kind),
    ['discarded', 'discarded'],
  );
});

test('no plan is submitted in plan mode that ends, or in a conversation that is left, before its text is read', async () => {
  const t = planning({ script: [{ text: PLAN }] });
  await t.session.prompt('Plan it.');
  const off = (mode: PlanMode): void => mode.set(false);
  const left = (mode: PlanMode, open: (conversation: object) => void): void => {
    mode.leave();
    open({ ...own, id: 'another' });
    mode.set(true);
  };
  const own = { id: t.session.id, tree: t.session.tree, recordPlanMode: () => undefined };
  for (const act of [off, left]) {
    let conversation: object = own;
    const ctx = { store: t.store, invoker: t.invoker, l10n: english };
    const choices = { resolver: { setMode: () => undefined } };
    const mode = new PlanMode({
      ...ctx,
      choices,
      conversation: () => conversation,
      emit: () => undefined,
    } as never);
    mode.set(true);
    const handling = mode.handle({ action: 'apply', reason: 'ready' });
    act(mode, now => (conversation = now));
    await assert.rejects(handling, { message: PLAN_MODE_ENDED });
  }
  assert.deepEqual(t.store.all(), []);
});

test('the switch is emitted once, and a new session starts with plan mode off', async () => {
  const t = planning({});
  t.session.setPlanMode(true);
  await t.session.new();
  assert.equal(t.session.planMode, false);
  assert.deepEqual(
    t.events.flatMap(event => (event.type === 'plan_mode_changed' ? [event.on] : [])),
    [true, false],
  );
});

test('a conversation that is left keeps plan mode and the plan that waits', async () => {
  const t = planning({
    script: [
      submit(PLAN),
      { text: 'Waiting.' },
      { text: 'Other.' },
      submit('# Better\n'),
      { text: 'Waiting.' },
    ],
  });
  await t.session.prompt('Plan it.');
  const { id } = t.session;
  await t.session.new();
  await t.session.prompt('Something else.');
  assert.equal(modeToldIn(t.requests.at(-1)), undefined);
  assert.deepEqual([t.session.planMode, t.store.get('p1')?.state.kind], [false, 'pending']);

  await t.session.open(t.sessionLog.stored(id) ?? assert.fail('stored'));
  assert.deepEqual([t.session.planMode, t.store.get('p1')?.state.kind], [true, 'pending']);
  await t.session.prompt('Better.');
  assert.equal(modeToldIn(t.requests.at(-1)), 'plan-on');
  // The plan is still known as the one that a newer one replaces.
  assert.deepEqual(
    t.store.all().map(({ state }) => state.kind),
    ['discarded', 'pending'],
  );
  t.assertSound();
});

test('a plan that is approved while another conversation is open ends plan mode in its own', async () => {
  const t = planning({ script: [submit(PLAN), { text: 'Waiting.' }, { text: 'On it.' }] });
  await t.session.prompt('Plan it.');
  const { id } = t.session;
  await t.session.new();
  t.session.setPlanMode(true);
  await t.click('p1', 'apply');
  assert.equal(t.session.planMode, true, 'the open conversation has its own mode');
  await t.session.open(t.sessionLog.stored(id) ?? assert.fail('stored'));
  assert.equal(t.session.planMode, false);
  await t.session.prompt('Go on.');
  assert.equal(modeToldIn(t.requests.at(-1)), 'plan-off');
});

test('plan mode comes back with its session, and a preview of a plan says what it was', async () => {
  const before = planning({ script: [submit(PLAN), { text: 'Waiting.' }] });
  await before.session.prompt('Plan it.');
  const { log, sessionLog } = before;
  const after = createTestSession({ log, sessionLog, script: [submit(PLAN), { text: 'Waiting.' }] });
  assert.equal(after.session.planMode, true);
  assert.equal(after.store.get('p1')?.state.kind, 'expired');
  await after.session.prompt('Once more.');
  assert.equal(modeToldIn(after.requests[0]), 'plan-on');
  await after.click('p2', 'apply');
  assert.equal(after.session.planMode, false);
  assert.equal(createTestSession({ log, sessionLog }).session.planMode, false);
});

test('a standing handler handles a resolve that means no preview, with its details, and forces nothing', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'recommend' },
    script: [submit('', { extra: { n: 1 } }), { text: 'ok' }, submit(''), { text: 'ok' }],
  });
  const calls: unknown[] = [];
  t.session.setStandingResolveHandler(({ action, reason, extra }) => {
    calls.push({ action, reason, extra });
    return Promise.resolve(textResult('taken', { own: true }));
  });
  await t.session.prompt('Go.');
  assert.deepEqual(calls, [{ action: 'apply', reason: 'ready', extra: { n: 1 } }]);
  assert.equal(t.results()[0]?.content, 'taken');
  assert.deepEqual(t.results()[0]?.details, {
    action: 'apply',
    reason: 'ready',
    extra: { n: 1 },
    sourceResultDetails: { own: true },
  });
  t.session.setStandingResolveHandler(null);
  await t.session.prompt('Again.');
  assert.match(t.results()[1]?.content ?? '', /^No pending action/);
});

test('a standing handler comes after a preview that the model was reminded of', async () => {
  const t = createTestSession({ script: [submit(''), { text: 'ok' }] });
  t.session.setStandingResolveHandler(() => assert.fail('the preview comes first'));
  t.stage({ label: 'Deploy', apply: () => Promise.resolve(textResult('Deployed.')) });
  await t.session.prompt('Go.');
  assert.equal(t.results()[0]?.content, 'Deployed.');
});

const titles: readonly [given: unknown, text: string, title: string][] = [
  ['Mine', '# Heading', 'Mine'],
  ['  two\n lines ', '', 'two lines'],
  ['   ', 'intro\n# Heading \nmore', 'Heading'],
  [undefined, '## Not a first heading', 'plan'],
  [42, '#nospace', 'plan'],
  ['x'.repeat(200), '', 'x'.repeat(80)],
];
for (const [given, text, title] of titles) {
  test(`the title of ${JSON.stringify(given)} and ${JSON.stringify(text)} is ${title.slice(0, 20)}`, () => {
    assert.equal(planTitle(given, text), title);
  });
}

test('only text since the last prompt counts as the plan, and empty messages do not', () => {
  const user = { role: 'user', text: 'q' } as const;
  const said = (text: string) => ({ role: 'assistant', text, toolCalls: [], stopReason: 'stop' }) as const;
  assert.equal(latestAnswerText([]), '');
  assert.equal(latestAnswerText([user, said('a'), said('b'), said('')]), 'b');
  assert.equal(latestAnswerText([user, said('a'), user, said('')]), '');
});

test('a tool that plan mode does not offer is not denied, but named as what the plan may hold', async () => {
  const t = createTestSession({
    files: { 'a.txt': 'a' },
    script: [
      { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'b' } }] },
      { text: 'ok' },
    ],
  });
  t.session.setPlanMode(true);
  await t.session.prompt('Go.');
  assert.match(t.results()[0]?.content ?? '', /^write_file cannot be called while plan mode is on/);
});
