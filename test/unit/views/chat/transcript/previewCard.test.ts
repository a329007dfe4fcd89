import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandRuns } from '../../../../../src/agent/sandbox/commands/commandRuns.ts';
import { resultText } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview, PreviewState } from '../../../../../src/agent/hold/preview/preview.ts';
import { previewView } from '../../../../../src/agent/hold/preview/previewView.ts';
import { commandResult } from '../../../../../src/agent/session/tools/command/commandReport.ts';
import { previewCard } from '../../../../../src/views/chat/transcript/previewCard.ts';
import { cardName, partName, partsText } from '../../../../../src/views/chat/words/cardWords.ts';
import {
  answered,
  asked,
  attempt,
  call,
  modify,
  preview,
  transcript,
  wordsOf,
} from '../../../../support/chatFixtures.ts';
import { waitingText } from '../../../../../src/views/chat/words/cardWords.ts';
import { applyVerb, rebaseText } from '../../../../../src/views/texts/previewWords.ts';

const card = (state: PreviewState) => previewCard(previewView(preview({ state })));
const exact = (added: number, removed: number) => ({ added, removed, hunks: 1, exact: true });

test('a pending preview carries the revision that a click votes on', () => {
  const shown = previewCard(previewView(preview({ id: 'p7', revision: 4 })));
  assert.deepEqual([shown.id, shown.revision, shown.state.kind, shown.key], ['p7', 4, 'pending', 'p:p7']);
});

test('a pending card says first that nothing has happened, in the words of what it would do', () => {
  const first = (changes?: null) => waitingText(previewCard(previewView(preview({ changes }))));
  assert.deepEqual([first(), first(null)], ['Not written yet', 'Not run yet']);
  assert.equal(
    waitingText(card({ kind: 'discarded', by: { actor: 'human', reason: '', at: '' } })),
    undefined,
  );
});

test('a recommendation is shown with its reason, or with the fallback', () => {
  const recommended = (reason: string) =>
    wordsOf(card({ kind: 'pending', stale: [], recommendation: { action: 'apply', reason } })).recommendation;
  assert.equal(recommended('Tests pass.'), 'The model recommends Apply: Tests pass.');
  assert.equal(recommended('  '), 'The model recommends Apply: No reason provided');
  const ofSet = (action: 'apply' | 'discard') =>
    wordsOf(
      card({ kind: 'pending', stale: [], recommendation: { action, reason: 'As asked.', isOfSet: true } }),
    ).recommendation;
  assert.equal(ofSet('apply'), 'The model recommends Apply for several changes together: As asked.');
  assert.equal(ofSet('discard'), 'The model recommends Discard for several changes together: As asked.');
});

test('a stale preview names its files and does not repeat the failure', () => {
  const shown = (stale: string[], lastError?: string) =>
    wordsOf(card({ kind: 'pending', stale, ...(lastError === undefined ? {} : { lastError }) }));
  assert.deepEqual(shown(['a.ts', 'b.ts'], 'a.ts, b.ts changed'), {
    state: undefined,
    reason: undefined,
    stale: `Stale: a.ts, b.ts changed after this was proposed. ${rebaseText()}`,
  });
  assert.equal(shown([], 'disk full')['last-error'], 'The last attempt failed: disk full');
  const failed = { kind: 'pending', stale: [], lastError: 'lost' } as const;
  const again = previewCard(previewView(preview({ changes: null, state: failed })));
  assert.equal(wordsOf(again)['last-error'], 'The last attempt failed, and may have run in part: lost');
  assert.equal(
    applyVerb(again.face, again.state.kind === 'pending' ? again.state.problem : undefined),
    'Run Again',
  );
  const many = Array.from({ length: 2_000 }, (_, n) => `f${n}.ts`);
  assert.match(shown(many).stale ?? '', /f4\.ts and 1995 more/);
  assert.ok(JSON.stringify(card({ kind: 'pending', stale: many })).length < 1_000);
});

test('the card shows who resolved it, with a reason only if one was given', () => {
  const by = (reason: string) => ({ actor: 'human', reason, at: '' }) as const;
  const clicked = card({ kind: 'discarded', by: by('Discarded by the user.') });
  assert.deepEqual(wordsOf(clicked), { state: 'Discarded by you', reason: undefined });
  assert.equal(wordsOf(card({ kind: 'discarded', by: by('Too risky.') })).reason, 'Too risky.');
  const model = card({ kind: 'applied', by: { actor: 'model', reason: 'Right.', at: '' } });
  assert.deepEqual(wordsOf(model), { state: 'Applied by the model', reason: undefined });
});

test('an apply that returned an error counts as failed', () => {
  const state = { kind: 'applied', by: { actor: 'human', reason: 'x', at: '' } } as const;
  const lastAttempt = attempt({ outcome: 'returnedError', message: 'exit code 1' });
  const shown = previewCard(previewView(preview({ state }), { lastAttempt }));
  assert.deepEqual(
    [shown.state.kind, wordsOf(shown).state, wordsOf(shown)['last-error']],
    ['failed', 'Applied, and returned an error', 'exit code 1'],
  );
});

test('a command that has ended says how, and who ran it', () => {
  const state = { kind: 'applied', by: { actor: 'human', reason: 'Applied by the user.', at: '' } } as const;
  const lastAttempt = attempt({ outcome: 'applied', run: { exitCode: 1, seconds: 2.14 } });
  const shown = previewCard(previewView(preview({ state }), { lastAttempt }));
  assert.equal(wordsOf(shown).state, 'Exit 1 · 2.1 s · by you');
});

test('line counts: exact or not, and a sum for several files', () => {
  const changes = [modify('a.ts'), modify('b.ts')];
  const counted = (...stats: { added: number; removed: number; hunks: number; exact: boolean }[]) =>
    previewCard(previewView(preview({ changes }), { stats }));
  const shown = counted(exact(3, 0), { added: 9_000, removed: 2, hunks: 9, exact: false });
  assert.deepEqual(shown.files[0]?.stat, { added: 3, removed: 0, exact: true });
  assert.deepEqual(shown.files[1]?.stat, { added: 9_000, removed: 2, exact: false });
  assert.deepEqual(shown.stat, { added: 9_003, removed: 2, exact: false });
  assert.equal(counted(exact(3, 0)).stat, undefined);
});

test('a preview with many files lists some and counts the rest', () => {
  const changes = Array.from({ length: 30 }, (_, i) => modify(`f${i}.ts`));
  const shown = previewCard(previewView(preview({ changes })));
  assert.equal(shown.files.length, 8);
  assert.equal(shown.moreFiles, 22);
});

test('an opaque preview has no files', () => {
  const shown = previewCard(previewView(preview({ changes: null })));
  assert.deepEqual([shown.files, shown.moreFiles], [[], 0]);
});

test('the card of a command shows what it writes while it runs, and all of it afterwards, without the report for the model', () => {
  const plan = { command: 'ls', folder: '/w', shell: '/bin/sh', environment: {}, timeLimit: 120 };
  const command = { changes: null, purpose: 'command', humanOnly: true, details: plan } as const;
  const running = previewCard(
    previewView(preview({ ...command, state: { kind: 'applying', action: 'apply', actor: 'human' } })),
    'a\n',
  );
  assert.deepEqual([running.output, running.canStop], ['a\n', true]);
  assert.equal(wordsOf(running).state, 'Running…');
  const by = { actor: 'human', reason: 'Applied by the user.', at: '2026-01-01T00:00:00.000Z' } as const;
  const applied = preview({ ...command, state: { kind: 'applied', by } });
  const endedWith = (output: string) => {
    const run = new CommandRuns().start('p1');
    run.add(output);
    run.end();
    const end = { exitCode: 1, ended: 0, running: [] };
    const effects =
      'Its changes are pending as p2 (ls). The diff:\n```\na.txt: 1 line added, 0 removed.\n+Its output:\n```';
    const message = resultText(commandResult({ timeLimit: 120 }, end, run, [effects]));
    return previewCard(previewView(applied, { lastAttempt: attempt({ message }) }));
  };
  const ended = endedWith('1 failed\n```\nIts output:\n```\nx\n');
  assert.equal(ended.output, '1 failed\n```\nIts output:\n```\nx');
  assert.equal(ended.canStop, false);
  assert.match(
    endedWith(`${'a'.repeat(5_000)}${'z'.repeat(5_000)}`).output ?? '',
    /^a{3000}\n\[…\]\nz{3000}$/,
  );
  assert.equal(endedWith('').output, undefined);
  assert.equal(previewCard(previewView(preview({ changes: null }))).output, undefined);
});

const by = (actor: 'human' | 'model') => ({ actor, reason: 'r', at: '' });

test('what was discarded and reopened shows what became of it', () => {
  const first = preview({ state: { kind: 'discarded', by: by('human') } });
  const again = (state: PreviewState, id = 'p2', reopens = 'p1') => preview({ id, reopens, state });
  const shown = (...later: ReturnType<typeof again>[]) => {
    const [item] = transcript({
      messages: [asked('Edit'), answered('', call('c1', 'edit_file', {}))],
      previews: [first, ...later],
    }).filter(one => one.kind === 'preview' && one.id === 'p1');
    return item?.kind === 'preview' ? [item.state.kind, wordsOf(item).state] : [];
  };
  const pending: PreviewState = { kind: 'pending', stale: [] };
  assert.deepEqual(shown(), ['discarded', 'Discarded by you']);
  assert.deepEqual(shown(again(pending)), ['discarded', 'Discarded by you, reopened']);
  assert.deepEqual(shown(again({ kind: 'applied', by: by('human') })), ['applied', 'Applied by you']);
  const twice = again({ kind: 'discarded', by: by('model') });
  const third = again({ kind: 'applied', by: by('human') }, 'p3', 'p2');
  assert.deepEqual(shown(twice, third), ['applied', 'Applied by you']);
});

test('what was undone says so, and says that it is applied again once the undo is undone', () => {
  const applied: PreviewState = { kind: 'applied', by: by('human') };
  const first = preview({ state: applied });
  const undo = (state: PreviewState, id = 'p2', undoes = ['p1']) => preview({ id, undoes, state });
  const shown = (...later: ReturnType<typeof undo>[]) => {
    const [item] = transcript({
      messages: [asked('Edit'), answered('', call('c1', 'edit_file', {}))],
      previews: [first, ...later],
    }).filter(one => one.kind === 'preview' && one.id === 'p1');
    return item?.kind === 'preview' ? [item.state.kind, wordsOf(item).state] : [];
  };
  assert.deepEqual(shown(undo({ kind: 'pending', stale: [] })), ['applied', 'Applied by you']);
  assert.deepEqual(shown(undo({ kind: 'applied', by: by('model') })), ['undone', 'Undone by the model']);
  assert.deepEqual(shown(undo(applied), undo(applied, 'p3', ['p2'])), ['applied', 'Applied by you']);
});

test('after a rebase that left conflicts, the card counts them and no longer offers to rebase', () => {
  const marked = '<<<<<<< current file\na\n=======\nb\n>>>>>>> proposed change\n';
  const changes = [modify('a.ts', 'a\n', marked + marked), modify('b.ts')];
  const state: PreviewState = { kind: 'pending', stale: ['a.ts'] };
  const shown = previewCard(previewView(preview({ changes, state })));
  assert.equal(wordsOf(shown).stale, undefined);
  assert.equal(wordsOf(shown).conflicts, 'Conflicts to resolve in the proposal: 2 in a.ts.');
  const single = previewCard(previewView(preview({ changes: [modify('a.ts', 'a\n', 'b\n')], state })));
  assert.match(wordsOf(single).stale ?? '', /^Stale: a\.ts/);
});

test('what is applied can be undone and what is discarded reopened, until that was done or is pending', () => {
  const applied: PreviewState = { kind: 'applied', by: by('human') };
  const discarded: PreviewState = { kind: 'discarded', by: by('human') };
  const pending: PreviewState = { kind: 'pending', stale: [] };
  const remedy = (state: PreviewState, ...later: Preview[]) => {
    const [item] = transcript({
      messages: [asked('Edit'), answered('', call('c1', 'edit_file', {}))],
      previews: [preview({ state }), ...later],
    }).filter(one => one.kind === 'preview' && one.id === 'p1');
    return item?.kind === 'preview' ? item.remedy : undefined;
  };
  assert.equal(remedy(pending), undefined);
  assert.deepEqual(remedy(applied), { type: 'undo', id: 'p1' });
  assert.deepEqual(remedy(discarded), { type: 'reopen', id: 'p1' });
  const undo = (state: PreviewState) => preview({ id: 'p2', undoes: ['p1'], state });
  assert.equal(remedy(applied, undo(pending)), undefined);
  assert.deepEqual(remedy(applied, undo(applied)), { type: 'redo', id: 'p2' });
  const redo = (state: PreviewState) => preview({ id: 'p3', undoes: ['p2'], state });
  assert.equal(remedy(applied, undo(applied), redo(pending)), undefined);
  assert.deepEqual(remedy(applied, undo(applied), redo(applied)), { type: 'undo', id: 'p1' });
  assert.deepEqual(remedy(applied, undo(discarded)), { type: 'undo', id: 'p1' });
  const again = (state: PreviewState) => preview({ id: 'p2', reopens: 'p1', state });
  assert.equal(remedy(discarded, again(pending)), undefined);
  assert.deepEqual(remedy(discarded, again(applied)), { type: 'undo', id: 'p2' });
  assert.deepEqual(remedy(discarded, again(discarded)), { type: 'reopen', id: 'p2' });
});

test('the card names the agent of another program that proposed it, and that resolved it itself', () => {
  const origin = { sessionId: 'agent-1', agent: { name: 'Codex', version: '2.0' }, asksModel: false };
  const shown = (state: PreviewState) => previewCard(previewView(preview({ origin, state })));
  assert.equal(shown({ kind: 'pending', stale: [] }).agent, 'Codex 2.0');
  assert.equal(card({ kind: 'pending', stale: [] }).agent, undefined);
  const by = { actor: 'model', reason: 'Wrong file.', at: '2026-01-01T00:00:00.000Z' } as const;
  const withdrawn = shown({ kind: 'discarded', by });
  // No block of a call in the chat tells its reason.
  assert.deepEqual(wordsOf(withdrawn), { state: 'Discarded by Codex 2.0', reason: 'Wrong file.' });
  assert.equal(wordsOf(shown({ kind: 'applied', by: { ...by, actor: 'human' } })).state, 'Applied by you');
});

test('hunks that were resolved by themselves are rows of one card, with what is left', () => {
  const resolved = (id: string, kind: 'applied' | 'discarded', number: number, reason = 'x'): Preview =>
    preview({
      id,
      label: `Edit a.ts (1 edit): a.ts, hunk ${number}`,
      state: { kind, by: { actor: 'human', reason, at: '' } },
      part: { previewId: 'p1', hunks: 1, number, patch: '' },
    });
  const edit = call('c1', 'edit_file', { path: 'a.ts' });
  const cards = (state: PreviewState, ...parts: readonly Preview[]) =>
    transcript({
      messages: [asked('Change it'), answered('', edit)],
      previews: [preview({ state }), ...parts],
      stats: ({ id }) =>
        id === 'p1'
          ? [{ added: 2, removed: 2, hunks: 2, exact: true }]
          : [{ added: 3, removed: 1, hunks: 1, exact: true }],
    }).flatMap(item => (item.kind === 'preview' ? [item] : []));
  const votes = [resolved('p2', 'discarded', 3, 'Too risky.'), resolved('p3', 'applied', 1)];

  const [open, ...others] = cards({ kind: 'pending', stale: [] }, ...votes);
  assert.deepEqual(others, []);
  assert.ok(open?.parts);
  assert.equal(partsText(open.parts), '1 applied · 1 discarded · 2 left');
  assert.deepEqual(
    open.parts.rows.map(row => [partName(row), wordsOf(row).state, wordsOf(row).reason, row.remedy]),
    [
      ['a.ts, hunk 3', 'Discarded by you', 'Too risky.', { type: 'reopen', id: 'p2' }],
      ['a.ts, hunk 1', 'Applied by you', 'x', { type: 'undo', id: 'p3' }],
    ],
  );

  const rest = { kind: 'applied', by: { actor: 'human', reason: 'x', at: '' } } as const;
  const [closed] = cards(rest, ...votes);
  assert.ok(closed?.parts);
  assert.equal(partsText(closed.parts), '3 of 4 hunks applied');
  assert.deepEqual(closed.stat, { added: 8, removed: 4, exact: true }, 'of the whole, not of the last part');
  // The row of the rest tells its state.
  assert.equal(cardName(closed), 'Edit a.ts (1 edit)');
  const last = closed.parts.rows.at(-1);
  assert.deepEqual([last && partName(last), last?.remedy], ['2 other hunks', { type: 'undo', id: 'p1' }]);

  const failed = preview({ id: 'p4', part: { previewId: 'p1', hunks: 1, number: 2, patch: '' } });
  assert.deepEqual(
    cards({ kind: 'pending', stale: [] }, failed).map(({ id, parts }) => [id, parts]),
    [
      ['p1', undefined],
      ['p4', undefined],
    ],
  );
});

test('the card of a plan has the plan and its own buttons while it waits, unfolded once the user edited it', () => {
  const details = { title: 'Count', text: '1. Count' };
  const plan = { ...preview({ title: 'Plan: Count', details }), kind: 'plan', changes: null } as const;
  const partOf = (more: Partial<Preview>) => previewCard(previewView({ ...plan, ...more } as Preview));
  assert.deepEqual(partOf({}).plan, { text: '1. Count', isUnfolded: false });
  assert.equal(partOf({}).label, 'Plan: Count');
  assert.equal(partOf({ editedByUser: true }).plan?.isUnfolded, true);
  const by = { actor: 'human', reason: '', at: '' } as const;
  assert.equal(partOf({ state: { kind: 'applied', by } }).plan, undefined);
  assert.equal(wordsOf(partOf({ state: { kind: 'applied', by } })).state, 'Approved by you');
  assert.equal(wordsOf(partOf({ state: { kind: 'discarded', by } })).state, 'Sent back by you');
});

test('the card says why a preview has expired', () => {
  assert.equal(wordsOf(card({ kind: 'pending', stale: [] })).state, undefined);
  const expired = card({ kind: 'expired', reason: 'Gemini CLI wrote something else: a.txt.' });
  assert.equal(wordsOf(expired).state, 'Expired: Gemini CLI wrote something else: a.txt.');
  assert.equal(wordsOf(card({ kind: 'expired' })).state, 'Expired: this action can no longer run');
});
