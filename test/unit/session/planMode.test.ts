import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../src/agent/preview/pendingAction.ts';
import type { ModelAuthority } from '../../../src/agent/preview/preview.ts';
import { lastWords, planOf, planTitle } from '../../../src/agent/session/planMode.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSessionOptions } from '../../support/testSession.ts';

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

test('a plan is known by its source and its shape', () => {
  const details = { title: 'T', text: 'x' };
  assert.deepEqual(planOf({ sourceToolName: 'plan_approval', details }), details);
  assert.equal(planOf({ sourceToolName: 'other', details }), undefined);
  for (const odd of [undefined, null, 'T', { title: 'T' }, { title: 1, text: 'x' }])
    assert.equal(planOf({ sourceToolName: 'plan_approval', details: odd }), undefined);
});

for (const modelAuthority of ['recommend', 'apply', 'none'] satisfies ModelAuthority[]) {
  test(`${modelAuthority}: tools are read-only, a submitted plan waits for the human, approval ends the mode and goes on`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN, { extra: { title: ' The  title ' } }), { text: 'Waiting.' }, { text: 'On it.' }],
    });
    await t.session.prompt('Plan it.');
    assert.deepEqual(
      t.requests[0]?.tools.map(({ name }) => name),
      ['read_file', 'list_files', 'resolve'],
    );
    assert.match(t.requests[0]?.system ?? '', /Plan mode is on/);
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
      preview.origin?.toolCallId,
      t.results()[0]?.toolCallId,
      'it belongs to the call that submits it',
    );
    assert.equal(t.session.state, 'awaitingReview');

    await t.click('p1', 'apply');
    assert.equal(t.session.planMode, false);
    await t.untilState('idle');
    assert.equal(t.answers().at(-1)?.text, 'On it.');
    const told = 'The user approved the plan (p1). Plan mode is off: carry it out now.';
    assert.equal(t.steering().at(-1)?.text, told);
    assert.ok(t.requests.at(-1)?.tools.some(({ name }) => name === 'write_file'));
    t.assertSound();
  });

  test(`${modelAuthority}: a plan that is sent back keeps the mode on, and the note reaches the model`, async () => {
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
      /^The user wants the plan \(p1\) refined: "smaller steps"\. Plan mode is still on/,
    );
  });

  test(`${modelAuthority}: a newer plan takes the place of the older`, async () => {
    const t = planning({
      settings: { modelAuthority },
      script: [submit(PLAN), submit('# Better\n'), { text: 'Waiting.' }],
    });
    await t.session.prompt('Plan it.');
    assert.equal(t.store.get('p1')?.state.kind, 'discarded');
    assert.equal(t.store.get('p2')?.state.kind, 'pending');
    assert.deepEqual(t.store.get('p2')?.details, { title: 'Better', text: '# Better' });
    assert.equal(t.session.state, 'awaitingReview');
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

test('a plan without words is not submitted', async () => {
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

test('a preview that is due waits until plan mode is over', async () => {
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

test('the switch is told once, and a new session begins without it', async () => {
  const t = planning({});
  t.session.setPlanMode(true);
  await t.session.new();
  assert.equal(t.session.planMode, false);
  assert.deepEqual(
    t.events.flatMap(event => (event.type === 'plan_mode_changed' ? [event.on] : [])),
    [true, false],
  );
});

test('plan mode comes back with its session, and a preview of a plan says what it was', async () => {
  const before = planning({ script: [submit(PLAN), { text: 'Waiting.' }] });
  await before.session.prompt('Plan it.');
  const { log, sessionLog } = before;
  const after = createTestSession({ log, sessionLog, script: [submit(PLAN), { text: 'Waiting.' }] });
  assert.equal(after.session.planMode, true);
  assert.equal(after.store.get('p1')?.state.kind, 'expired');
  await after.session.prompt('Once more.');
  assert.deepEqual(
    after.requests[0]?.tools.map(({ name }) => name),
    ['read_file', 'list_files', 'resolve'],
  );
  await after.click('p2', 'apply');
  assert.equal(after.session.planMode, false);
  assert.equal(createTestSession({ log, sessionLog }).session.planMode, false);
});

test('a standing handler takes what means no preview, with its details, and forces nothing', async () => {
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

test('the last words are those since the last prompt, and empty ones do not count', () => {
  const user = { role: 'user', text: 'q' } as const;
  const said = (text: string) => ({ role: 'assistant', text, toolCalls: [], stopReason: 'stop' }) as const;
  assert.equal(lastWords([]), '');
  assert.equal(lastWords([user, said('a'), said('b'), said('')]), 'b');
  assert.equal(lastWords([user, said('a'), user, said('')]), '');
});
