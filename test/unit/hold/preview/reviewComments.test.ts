import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReviewComments } from '../../../../src/agent/hold/preview/reviewComments.ts';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { answersIn, reviewMessage } from '../../../../src/agent/hold/preview/reviewTexts.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

const BEFORE = 'a\nb\nc\nd\ne\nf\ng\n';
const AFTER = 'a\nB\nc\nd\ne\nF\ng\n';

const ON_P1 = [{ previewId: 'p1' }];

async function world() {
  const harness = new InvokerHarness('none');
  harness.workspace.put('b.txt', BEFORE);
  const { id } = harness.stage({ changes: [modify('b.txt', BEFORE, AFTER)] });
  const comments = new ReviewComments(harness.store);
  const on = (line: number, side: 'base' | 'proposal' = 'proposal') =>
    comments.add({ previewId: id, path: 'b.txt', side, line }, 'Why?');
  const revise = (after: string) => harness.store.revise(id, [modify('b.txt', BEFORE, after)], [], 'user');
  const message = () =>
    reviewMessage(comments.votesOn('s1', comments.drafts), comments.drafts, each => harness.store.get(each));
  return { harness, comments, on, revise, message, id };
}

describe('comments on lines of previews', () => {
  test('the model gets file, line, hunk and text of each as one message, with what was decided', async () => {
    const { harness, on, message } = await world();
    const other = harness.stage({ label: 'Other' });
    await harness.resolve({ id: other.id, action: 'discard' });
    on(5);
    on(0, 'base');
    assert.equal(
      await message(),
      'I reviewed your previews: 2 comments, 1 refused.\n\n' +
        '[c1] p1, b.txt, line 6 of the preview, hunk 2:\n> F\nWhy?\n\n' +
        '[c2] p1, b.txt, line 1 of the file as it was:\n> a\nWhy?\n\n' +
        'Answer each comment in a paragraph that begins with its number in brackets. Where it asks for a change, propose that.',
    );
  });

  test('what was decided on the proposals of other prompts is not told with a comment', async () => {
    const { harness, comments } = await world();
    const of = (setId: string, path: string) =>
      harness.store.stage(
        draft({ changes: [create(path, 'x')], origin: { sessionId: 's1', asksModel: true, setId } }),
      ).preview.id;
    const [early, untouched, late] = [of('one', 'x.txt'), of('two', 'y.txt'), of('two', 'z.txt')];
    await harness.resolve({ id: early });
    assert.deepEqual(comments.votesOn('s1', [{ previewId: untouched }]), { applied: 0, refused: 0 });
    await harness.resolve({ id: late, action: 'discard' });
    assert.deepEqual(comments.votesOn('s1', [{ previewId: untouched }]), { applied: 0, refused: 1 });
  });

  test('leave to run a command or to call a tool counts as no decision on the proposals', async () => {
    const { harness, comments } = await world();
    const apply = () => Promise.resolve(textResult('exit code 0', { run: { seconds: 7, exitCode: 0 } }));
    for (const purpose of ['command', 'toolCall'] as const) {
      for (const action of ['apply', 'discard'] as const) {
        const { id } = harness.stage({ apply, humanOnly: true, purpose });
        await harness.resolve({ id, action });
      }
    }
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 0, refused: 0 });
    await harness.resolve();
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 1, refused: 0 });
  });

  test('they are sent once, and the next review counts from there, unless they were not sent after all', async () => {
    const { harness, comments, on } = await world();
    await harness.resolve({ id: harness.stage().id, action: 'discard' });
    const { id } = on(1) ?? assert.fail();
    on(2);
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 0, refused: 1 });
    const takeBack = comments.markSent([id]);
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 0, refused: 0 });
    assert.deepEqual(
      comments.drafts.map(draft => draft.id),
      ['c2'],
    );
    takeBack();
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 0, refused: 1 });
    assert.equal(comments.drafts.length, 2);
  });

  test('what undoes something, and what others proposed, counts as no decision on the proposals of a conversation', async () => {
    const { harness, comments } = await world();
    await harness.resolve();
    const undo = harness.stage(undoAction(harness.store.get('p1') ?? assert.fail()));
    await harness.resolve({ id: undo.id });
    const agent = { name: 'Other', version: '1' };
    for (const origin of [
      { sessionId: 's2', asksModel: true },
      { sessionId: 's1', asksModel: false, agent },
    ]) {
      const changes = [create(`${origin.sessionId}.txt`, 'x')];
      const { id } = harness.store.stage(draft({ changes, origin })).preview;
      await harness.resolve({ id });
    }
    assert.deepEqual(comments.votesOn('s1', ON_P1), { applied: 1, refused: 0 });
  });

  test('a comment follows its line into the next revision, and says so if the line is gone', async () => {
    const { comments, on, revise, message } = await world();
    on(5);
    await revise('new\na\nB\nc\nd\ne\nF\ng\n');
    assert.deepEqual(
      comments.all.map(({ line, isOutdated }) => [line, isOutdated]),
      [[6, false]],
    );
    await revise('a\nB\nc\nd\ne\nf\ng\n');
    assert.equal(comments.all[0]?.isOutdated, true);
    assert.match(await message(), /p1, b\.txt, a line that is no longer in the preview:\n> F\nWhy\?/);
    await revise(AFTER);
    assert.equal(comments.all[0]?.isOutdated, false);
  });

  test('a comment goes with the file, or the hunk, that is decided alone', async () => {
    for (const action of ['apply', 'discard'] as const) {
      const harness = new InvokerHarness('none');
      const { store, invoker, workspace } = harness;
      for (const path of ['b.txt', 'c.txt']) workspace.put(path, BEFORE);
      const changes = ['b.txt', 'c.txt'].map(path => modify(path, BEFORE, AFTER));
      const { id } = harness.stage({ changes });
      const comments = new ReviewComments(store);
      const on = (path: string, side: 'base' | 'proposal', line: number) =>
        comments.add({ previewId: id, path, side, line }, 'Why?');
      on('b.txt', 'proposal', 1);
      on('b.txt', 'base', 5);
      on('c.txt', 'base', 1);
      on('c.txt', 'proposal', 1);
      const vote = { id, action, actor: 'human', reason: 'ok' } as const;
      await resolvePart({ store, invoker }, { ...vote, revision: 1 }, { path: 'b.txt' });
      await resolvePart({ store, invoker }, { ...vote, revision: 2 }, { path: 'c.txt', hunk: 0 });
      const at = comments.all.map(({ previewId, line, isOutdated }) => [previewId, line, isOutdated]);
      // What is applied is what the rest builds on; what is discarded was only proposed by the part.
      const hunk = action === 'apply' ? ['p3', 'p1'] : ['p1', 'p3'];
      assert.deepEqual(at, [
        ...[
          ['p2', 1, false],
          ['p2', 5, false],
        ],
        ...hunk.map(previewId => [previewId, 1, false]),
      ]);
    }
  });

  test('of equal lines it is the one below the same line', async () => {
    const { comments, on, revise } = await world();
    await revise('x\n}\ny\n}\n');
    on(3);
    await revise('x\n}\nz\n}\nz\n}\ny\n}\n');
    assert.equal(comments.all[0]?.line, 7);
  });

  test('what is stored comes back after a reload, and anything else is dropped', async () => {
    const { harness, comments, on } = await world();
    on(1);
    const stored = JSON.parse(JSON.stringify(comments.stored)) as object;
    assert.deepEqual(new ReviewComments(harness.store, stored).all, comments.all);
    const damaged = { comments: [{ id: 'c1' }, 7, null, ...comments.all], reviewedUpTo: 'x' };
    assert.deepEqual(new ReviewComments(harness.store, damaged).all, comments.all);
  });

  test('a comment can be changed until it is sent, and keeps its answers and replies over a reload', async () => {
    const { harness, comments, on, id } = await world();
    const first = on(1) ?? assert.fail();
    comments.edit(first.id, ' Why in upper case? ');
    comments.edit(first.id, ' ');
    comments.markSent([first.id]);
    comments.edit(first.id, 'Too late.');
    comments.answer(first.id, 'It is a heading.');
    comments.answer(first.id, 'It is a heading.');
    comments.add({ previewId: id, path: 'b.txt', side: 'proposal', line: 1 }, 'And F?', first.id);
    assert.deepEqual(
      comments.all.map(({ text, answers, replyTo }) => ({ text, answers, replyTo })),
      [
        { text: 'Why in upper case?', answers: ['It is a heading.'], replyTo: undefined },
        { text: 'And F?', answers: undefined, replyTo: 'c1' },
      ],
    );
    const stored = JSON.parse(JSON.stringify(comments.stored)) as object;
    assert.deepEqual(new ReviewComments(harness.store, stored).all, comments.all);
  });

  test('an answer names the comments that it answers, however it is written', () => {
    for (const [text, expected] of [
      ['[c1] Yes.\n\n[c2] No: it is\nshorter.', { c1: 'Yes.', c2: 'No: it is\nshorter.' }],
      ['Thanks!\n\n**[c1]:** Yes.\n- [c12] – No.', { c1: 'Yes.', c12: 'No.' }],
      [
        '1. [c1] Yes.\n2. [c2]: No.\n\n[c1] I have changed it.',
        { c1: 'Yes.\n\nI have changed it.', c2: 'No.' },
      ],
      ['I looked at [c1] and agree.', {}],
    ] as const)
      assert.deepEqual(Object.fromEntries(answersIn(text)), expected, text);
  });

  test('a comment needs a line and a text; a removed one is not sent', async () => {
    const { comments, on, id } = await world();
    assert.equal(on(99), undefined);
    assert.equal(comments.add({ previewId: id, path: 'no.txt', side: 'proposal', line: 0 }, 'x'), undefined);
    assert.equal(comments.add({ previewId: id, path: 'b.txt', side: 'proposal', line: 0 }, ' '), undefined);
    const added = on(1) ?? assert.fail();
    comments.remove(added.id);
    assert.deepEqual(comments.all, []);
  });
});
