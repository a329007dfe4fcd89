import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  withoutEchoedMarkers,
  withoutMarkers,
} from '../../../../src/agent/session/conversation/markerEcho.ts';
import { renderTrunk, STEER } from '../../../../src/agent/session/conversation/renderTrunk.ts';
import { REVERT_TOOL } from '../../../../src/agent/session/conversation/revert.ts';
import type { ChatProvider } from '../../../../src/agent/session/model/chatProvider.ts';
import { TreeMaker } from '../../../support/treeMaker.ts';

/** A prompt, an answer that reads a file, and a branch that is a dead end. */
function branched(): TreeMaker {
  const t = new TreeMaker();
  t.user('q');
  t.calls('Reading.', 'read_file', 'list_files');
  t.calls('', 'edit_file');
  t.calls('', REVERT_TOOL);
  return t;
}

test('a trunk without reverts and markers is rendered as the very same messages', () => {
  const t = branched();
  t.local('/apply');
  t.says('Done.');
  const rendered = renderTrunk(t.tree, { markers: false });
  const said = t.tree.messages.filter(({ role }) => role !== 'local');
  assert.ok(rendered.length === said.length && rendered.every((message, at) => message === said[at]));
});

test('weave: each text begins with the id of its node, also an empty one if there are calls', () => {
  const t = branched();
  t.steering('reminder');
  assert.deepEqual(t.request(true), [
    '[n0] q',
    '[n1] Reading. <c1> <c2>',
    'c1: [n2] result of c1',
    'c2: [n3] result of c2',
    '[n4] <c3>',
    'c3: [n5] result of c3',
    '[n6] <c4>',
    'c4: [n7] result of c4',
    '[n8] reminder',
  ]);
});

test('weave: an empty answer stays empty', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('');
  assert.deepEqual(t.request(true), ['[n0] q', '']);
});

test('weave: a marker that the model echoes is stripped, but only if markers are on', () => {
  const t = new TreeMaker();
  t.user('[n5] q');
  t.says('[n7] [n8] Sure.');
  assert.deepEqual(t.request(true), ['[n0] [n5] q', '[n1] Sure.']);
  assert.deepEqual(t.request(false), ['[n5] q', '[n7] [n8] Sure.']);
  assert.deepEqual(['[n1]  text', 'text [n1]', '[n1]', '[note] text'].map(withoutMarkers), [
    'text',
    'text [n1]',
    '',
    '[note] text',
  ]);
});

const heard = async (deltas: readonly string[], isMarked: boolean): Promise<string[]> => {
  const text = deltas.join('');
  const provider: ChatProvider = {
    id: 'p',
    label: 'P',
    async *stream() {
      for (const delta of deltas) yield { type: 'text', delta };
      yield { type: 'done', answer: { text, toolCalls: [], stopReason: 'stop' } };
    },
  };
  const said: string[] = [];
  const request = { system: '', messages: [], tools: [] };
  for await (const event of withoutEchoedMarkers(provider, () => isMarked).stream(
    request,
    new AbortController().signal,
  ))
    said.push(
      event.type === 'text' ? event.delta : event.type === 'done' ? `= ${event.answer.text}` : event.type,
    );
  return said;
};

test('an echo is stripped while it arrives, in any pieces; nothing else is held back or changed', async () => {
  for (const [deltas, expected] of [
    [
      ['[n7] Sure', ', go.'],
      ['Sure', ', go.', '= Sure, go.'],
    ],
    [
      ['[', 'n', '1', '2', ']', ' ', ' [n3]', ' S', 'ure'],
      ['S', 'ure', '= Sure'],
    ],
    [['Sure [n7]'], ['Sure [n7]', '= Sure [n7]']],
    [
      ['[', 'note] Sure'],
      ['[note] Sure', '= [note] Sure'],
    ],
    [
      [' ', '- Sure'],
      [' - Sure', '=  - Sure'],
    ],
    [['[n1]'], ['= ']],
    [[], ['= ']],
  ] as const) {
    assert.deepEqual(await heard(deltas, true), expected);
    assert.deepEqual(await heard(deltas, false), [...deltas, `= ${deltas.join('')}`]);
  }
});

test('weave: the stored messages are not changed', () => {
  const t = branched();
  t.revert('failure', 0, 'lesson');
  const before = JSON.stringify(t.tree.messages);
  t.request(true);
  assert.equal(JSON.stringify(t.tree.messages), before);
});

test('weave: tags follow the text, one per distinct tag', () => {
  const t = new TreeMaker();
  t.user('q');
  for (const summary of ['one', 'two', 'one']) {
    t.says('trying');
    t.revert('failure', 0, summary);
  }
  t.says('next');
  assert.deepEqual(t.request(true), ['[n0] q [revert-lesson: one] [revert-lesson: two]', '[n4] next']);
});

for (const [category, kind] of [
  ['failure', 'revert-lesson'],
  ['tangent', 'revert-finding'],
] as const) {
  test(`${category}: the summary replaces the content of a target that is a result`, () => {
    const t = branched();
    t.revert(category, 3, 'S');
    assert.deepEqual(t.request(), [
      'q',
      'Reading. <c1> <c2>',
      'c1: result of c1',
      `c2: [${kind}: S (abandoned: edit_file)]`,
      STEER.text,
    ]);
  });

  test(`${category}: the summary replaces the content of a target that is a call, whose calls are gone`, () => {
    const t = branched();
    t.revert(category, 1, 'S');
    assert.deepEqual(t.request(), [
      'q',
      `[${kind}: S (abandoned: read_file, list_files, edit_file)]`,
      STEER.text,
    ]);
  });

  test(`${category}: without a summary nothing is replaced`, () => {
    const t = branched();
    t.revert(category, 2);
    assert.deepEqual(t.request(), [
      'q',
      'Reading. <c1>',
      `c1: result of c1 [${kind}: abandoned: list_files, edit_file]`,
      STEER.text,
    ]);
  });
}

for (const [category, kind] of [
  ['completion', 'revert-outcome'],
  ['step-summary', 'revert-checkpoint'],
] as const) {
  test(`${category}: the summary is added after the content of a tool-call cluster`, () => {
    const t = branched();
    t.revert(category, 3, 'S');
    assert.equal(t.request()[3], `c2: result of c2 [${kind}: S (abandoned: edit_file)]`);
  });
}

test('tags of every kind are appended to a prompt and to an answer without calls', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.says('b');
  t.revert('failure', 1, 'S');
  assert.equal(t.request()[1], 'a [revert-lesson: S]');
  t.revert('tangent', 0, 'T');
  assert.equal(t.request()[0], 'q [revert-finding: T]');
});

test('a call whose result left the trunk is removed from its message', () => {
  const t = branched();
  t.go(2);
  assert.deepEqual(t.request(), ['q', 'Reading. <c1>', 'c1: result of c1']);
  t.go(1);
  assert.deepEqual(t.request(), ['q', 'Reading.']);
});

test('a call whose result was never stored gets one that says so, in the order of the calls', () => {
  const t = new TreeMaker();
  t.user('q');
  t.asks('', 'a', 'b');
  t.result('c2', 'b');
  t.says('x');
  assert.deepEqual(t.request(), [
    'q',
    '<c1> <c2>',
    'c1: Interrupted: the result of this call is not known. Check before you repeat it.',
    'c2: result of c2',
    'x',
  ]);
});

test('a result without its call, and a second one of the same call, are left out', () => {
  const t = new TreeMaker();
  t.user('q');
  t.result('c9', 'lost');
  const [, result] = t.calls('', 'a');
  t.result('c1', 'a');
  assert.equal(result, 3);
  assert.deepEqual(t.request(), ['q', '<c1>', 'c1: result of c1']);
});

test('decay: a lesson is shown for three further turns, and longer among the three newest of its kind', () => {
  const t = new TreeMaker();
  const shown = (): string[] =>
    [...(t.request()[0] ?? '').matchAll(/\[revert-(\w+): (\w+)\]/g)].map(m => m[2] ?? '');
  t.user('q');
  for (const summary of ['A', 'B', 'C', 'D']) {
    t.says('trying');
    t.revert('failure', 0, summary);
  }
  assert.deepEqual(shown(), ['A', 'B', 'C', 'D'], 'turn 4: A was made at turn 1');
  t.says('on');
  assert.deepEqual(shown(), ['B', 'C', 'D'], 'turn 5');
  for (let i = 0; i < 20; i++) t.says('on');
  assert.deepEqual(shown(), ['B', 'C', 'D'], 'the three newest stay');
});

test('decay: each kind is counted separately, and pinned tags are always shown', () => {
  const t = new TreeMaker();
  t.user('q');
  const reverted = (category: Parameters<TreeMaker['revert']>[0], summary: string): void => {
    t.says('trying');
    t.revert(category, 0, summary);
  };
  for (const n of [1, 2, 3, 4]) {
    reverted('failure', `lesson${n}`);
    reverted('tangent', `finding${n}`);
    reverted('completion', `outcome${n}`);
    reverted('step-summary', `checkpoint${n}`);
  }
  for (let i = 0; i < 10; i++) t.says('on');
  const [prompt = ''] = t.request();
  const of = (what: string): number => prompt.split(`${what}`).length - 1;
  assert.deepEqual(
    ['lesson1', 'finding1', 'outcome1', 'checkpoint1', 'lesson2', 'finding2'].map(of),
    [0, 0, 1, 1, 1, 1],
  );
});

test('decay: what a lesson replaced stays replaced', () => {
  const t = branched();
  t.revert('failure', 3, 'S1');
  for (const n of [1, 2, 3]) {
    t.says('trying');
    t.revert('failure', 3, `T${n}`);
  }
  for (let i = 0; i < 5; i++) t.says('on');
  assert.match(t.request()[3] ?? '', /^c2: \[.*\[revert-lesson: T3\]$/);
  assert.doesNotMatch(t.request()[3] ?? '', /S1/);
});

test('steer: after a revert there is one message without a node, until the model has answered', () => {
  const t = branched();
  t.revert('failure', 0, 'S');
  assert.deepEqual(t.request(true), [
    '[n0] q [revert-lesson: S (abandoned: read_file, list_files, edit_file)]',
    STEER.text,
  ]);
  t.steering('told');
  assert.deepEqual(t.request().slice(1), [STEER.text, 'told']);
  t.tree.append({ role: 'assistant', text: '', toolCalls: [], stopReason: 'error', error: 'No connection.' });
  assert.ok(t.request().includes(STEER.text), 'a failed request is made again');
  t.says('on');
  assert.ok(!t.request().includes(STEER.text));
});

test('a tag is gone while its branch is back on the trunk', () => {
  const t = branched();
  const tip = t.tree.active;
  t.revert('failure', 3, 'S');
  t.go(tip);
  assert.equal(t.request()[3], 'c2: result of c2');
  t.go(3);
  assert.match(t.request()[3] ?? '', /revert-lesson/);
});
