import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckMark } from '../../../../../src/agent/hold/preview/previewView.ts';
import type { Preview, PreviewState } from '../../../../../src/agent/hold/preview/preview.ts';
import { newsOf } from '../../../../../src/views/chat/words/newsWords.ts';
import {
  rowStateText,
  turnName,
  turnStateText,
  turnWaitingText,
} from '../../../../../src/views/chat/words/turnWords.ts';
import { recommendationText } from '../../../../../src/views/texts/previewWords.ts';
import {
  answered,
  asked,
  attempt,
  call,
  modify,
  only,
  preview,
  result,
  transcript,
} from '../../../../support/chatFixtures.ts';

const AT = '2026-01-01T00:00:01.000Z';
const decided = (
  kind: 'applied' | 'discarded',
  actor: 'human' | 'model' = 'human',
  at = AT,
): PreviewState => ({
  kind,
  by: { actor, reason: '', at },
});

/** What call `c<n>` of message 1 staged: a change of `<n>.ts`. */
function staged(n: number, more: Partial<Omit<Preview, 'kind'>> = {}): Preview {
  const at = { messageId: 'm1', toolCallId: `c${n}` };
  return preview({
    id: `p${n}`,
    changes: [modify(`${n}.ts`)],
    origin: { sessionId: 's1', call: at, asksModel: true, setId: 's1:1' },
    ...more,
  });
}

function turnOf(previews: readonly Preview[], more: Partial<Parameters<typeof transcript>[0]> = {}) {
  const calls = previews
    .filter(({ part, undoes }) => !part && !undoes)
    .map((_, n) => call(`c${n + 1}`, 'edit_file', {}));
  const messages = [
    asked('Do it'),
    answered('I begin.', ...calls),
    ...calls.map(each => result(each, 'Staged')),
    answered('All wait.'),
  ];
  const stats = ({ changes }: Preview) =>
    changes?.map(() => ({ added: 1, removed: 1, hunks: 1, exact: true }));
  return transcript({ messages, previews, stats, ...more });
}

test('the changes of one turn are one card below it, with a row for each file and the sum of the lines', () => {
  const items = turnOf([1, 2, 3, 4, 5, 6, 7, 8].map(n => staged(n)));
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['user', 'assistant', 'assistant', 'turn'],
  );
  const turn = only(items, 'turn');
  assert.deepEqual(
    [turnName(turn), turn.stat, turn.state],
    ['8 files', { added: 8, removed: 8, exact: true }, 'pending'],
  );
  assert.deepEqual(turn.rows.map(row => row.id).join(), 'p1,p2,p3,p4,p5,p6,p7,p8');
  assert.deepEqual(turn.open, turn.ids);
  assert.deepEqual(turn.undo, []);
});

test('its rows, and what Review opens, are in the order of the review, and it stays the same card', () => {
  const previews = [staged(1), staged(2)];
  const turn = only(turnOf(previews, { inOrder: given => given.toReversed() }), 'turn');
  assert.deepEqual([turn.rows.map(({ id }) => id).join(), turn.open.join()], ['p2,p1', 'p2,p1']);
  assert.equal(turn.key, only(turnOf(previews), 'turn').key);
});

test('one change, a command and a plan keep cards of their own', () => {
  assert.deepEqual(
    turnOf([staged(1), staged(2, { changes: null })]).map(({ kind }) => kind),
    ['user', 'assistant', 'preview', 'preview', 'assistant'],
  );
});

test('what a person types begins a turn, also if no model is asked', () => {
  const [one, two] = [call('c1', 'edit_file', {}), call('c2', 'edit_file', {})];
  const local = { role: 'local', text: '/discard p1', answer: 'Discarded.' } as const;
  const again = { sessionId: 's1', call: { messageId: 'm4', toolCallId: 'c2' }, asksModel: true };
  const items = transcript({
    messages: [
      ...[asked('Do it'), answered('', one), result(one, 'Staged')],
      ...[local, answered('', two), result(two, 'Staged')],
    ],
    previews: [staged(1), staged(2, { origin: again })],
  });
  assert.deepEqual(
    items.map(({ key }) => key),
    ['m0', 'p:p1', 'm3', 'm3.l', 'p:p2'],
  );
});

test('the card stays when all is decided, with what can be undone in the order of the applies', () => {
  const all = [
    staged(1, { state: decided('applied', 'model', '2') }),
    staged(2, { state: decided('applied', 'human', '1') }),
  ];
  const turn = only(turnOf(all), 'turn');
  assert.deepEqual(
    [turn.state, turnName(turn), turn.undo, turn.open],
    ['applied', '2 files, applied', ['p2', 'p1'], []],
  );
  const undo = preview({ id: 'p9', undoes: ['p1'], origin: null, state: decided('applied') });
  const after = only(turnOf([...all, undo]), 'turn');
  assert.deepEqual([after.undo, after.rows.map(rowStateText)], [['p2'], ['undone', 'applied']]);
});

test('mixed outcomes are told by number, and are not struck through', () => {
  const turn = only(
    turnOf([staged(1, { state: decided('applied') }), staged(2, { state: decided('discarded') })]),
    'turn',
  );
  assert.deepEqual([turn.state, turnStateText(turn)], ['mixed', '1 of 2 hunks applied']);
  assert.equal(turnWaitingText(turn), undefined);
  const part = preview({
    id: 'p8',
    changes: [modify('1.ts')],
    origin: null,
    part: { previewId: 'p1', hunks: 2, number: 1, patch: '' },
    state: decided('applied'),
  });
  const split = only(turnOf([staged(1), staged(2), part]), 'turn');
  assert.deepEqual(
    [split.state, rowStateText(split.rows[0] ?? assert.fail())],
    ['pending', '2 applied · 1 left'],
  );
  const open = only(turnOf([staged(1), staged(2)]), 'turn');
  assert.deepEqual([split, open].map(turnWaitingText), ['2 applied · 2 left', 'Not written yet']);
});

test('two changes of one file have a row each, so that what became of one does not hide the other', () => {
  const again = staged(3, { changes: [modify('1.ts')], state: decided('applied') });
  const turn = only(turnOf([staged(1, { state: decided('discarded') }), staged(2), again]), 'turn');
  assert.deepEqual([turn.files, turnName(turn)], [2, '2 files']);
  assert.deepEqual(
    turn.rows.map(row => [row.id, row.path, rowStateText(row)]),
    [
      ['p1', '1.ts', 'discarded'],
      ['p3', '1.ts', 'applied'],
      ['p2', '2.ts', undefined],
    ],
  );
});

test('who decided all of it stands on the card, and a reason where it was given', () => {
  const why = (reason: string): PreviewState => ({
    kind: 'discarded',
    by: { actor: 'human', reason, at: AT },
  });
  const read = (...previews: Preview[]) => {
    const turn = only(turnOf(previews), 'turn');
    return [turnStateText(turn), turn.reason, ...turn.rows.map(row => row.reason)];
  };
  const applied = { state: decided('applied', 'model') };
  assert.deepEqual(read(staged(1, applied), staged(2, applied)), [
    'Applied by the model',
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(read(staged(1, { state: why('Not now') }), staged(2, { state: why('Not now') })), [
    'Discarded by you',
    'Not now',
    undefined,
    undefined,
  ]);
  assert.deepEqual(read(staged(1, { state: why('Not now') }), staged(2, { state: why('Too long') })), [
    'Discarded by you',
    undefined,
    'Not now',
    'Too long',
  ]);
});

test('a change that failed says why', () => {
  const failing: PreviewState = { kind: 'pending', stale: [], lastError: 'a.ts is read-only.' };
  const ledger = [attempt({ previewId: 'p2', outcome: 'returnedError', message: 'The hook failed.' })];
  const turn = only(
    turnOf([staged(1, { state: failing }), staged(2, { state: decided('applied') })], { ledger }),
    'turn',
  );
  assert.deepEqual(
    turn.rows.map(row => [rowStateText(row), row.error]),
    [
      ['failed', 'a.ts is read-only.'],
      ['failed', 'The hook failed.'],
    ],
  );
});

test('what stands in the way comes first in a row, and the worst result of a check in the head', () => {
  const mark = (state: CheckMark['state']): CheckMark => ({
    name: 'test',
    state,
    isCurrent: state === 'passed',
    seconds: 1,
    problems: 0,
    isFlaky: false,
    together: [],
  });
  const stale = staged(1, { state: { kind: 'pending', stale: ['1.ts'] } });
  const checks = ({ id }: Preview) => [mark(id === 'p1' ? 'passed' : 'failed')];
  const turn = only(turnOf([stale, staged(2)], { checks }), 'turn');
  assert.deepEqual(turn.rows.map(rowStateText), ['stale', undefined]);
  assert.deepEqual(
    turn.checks?.map(({ state, isCurrent }) => [state, isCurrent]),
    [['failed', false]],
  );
});

test('a reason that the model gave for several stands on the card once, also when all is decided, and its vote has no block', () => {
  const recommendation = { action: 'apply', reason: 'Tests pass.', isOfSet: true } as const;
  const waiting: PreviewState = { kind: 'pending', stale: [], recommendation };
  const says = (...previews: Preview[]): (string | undefined)[] | undefined =>
    only(turnOf(previews, { ledger }), 'turn').advice?.map(each => recommendationText(each, String));
  const ledger = ['p1', 'p2'].map(previewId => attempt({ previewId, actor: 'human', recommendation }));
  assert.deepEqual(says(staged(1, { state: waiting }), staged(2, { state: waiting })), [
    'The model recommends Apply: Tests pass.',
  ]);
  const applied = { state: decided('applied') };
  assert.deepEqual(says(staged(1, applied), staged(2, { state: waiting })), [
    'The model recommends Apply: Tests pass.',
  ]);
  assert.deepEqual(says(staged(1, applied), staged(2, applied)), [
    'The model recommended Apply: Tests pass.',
  ]);
  const vote = call('v1', 'resolve', { action: 'apply', reason: 'Tests pass.', id: 'p1' });
  const details = { action: 'apply', reason: 'Tests pass.', sourceResultDetails: { recommended: 'p1' } };
  const items = transcript({
    messages: [asked('Do it'), answered('', vote), result(vote, 'Recorded', { details })],
  });
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['user'],
  );
});

test('what an agent of another program proposed is one card, which stays when it is decided', () => {
  const origin = {
    sessionId: 'other',
    asksModel: false,
    agent: { name: 'Claude Code', version: '2.1.0' },
    setId: 'a1',
  };
  const two = [staged(1, { origin }), staged(2, { origin })];
  const turn = only(transcript({ previews: two }), 'turn');
  assert.deepEqual([turn.agent, turn.files], ['Claude Code 2.1.0', 2]);
  const done = two.map(each => ({ ...each, state: decided('applied') }));
  const elsewhere = new Set(['p1', 'p2']);
  assert.equal(only(transcript({ previews: done, elsewhere }), 'turn').undo.length, 2);
  assert.deepEqual(transcript({ previews: done }), []);
});

test('a screen reader hears what has become of a file, not the whole card again', () => {
  const before = only(turnOf([staged(1), staged(2)]), 'turn');
  const after = only(turnOf([staged(1, { state: decided('applied') }), staged(2)]), 'turn');
  assert.equal(newsOf(before, after), '2 files, 1.ts: applied');
});
