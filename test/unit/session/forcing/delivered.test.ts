import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { ChatRequest } from '../../../../src/agent/session/model/chatProvider.ts';
import { defineTool } from '../../../../src/agent/session/tools/tool.ts';
import { modify } from '../../../support/changes.ts';
import { createScriptedProvider, type ScriptedTurn, type Script } from '../../../support/scriptedProvider.ts';
import {
  createTestSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../support/testSession.ts';

const OLD = lines('old', 900);
const NEW = lines('new', 900);
const files = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${n}.txt`, n === 0 ? OLD : 'old']));

/** Changes files, as a command does: the model writes none of it. */
const work = defineTool({
  name: 'work',
  label: 'Work',
  description: 'Works.',
  parameters: z.object({ file: z.number(), lines: z.number() }),
  execute({ file, lines: count }, { stage }) {
    const path = `${file}.txt`;
    const changes = [modify(path, files[path] ?? '', file === 0 ? NEW : lines(path, count))];
    stage({ label: 'Made', sourceToolName: 'work', changes });
    return Promise.resolve(textResult('Worked.'));
  },
});
const talk = defineTool({
  name: 'talk',
  label: 'Talk',
  description: 'Says a lot.',
  parameters: z.object({}),
  execute: () => Promise.resolve(textResult('word '.repeat(6_000))),
});

const calls = (...made: readonly (readonly [string, object])[]): ScriptedTurn => ({
  toolCalls: made.map(([name, args]) => ({ name, arguments: args })),
});
const voteOn = (...ids: string[]): ScriptedTurn =>
  calls(['resolve', { action: 'apply', reason: 'ok', ...(ids.length === 1 ? { id: ids[0] } : { ids }) }]);
const ok: ScriptedTurn = { text: 'ok' };
/** An answer that is too long to stay in a small window, and cannot be shortened. */
const think: ScriptedTurn = { ...calls(['talk', {}]), text: 'thought '.repeat(1_500) };

function lines(word: string, count: number): string {
  return Array.from({ length: count }, (_, n) => `${word} line ${n} of it\n`).join('');
}

/** A session whose model has a window of this many tokens, and what it was sent. */
function play(
  window: number,
  script: Script,
  more: TestSessionOptions = {},
): { readonly t: TestSession; readonly requests: readonly ChatRequest[] } {
  const model = createScriptedProvider(script);
  const provider = { ...model, contextWindow: () => Promise.resolve(window) };
  const settings = { modelAuthority: 'apply', forcing: 'off', ...more.settings } as const;
  const t = createTestSession({ files, tools: [work, talk], ...more, settings, provider });
  return { t, requests: model.requests };
}

/** The lines of a text that none of the last requests contains. */
function unsent(requests: readonly ChatRequest[], text: string): readonly string[] {
  const told = JSON.stringify(requests.map(({ messages }) => messages));
  return text.split('\n').filter(line => !told.includes(line));
}

const contents = (t: TestSession): readonly string[] => t.results().map(({ content }) => content);
const NOT_SHOWN = /^Your vote on p\d+ .* does not count yet, /m;

test('a look that is shortened in the request has not shown the diff', async () => {
  const script = [
    calls(['work', { file: 0, lines: 0 }]),
    calls(['pending', { id: 'p1' }]),
    calls(['pending', { id: 'p1', offset: 23_990 }]),
    voteOn('p1'),
    ok,
  ];
  const { t, requests } = play(8_000, script);
  await t.session.prompt('Work.');
  assert.notDeepEqual(unsent(requests, NEW), []);
  assert.equal(t.workspace.text('0.txt'), OLD);
  assert.match(contents(t).at(-1) ?? '', NOT_SHOWN);
});

test('of six looks in one message, those that are shortened have shown nothing', async () => {
  const six = [0, 1, 2, 3, 4, 5];
  const script = [
    calls(...six.map(file => ['work', { file, lines: 700 }] as const)),
    calls(...six.map(file => ['pending', { id: `p${file + 1}` }] as const)),
    calls(...six.map(file => ['pending', { id: `p${file + 1}`, offset: 23_990 }] as const)),
    voteOn('p1', 'p2', 'p3', 'p4', 'p5', 'p6'),
    ok,
  ];
  const { t, requests } = play(32_000, script);
  await t.session.prompt('Work.');
  for (const file of six) {
    const now = t.workspace.text(`${file}.txt`) ?? '';
    if (now !== files[`${file}.txt`]) assert.deepEqual(unsent(requests, now), [], `${file}.txt`);
  }
});

for (const how of ['a summary', 'a shortened result'] as const)
  test(`a diff counts no longer once ${how} takes its place, and a vote is answered with it`, async () => {
    const isSummary = ({ tools }: ChatRequest): boolean => tools.length === 0;
    const turns = [
      calls(['work', { file: 1, lines: 60 }]),
      calls(['talk', {}]),
      calls(['talk', {}]),
      ...(how === 'a summary' ? [think, think, think] : []),
      voteOn('p1'),
      voteOn('p1'),
      ok,
    ];
    let at = 0;
    const { t, requests } = play(how === 'a summary' ? 9_000 : 14_000, request =>
      isSummary(request) ? { text: 'It worked.' } : (turns[at++] ?? ok),
    );
    await t.session.prompt('Work.');
    assert.equal(requests.some(isSummary), how === 'a summary');
    const [refused = '', applied = ''] = contents(t).slice(-2);
    assert.match(refused, NOT_SHOWN);
    assert.match(refused, /\+1\.txt line 59 of it/);
    assert.match(applied, /^Applied: p1/);
  });

test('text that the model wrote itself counts, although its call is behind a summary', async () => {
  const turns = [
    calls(['write_file', { path: 'own.txt', content: 'mine' }]),
    think,
    think,
    think,
    voteOn('p1'),
    ok,
  ];
  let at = 0;
  const { t, requests } = play(9_000, ({ tools }) =>
    tools.length === 0 ? { text: 'It worked.' } : (turns[at++] ?? ok),
  );
  await t.session.prompt('Work.');
  assert.ok(requests.some(({ tools }) => tools.length === 0));
  assert.equal(t.workspace.text('own.txt'), 'mine');
});

test('of one vote, only what was shown is applied', async () => {
  const script = [
    calls(['work', { file: 1, lines: 20 }], ['work', { file: 2, lines: 900 }]),
    voteOn('p1', 'p2'),
    ok,
  ];
  const { t } = play(128_000, script);
  await t.session.prompt('Work.');
  assert.equal(t.workspace.text('1.txt'), lines('1.txt', 20));
  assert.equal(t.workspace.text('2.txt'), 'old');
});

test('what an edit replaces in several places counts only while its result is whole', async () => {
  const cars = 'this is a car\n'.repeat(38);
  const replace = {
    path: 'cars.txt',
    edits: [{ old: 'a car', new: 'an omnibus, or a coach', replaceAll: true }],
  };
  const script = [
    calls(['edit_file', replace]),
    calls(['talk', {}]),
    calls(['talk', {}]),
    voteOn('p1'),
    voteOn('p1'),
    ok,
  ];
  const { t } = play(14_000, script, { files: { 'cars.txt': cars } });
  await t.session.prompt('Work.');
  const [refused = '', applied = ''] = contents(t).slice(-2);
  assert.match(refused, NOT_SHOWN);
  assert.match(applied, /^Applied: p1/);
});

for (const amends of [false, true])
  test(`after a reload, text that was ${amends ? 'amended' : 'replaced'} in several places counts as not shown`, async () => {
    const cars = 'a car\nanother car\n';
    const edits = [{ old: 'car', new: 'bus', replaceAll: true }];
    const first = amends
      ? [calls(['edit_file', { path: 'cars.txt', edits: [{ old: 'another', new: 'one more' }] }])]
      : [];
    const script = [
      ...first,
      calls(['edit_file', { path: 'cars.txt', edits, ...(amends ? { amend: 'p1' } : {}) }]),
      ok,
    ];
    const { t: before } = play(128_000, script, { files: { 'cars.txt': cars } });
    await before.session.prompt('Work.');
    const { workspace, log, sessionLog } = before;
    before.session.dispose();
    const { t } = play(128_000, [voteOn('p1'), voteOn('p1'), ok], { workspace, log, sessionLog });
    await t.session.prompt('Go on.');
    const [refused = '', applied = ''] = contents(t).slice(-2);
    assert.match(refused, NOT_SHOWN);
    assert.match(applied, /^Applied: p1/);
  });

test('text that was amended on an abandoned branch counts as not shown', async () => {
  const script = [
    calls(['write_file', { path: 'own.txt', content: 'first' }]),
    calls(['edit_file', { path: 'own.txt', amend: 'p1', edits: [{ old: 'first', new: 'second' }] }]),
    calls(['revert_to_state', { category: 'tangent', step: 'n2', summary: 'Tried.' }]),
    voteOn('p1'),
    voteOn('p1'),
    ok,
  ];
  const { t } = play(128_000, script, { settings: { revertEnabled: true } });
  await t.session.prompt('Work.');
  const [refused = '', applied = ''] = contents(t).slice(-2);
  assert.match(refused, NOT_SHOWN);
  assert.match(refused, /\+second/);
  assert.match(applied, /^Applied: p1/);
});
