import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  textResult,
  type AgentToolResult,
  type PendingAction,
} from '../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../src/agent/hold/preview/preview.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import { Rebaser } from '../../../src/agent/hold/preview/rebase/rebaser.ts';
import { modify } from '../../support/changes.ts';
import type { Script, ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';
import { resolvedText } from '../../../src/agent/hold/preview/resolve/resolved.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const write = (path: string) => ({ name: 'write_file', arguments: { path, content: 'new' } });
const resolve = (action: 'apply' | 'discard', more: object = {}) => ({
  name: 'resolve',
  arguments: { action, reason: 'because', ...more },
});
const ok: ScriptedTurn = { text: 'ok' };
const opaque = (
  label: string,
  apply: PendingAction['apply'] = () => Promise.resolve(textResult('done')),
) => ({
  label,
  apply,
});
/** The ids that each reminder of a request names, in order. */
const remindersIn = (t: TestSession, request: number): readonly string[] =>
  (t.requests[request]?.messages ?? []).flatMap(message =>
    message.role === 'steering' && message.kind === 'resolve-reminder' ? message.previewIds : [],
  );

function reloaded(t: TestSession, script: Script): TestSession {
  const { workspace, log, sessionLog, settings } = t;
  return createTestSession({ workspace, log, sessionLog, settings, script });
}

test('a vote whose callback ends at the moment of the stop is told with its true outcome', async () => {
  const t = createTestSession({ script: [{ toolCalls: [resolve('apply')] }, ok] });
  let stop: () => void = () => undefined;
  t.stage(
    opaque('Loop', () => {
      stop();
      return Promise.resolve(textResult('stopped after 3 of 10'));
    }),
  );
  stop = () => t.session.stop();
  await t.session.prompt('Do it.');
  assert.equal(t.results()[0]?.content, 'Interrupted by the user while it ran.');
  await t.session.prompt('And?');
  const told = 'Your vote to apply p1 (Loop) ended after it was interrupted: applied.';
  assert.ok(t.steering().some(({ text }) => text === told));
  assert.equal(t.store.ledger()[0]?.interrupted, true);
  t.assertSound();
});

test('a vote that ended after the stop is told even when the window was reloaded in between', async () => {
  const t = createTestSession({ script: [{ toolCalls: [resolve('apply')] }] });
  t.stage(
    opaque('Loop', () => {
      t.session.stop();
      return Promise.resolve(textResult('done'));
    }),
  );
  await t.session.prompt('Do it.');
  const after = reloaded(t, [ok]);
  await after.session.prompt('And?');
  const told = 'Your vote to apply p1 (Loop) ended after it was interrupted: applied.';
  assert.ok(after.steering().some(({ text }) => text === told));
});

test('what an extension staged in a session still concerns it after a reload', async () => {
  const t = createTestSession({ files });
  t.stage({ label: 'Pushed', changes: [modify('a.txt', 'a', 'A')] });
  const vote = { toolCalls: [resolve('apply')] };
  const after = reloaded(t, [vote, vote, ok]);
  await after.session.prompt('Go on.');
  assert.deepEqual(remindersIn(after, 0), ['p1']);
  assert.deepEqual(after.requests[0]?.toolChoice, { type: 'tool', name: 'resolve' });
  assert.equal(after.workspace.text('a.txt'), 'A');
});

test('the model is not asked about what the user reopened, before or after a reload', async () => {
  const t = createTestSession({ files, script: [ok] });
  t.session.stageForUser({ label: 'Undo', sourceToolName: 'undo', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  const after = reloaded(t, [ok]);
  await after.session.prompt('Hello again.');
  for (const one of [t, after]) {
    assert.deepEqual(remindersIn(one, 0), []);
    assert.equal(one.requests[0]?.toolChoice, undefined);
  }
});

test('two failures with the same text are both told, after a reload too', async () => {
  const t = createTestSession({
    files,
    script: [ok],
    settings: { modelAuthority: 'recommend', forcing: 'off' },
  });
  t.stage(opaque('Busy', () => Promise.reject(new Error('busy'))));
  await assert.rejects(t.click('p1', 'apply'));
  await t.session.prompt('Heard?');
  t.session.stop();
  const failures = (s: TestSession): number => s.steering().filter(({ kind }) => kind === 'outcome').length;
  assert.equal(failures(t), 1);
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  t.workspace.put('a.txt', 'typed');
  await assert.rejects(t.click('p2', 'apply'));
  await assert.rejects(t.click('p2', 'apply'));
  const after = reloaded(t, [ok]);
  await after.session.prompt('And now?');
  const told = after.steering().filter(({ kind }) => kind === 'outcome');
  const lines = told.at(-1)?.text.split('\n') ?? [];
  assert.deepEqual(
    lines.map(line => line.slice(0, 30)),
    ['The user tried to apply p2 (Ed', 'The user tried to apply p2 (Ed', 'p1 (Busy) has expired: it did '],
  );
});

test('a reopened conversation is told nothing again, in whichever words an older version told it', async () => {
  const t = createTestSession({ files, script: [ok], settings: { forcing: 'off' } });
  for (const path of ['a.txt', 'b.txt'])
    t.stage({ label: path, changes: [modify(path, path.slice(0, 1), 'new')] });
  await t.click('p1', 'apply');
  await t.click('p2', 'discard');
  await t.session.prompt('Heard?');
  const lines = t.sessionLog.lines as string[];
  for (const [at, line] of lines.entries()) {
    const entry = JSON.parse(line) as { message?: { kind?: string; text: string; tells?: unknown } };
    if (entry.message?.kind !== 'outcome') continue;
    entry.message.text = 'p1: in. p2: out.';
    delete entry.message.tells;
    lines[at] = JSON.stringify(entry);
  }
  const after = reloaded(t, [ok]);
  await after.session.prompt('And now?');
  assert.deepEqual(
    after
      .steering()
      .filter(({ kind }) => kind === 'outcome')
      .map(({ text }) => text),
    ['p1: in. p2: out.'],
  );
});

test('the session continues at once when a plan is approved, whatever else is pending', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [
      { toolCalls: [write('a.txt')] },
      ok,
      { text: '# Plan', toolCalls: [resolve('apply')] },
      ok,
      { text: 'On it.' },
    ],
  });
  await t.session.prompt('Write it.');
  t.session.setPlanMode(true);
  await t.session.prompt('Now plan.');
  await t.click('p2', 'apply');
  await t.untilState('awaitingReview');
  assert.equal(t.answers().at(-1)?.text, 'On it.');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('a part of a preview from before a newer prompt does not make the session continue', async () => {
  const long = (end: string): string => `${end}\n${'same\n'.repeat(20)}${end}\n`;
  const t = createTestSession({
    files: { 'a.txt': long('a') },
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [
      { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: long('A') } }] },
      ok,
      ok,
    ],
  });
  await t.session.prompt('Write it.');
  await t.session.prompt('Something else.');
  const vote = { id: 'p1', revision: 1, action: 'apply', reason: 'fine', actor: 'human' } as const;
  await resolvePart(t, vote, { path: 'a.txt', hunk: 0 });
  for (const { id } of t.store.list('oldestFirst')) await t.click(id, 'discard');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 3);
});

test('the session does not continue when what the user reopened is resolved', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [{ toolCalls: [write('a.txt')] }, ok, ok],
  });
  await t.session.prompt('Write it.');
  await t.session.prompt('Something else.');
  t.session.stageForUser({ label: 'Undo', sourceToolName: 'undo', changes: [modify('b.txt', 'b', 'B')] });
  await t.click('p2', 'apply');
  await t.click('p1', 'discard');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 3);
});

test('a forced preview is the one that the last reminder names', async () => {
  for (const order of ['oldestFirst', 'newestFirst'] as const) {
    const t = createTestSession({
      files,
      settings: { order },
      script: [
        { toolCalls: [write('a.txt'), write('b.txt')] },
        { toolCalls: [resolve('apply')] },
        { toolCalls: [resolve('apply')] },
        ok,
      ],
    });
    await t.session.prompt('Write both.');
    const [first, second] = order === 'oldestFirst' ? ['p1', 'p2'] : ['p2', 'p1'];
    assert.deepEqual(remindersIn(t, 1), [second, first], 'each once, the forced one last');
    assert.deepEqual(
      t.store.ledger().map(({ previewId }) => previewId),
      [first, second],
    );
    t.assertSound();
  }
});

test('a preview that is forced again after a newer one was staged is named again', async () => {
  const t = createTestSession({
    files,
    script: [
      { toolCalls: [write('a.txt')] },
      { toolCalls: [write('b.txt')] },
      { toolCalls: [resolve('apply')] },
      ok,
      ok,
    ],
  });
  await t.session.prompt('Write.');
  const named = remindersIn(t, 2);
  const forced = t.store.ledger()[0]?.previewId;
  assert.equal(named.at(-1), forced);
});

test('a resolve without an id in the message that stages something is refused, also when an older one is pending', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'off' },
    script: [
      { toolCalls: [write('a.txt')] },
      { toolCalls: [write('b.txt'), resolve('discard')] },
      { toolCalls: [write('b.txt'), resolve('discard', { id: 'p1' })] },
      ok,
    ],
  });
  await t.session.prompt('Write.');
  const said = t.results().map(({ content }) => content);
  assert.match(said[2] ?? '', /^p2 .* was staged only now, so you have not seen it yet/);
  assert.equal(said[4], 'Discarded: Rewrite a.txt. Reason: because\nThis was p1.');
  assert.equal(t.store.get('p2')?.state.kind, 'pending');
});

test('there are no reminders in plan mode; when it ends, the model is reminded of what is pending', async () => {
  const votes = [{ toolCalls: [resolve('apply')] }, { toolCalls: [resolve('apply')] }];
  const t = createTestSession({ files, script: [ok, ...votes, ok] });
  t.session.setPlanMode(true);
  t.stage({ label: 'Pushed', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Plan.');
  assert.deepEqual(remindersIn(t, 0), []);
  t.session.setPlanMode(false);
  await t.session.prompt('Do it.');
  assert.deepEqual(remindersIn(t, 1), ['p1']);
  assert.equal(t.workspace.text('a.txt'), 'A');
});

test('a plan that was sent back is not submitted again without new text', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'recommend' },
    script: [
      { text: '# Plan', toolCalls: [resolve('apply')] },
      ok,
      { toolCalls: [resolve('apply', { extra: { title: 'Same' } })] },
      ok,
    ],
  });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan.');
  await t.click('p1', 'discard', 'Not like that.');
  await t.untilState('idle');
  assert.match(t.results().at(-1)?.content ?? '', /^The plan is empty\./);
  assert.deepEqual(t.store.list('oldestFirst'), []);
});

test('switching plan mode off withdraws the plan that waits', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'recommend' },
    script: [{ text: '# Plan', toolCalls: [resolve('apply')] }, ok],
  });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan.');
  const over = t.untilState('idle');
  t.session.setPlanMode(false);
  await over;
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(t.store.ledger()[0]?.reason, 'Plan mode was switched off.');
  t.session.setPlanMode(true);
  await t.click('p1', 'apply');
  assert.equal(t.session.planMode, true, 'the old plan decides nothing');
});

for (const [answer, said] of [
  [undefined],
  [null],
  ['said', 'said'],
  [{}],
  [{ content: 'x' }],
  [{ content: [] }, ''],
  [{ content: [{ type: 'image' }] }, '[image, which is not shown]'],
] as const) {
  test(`a callback that ended counts as done, although it returned ${JSON.stringify(answer)}`, async () => {
    const t = createTestSession({
      script: [{ toolCalls: [resolve('apply')] }, ok, { toolCalls: [resolve('discard')] }, ok],
    });
    const odd = (): Promise<AgentToolResult> => Promise.resolve(answer as never);
    t.stage({ label: 'Deploy', apply: odd });
    await t.session.prompt('Go.');
    assert.equal(t.store.get('p1')?.state.kind, 'applied');
    assert.equal(t.store.ledger()[0]?.outcome, 'applied');
    t.stage({ label: 'Drop', apply: odd, reject: odd });
    await t.session.prompt('Go.');
    assert.equal(t.store.get('p2')?.state.kind, 'discarded');
    const texts = t.results().map(({ content }) => content);
    assert.deepEqual(
      texts,
      said !== undefined
        ? [said, said]
        : ['Applied: p1 (Deploy). Reason: because', 'Discarded: Drop. Reason: because\nThis was p2.'],
    );
    t.assertSound();
  });
}

test('a vote that comes too late is told who was first and the outcome, in words for its actor', async () => {
  const t = createTestSession();
  t.stage(opaque('Deploy', () => Promise.resolve({ ...textResult('no disk'), isError: true })));
  await t.click('p1', 'apply');
  const late = async (actor: 'model' | 'extension') => {
    return resolvedText(await t.invoker.resolve({ id: 'p1', action: 'apply', reason: '', actor }));
  };
  const failed = 'p1 (Deploy) was already resolved by the user: applied, and returned an error: no disk.';
  assert.equal(await late('model'), failed);
  t.stage(opaque('Again'));
  await t.invoker.resolve({ id: 'p2', action: 'discard', reason: 'mine', actor: 'model' });
  const ask = (actor: 'model' | 'extension') =>
    t.invoker.resolve({ id: 'p2', action: 'apply', reason: '', actor }).then(resolvedText);
  assert.equal(await ask('model'), 'p2 (Again) was already resolved by you: discarded. Reason: mine');
  assert.equal(
    await ask('extension'),
    'p2 (Again) was already resolved by the model: discarded. Reason: mine',
  );
});

/** What the last request was told of previews. */
const lastTold = (t: TestSession): readonly string[] =>
  t
    .steering()
    .filter(({ kind }) => kind === 'outcome' || kind === 'revision')
    .at(-1)
    ?.text.split('\n') ?? [];

test('what happened is told in its order, and a rebase of what is decided is not told any more', async () => {
  const t = createTestSession({
    files: { 'a.txt': 'one\ntwo\nthree\nfour\n', 'b.txt': 'b' },
    script: [ok, ok],
    settings: { modelAuthority: 'recommend', forcing: 'off' },
  });
  const text = 'one\ntwo\nthree\nfour\n';
  t.stage({ label: 'First', changes: [modify('a.txt', text, text.replace('one', 'ONE'))] });
  t.stage({ label: 'Second', changes: [modify('a.txt', text, text.replace('four', 'FOUR'))] });
  t.stage({ label: 'Third', changes: [modify('b.txt', 'b', 'B')] });
  await t.session.prompt('Hello.');
  const rebaser = new Rebaser({ store: t.store, workspace: t.workspace, logger: silentLogger });
  await t.click('p3', 'discard');
  await t.click('p1', 'apply');
  await rebaser.refresh(['p2']);
  assert.equal(t.store.get('p2')?.revision, 2);
  await t.click('p2', 'apply');
  await t.session.prompt('And?');
  assert.deepEqual(
    lastTold(t).map(line => line.slice(0, 31)),
    ['The user discarded p3 (Third). ', 'The user applied p1 (First).', 'The user applied p2 (Second).'],
  );
});

test('what the user typed into a proposal is told also when it is decided by then, without saying that it is not', async () => {
  const t = createTestSession({ files, script: [ok, ok], settings: { forcing: 'off' } });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  await t.store.revise('p1', [modify('a.txt', 'a', 'AA')], [], 'user', '-A\n+AA');
  await t.click('p1', 'apply');
  await t.session.prompt('And?');
  assert.deepEqual(lastTold(t), [
    'The user edited p1 (Edit).',
    'What the user changed in it:',
    '```',
    '-A',
    '+AA',
    '```',
    'The user applied p1 (Edit).',
  ]);
});

test('of a pending proposal that the user has edited, the model is told what it can still do', async () => {
  const t = createTestSession({ files, script: [ok, ok], settings: { forcing: 'off' } });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  await t.store.revise('p1', [modify('a.txt', 'a', 'AA')], [], 'user', '-A\n+AA');
  await t.session.prompt('And?');
  assert.equal(
    lastTold(t)[0],
    'The user edited p1 (Edit). It is now at revision 2, and the user decides on it. Stage any further change as a preview of its own.',
  );
});

test('an apply into an editor with unsaved changes is told as one that is not saved', async () => {
  const t = createTestSession({ files, script: [ok, ok], settings: { forcing: 'off' } });
  t.workspace.type('a.txt', 'a');
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  await t.click('p1', 'apply');
  assert.deepEqual(t.store.ledger()[0]?.unsaved, ['a.txt']);
  await t.session.prompt('And?');
  assert.deepEqual(lastTold(t), [
    'The user applied p1 (Edit). Not on disk until the user saves, since the editor has other unsaved changes: a.txt.',
  ]);
});

test('an apply whose base was discarded is refused with that as the reason, not with a change of the file', async () => {
  const turn = (content: string): ScriptedTurn => ({
    toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content } }],
  });
  const settings = { modelAuthority: 'recommend', forcing: 'off' } as const;
  const t = createTestSession({ files, script: [turn('b'), turn('c'), ok], settings });
  await t.session.prompt('Go.');
  await t.click('p1', 'discard');
  await assert.rejects(t.click('p2', 'apply'), {
    message:
      /^Nothing was written: this builds on p1, which was not applied, so a\.txt does not hold what it changes\./,
  });
});

/** What a watcher of files does once the user has typed into a file. */
async function typed(t: TestSession, path: string, text: string): Promise<void> {
  t.workspace.put(path, text);
  const rebaser = new Rebaser({ store: t.store, workspace: t.workspace, logger: silentLogger });
  await rebaser.filesChanged([path]);
  rebaser.dispose();
}

const STALE =
  'p1 (Rewrite a.txt) is stale and cannot be applied as it is: a.txt changed after the preview was made. Discard it if you may. If the change is still needed, read a.txt again and stage it anew.';

/** All that was told of previews, one sentence a line. */
const allTold = (t: TestSession): readonly string[] =>
  t
    .steering()
    .filter(({ kind }) => kind === 'outcome' || kind === 'revision')
    .flatMap(({ text }) => text.split('\n'));

/** An attempt to apply a preview begins. */
function underWay({ store }: TestSession, id: string): { readonly before: readonly Preview[] } {
  const before = store.get(id);
  store.beginResolving(id, 'apply', 'human');
  return { before: before ? [before] : [] };
}

const reviewing = { modelAuthority: 'recommend', forcing: 'off' } as const;

test('the model is woken when a preview became stale, and told once, also after a reload', async () => {
  const script = [{ toolCalls: [write('a.txt'), write('b.txt')] }, ok, { text: 'I see.' }];
  const t = createTestSession({ files, script, settings: reviewing });
  await t.session.prompt('Write.');
  await typed(t, 'a.txt', 'typed');
  await t.untilState('running');
  await t.untilState('awaitingReview');
  assert.equal(t.answers().at(-1)?.text, 'I see.');
  assert.deepEqual(allTold(t), [STALE]);
  const after = reloaded(t, [ok]);
  await after.session.prompt('And?');
  assert.deepEqual(allTold(after), [STALE]);
});

test('that a preview was stale for a while is not told; that it no longer is, if it was told', async () => {
  const script = [{ toolCalls: [write('a.txt'), write('b.txt')] }, ok, ok, ok];
  const settings = { ...reviewing, continueAfterReview: false };
  const t = createTestSession({ files, script, settings });
  await t.session.prompt('Write.');
  for (const text of ['typed', 'a']) await typed(t, 'a.txt', text);
  await t.session.prompt('Heard?');
  assert.deepEqual(allTold(t), []);
  await typed(t, 'a.txt', 'typed');
  await t.session.prompt('Heard?');
  await typed(t, 'a.txt', 'a');
  const after = reloaded(t, [ok, ok]);
  for (const text of ['Heard?', 'Again?']) await after.session.prompt(text);
  const fresh =
    'p1 (Rewrite a.txt) is no longer stale: the files are again as they were when it was made. Do not stage it again.';
  assert.deepEqual(allTold(after), [STALE, fresh]);
});

test('that a preview is stale is told after an attempt that was under way and failed for another reason', async () => {
  const t = createTestSession({
    files,
    script: [{ toolCalls: [write('a.txt')] }, ok, ok, ok],
    settings: reviewing,
  });
  await t.session.prompt('Write.');
  t.session.stop();
  await t.store.markStale('p1', ['a.txt']);
  const { before } = underWay(t, 'p1');
  await t.session.prompt('Heard?');
  assert.deepEqual(allTold(t), []); // the attempt may succeed
  await t.store.endResolving([], before);
  await t.session.prompt('And now?');
  assert.deepEqual(allTold(t), [STALE]);
});

/** A stale preview of two files. The disk is as before it was, which nobody has noticed. */
async function staleOfTwo(): Promise<TestSession> {
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')];
  const t = createTestSession({ files, script: [ok, ok, ok], settings: reviewing });
  t.stage({ label: 'Two', changes });
  await t.session.prompt('Write.');
  t.session.stop();
  await t.store.markStale('p1', ['a.txt']);
  await t.session.prompt('Heard?');
  t.session.stop();
  assert.match(allTold(t).join('\n'), /^p1 \(Two\) is stale [^\n]*$/);
  return t;
}

test('that a part is stale is told once if the attempt on it fails for another reason, also after a reload', async () => {
  const t = await staleOfTwo();
  t.log.failAppend(1, 3);
  const vote = { id: 'p1', revision: 1, action: 'apply', reason: 'fine', actor: 'human' } as const;
  await assert.rejects(resolvePart(t, vote, { path: 'a.txt' }), /could not write to its log/);
  await t.session.prompt('And now?');
  const ofPart = (session: TestSession): readonly string[] =>
    allTold(session).filter(line => line.startsWith('p2 '));
  assert.match(ofPart(t).join('\n'), /^p2 \(Two: a\.txt\) is stale and cannot be applied as it is[^\n]*$/);
  await t.store.drain();
  const after = reloaded(t, [ok]);
  await after.session.prompt('Again?');
  assert.equal(ofPart(after).length, 1);
});

test('that a part is stale is not told when it is discarded', async () => {
  const t = await staleOfTwo();
  const vote = { id: 'p1', revision: 1, action: 'discard', reason: 'no', actor: 'human' } as const;
  await resolvePart(t, vote, { path: 'a.txt' });
  await t.session.prompt('And now?');
  assert.doesNotMatch(allTold(t).join('\n'), /^p2 .* is stale/m);
});

/** Splits the first file off the first preview. The attempt on it never comes. */
function splitFirst({ store }: TestSession): void {
  const whole = store.get('p1');
  assert.ok(whole?.kind === 'files');
  const [part, rest] = [whole.changes.slice(0, 1), whole.changes.slice(1)];
  const { sourceToolName, origin, dependsOn, stagedAt } = whole;
  const about = { label: 'Part', sourceToolName, origin, dependsOn, stagedAt };
  store.split('p1', { changes: rest, buildsOnPart: false }, { ...about, kind: 'files', changes: part });
}

test('that a part is stale is told once if the window ended before the attempt on it did', async () => {
  const t = await staleOfTwo();
  splitFirst(t);
  await t.store.drain();
  const after = reloaded(t, [ok, ok]);
  await after.session.prompt('And now?');
  const ofPart = (session: TestSession): readonly string[] =>
    allTold(session).filter(line => line.startsWith('p2 '));
  assert.match(ofPart(after).join('\n'), /^p2 \(Part\) is stale and cannot be applied as it is[^\n]*$/);
  await after.store.drain();
  const later = reloaded(after, [ok]);
  await later.store.markStale('p2', []);
  await later.store.drain();
  const last = reloaded(later, [ok]);
  await last.session.prompt('And now?');
  assert.match(ofPart(last).slice(1).join('\n'), /^p2 \(Part\) is no longer stale[^\n]*$/);
});

test('that a part is no longer stale is not told if it was not told that it is', async () => {
  const t = await staleOfTwo();
  splitFirst(t);
  await t.store.markStale('p2', []);
  await t.session.prompt('And now?');
  assert.doesNotMatch(allTold(t).join('\n'), /^p2 .* stale/m);
});

test('that a preview is fresh again is told after an attempt that was under way', async () => {
  const t = createTestSession({
    files,
    script: [{ toolCalls: [write('a.txt')] }, ok, ok, ok, ok],
    settings: reviewing,
  });
  await t.session.prompt('Write.');
  t.session.stop();
  await t.store.markStale('p1', ['a.txt']);
  await t.session.prompt('Heard?');
  await t.store.markStale('p1', []);
  const { before } = underWay(t, 'p1');
  await t.session.prompt('Heard?');
  assert.deepEqual(allTold(t), [STALE]);
  await t.store.endResolving([], before);
  await t.session.prompt('And now?');
  assert.equal(allTold(t).length, 2);
});

test('what was stale for a while when the window was closed is not told after the reload', async () => {
  const script = [{ toolCalls: [write('a.txt')] }, ok];
  const t = createTestSession({ files, script, settings: reviewing });
  await t.session.prompt('Write.');
  t.session.stop();
  for (const text of ['typed', 'a']) await typed(t, 'a.txt', text);
  const after = reloaded(t, [ok]);
  await after.session.prompt('Heard?');
  assert.deepEqual(allTold(after), []);
});

test('that a preview is stale is told after all if the edit that had made it fresh was lost', async () => {
  const script = [{ toolCalls: [write('a.txt')] }, ok, ok];
  const t = createTestSession({ files, script, settings: { ...reviewing, continueAfterReview: false } });
  await t.session.prompt('Write.');
  await typed(t, 'a.txt', 'typed');
  t.log.failAppend(1, Infinity);
  void t.store.revise('p1', [modify('a.txt', 'typed', 'mine')], [], 'user').catch(() => undefined);
  await t.session.prompt('Heard?');
  assert.equal(allTold(t).length, 1, 'the edit');
  const after = reloaded(t, [ok]);
  await after.session.prompt('And now?');
  assert.equal(allTold(after).at(-1), STALE);
});

test('a click that fails because the file has changed wakes the model, and one sentence tells it', async () => {
  const script = [{ toolCalls: [write('a.txt'), write('b.txt')] }, ok, ok];
  const t = createTestSession({ files, script, settings: reviewing });
  await t.session.prompt('Write.');
  t.workspace.put('a.txt', 'typed');
  await assert.rejects(t.click('p1', 'apply'));
  await t.untilState('running');
  await t.untilState('awaitingReview');
  assert.deepEqual(allTold(t), [
    'The user tried to apply p1 (Rewrite a.txt), which failed, so it was not applied: Nothing was written: a.txt changed after the preview was made.',
  ]);
});

for (const [how, made, read] of [
  ['rename', { name: 'rename_file', arguments: { from: 'a.txt', to: 'c.txt' } }, 'read a.txt again and '],
  ['file', { name: 'write_file', arguments: { path: 'c.txt', content: 'b' } }, ''],
] as const)
  test(`a preview whose file is missing because a new ${how} was discarded does not send the model to read it`, async () => {
    const editing = { name: 'write_file', arguments: { path: 'c.txt', content: 'c' } };
    const settings = { ...reviewing, continueAfterReview: false };
    const script = [{ toolCalls: [made] }, { toolCalls: [editing] }, ok, ok];
    const t = createTestSession({ files, script, settings });
    await t.session.prompt('Go.');
    const rebaser = new Rebaser({ store: t.store, workspace: t.workspace, logger: silentLogger });
    await t.click('p1', 'discard');
    await rebaser.refresh([]);
    await t.session.prompt('And?');
    assert.equal(
      lastTold(t)
        .at(-1)
        ?.replace(/.*what it changes\. /, ''),
      `Discard it if you may. If the change is still needed, ${read}stage it anew.`,
    );
  });

test('a preview whose base was discarded is stale for that, in its place among the outcomes', async () => {
  const turn = (content: string): ScriptedTurn => ({
    toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content } }],
  });
  const settings = { ...reviewing, continueAfterReview: false };
  const t = createTestSession({ files, script: [turn('b'), turn('c'), turn('d'), ok, ok], settings });
  await t.session.prompt('Go.');
  const rebaser = new Rebaser({ store: t.store, workspace: t.workspace, logger: silentLogger });
  await t.click('p1', 'discard');
  await rebaser.refresh([]);
  await t.session.prompt('And?');
  assert.deepEqual(
    lastTold(t).map(line => line.replace(/ Discard it if .*/, '')),
    [
      "The user discarded p1 (Rewrite a.txt). This is the user's decision, not a failure.",
      'p2 (Rewrite a.txt) is stale and cannot be applied as it is: this builds on p1, which was not applied, so a.txt does not hold what it changes.',
      'p3 (Rewrite a.txt) is stale and cannot be applied as it is: this builds on p1, which was not applied, so a.txt does not hold what it changes.',
    ],
  );
});
