import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reply, type ReplyEnd } from '../../../../../src/views/chat/nativeChat/reply.ts';
import type { Script } from '../../../../support/scriptedProvider.ts';
import { createTestSession } from '../../../../support/testSession.ts';

const edit = (path: string) => ({
  name: 'edit_file',
  arguments: { path, edits: [{ old: 'old', new: 'new' }] },
});
const recommend = {
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'Fine *indeed*.' } }],
};

/** A session with a model that follows the script, and prompts whose replies are recorded part by part. */
function setUp(script: Script, modelAuthority: 'recommend' | 'apply' | 'none' = 'recommend') {
  const files = Object.fromEntries(['a.ts', 'b.ts', 'c.ts', 'd.ts'].map(path => [path, 'old\n']));
  const t = createTestSession({ files, script, settings: { modelAuthority } });
  const parts: string[] = [];
  const sink = {
    markdown: (text: string) => void parts.push(`text ${text}`),
    linked: (text: string) => void parts.push(`linked ${text.trim()}`),
    progress: (text: string) => void parts.push(`step ${text}`),
    button: (title: string, id: string, ...args: readonly unknown[]) =>
      void parts.push(`button ${[title, id, ...args].join(' ')}`.trimEnd()),
    link: (title: string, id: string) => `[${title}](${id})`,
  };
  const begin = (prompt: string, waits = false) => {
    const reply = new Reply({
      prompt,
      sessionId: () => t.session.id,
      store: t.store,
      sink,
      waits: () => waits,
      onEnd: () => void parts.push('end'),
    });
    const following = t.session.onDidEmit(event => reply.follow(event));
    return {
      finish(): ReplyEnd {
        following.dispose();
        return reply.finish();
      },
    };
  };
  const ask = async (prompt: string): Promise<ReplyEnd> => {
    parts.length = 0;
    const reply = begin(prompt);
    await t.session.prompt(prompt);
    return reply.finish();
  };
  return { ...t, parts, begin, ask };
}

test('text comes as it arrives, calls are steps, and the preview with its buttons comes last', async () => {
  const { ask, parts } = setUp([
    { text: 'Let me *see*.', toolCalls: [edit('a.ts')] },
    recommend,
    { text: 'Your turn.' },
  ]);
  const { pending, failure } = await ask('Fix it');
  assert.deepEqual([pending, failure], [['p1'], undefined]);
  assert.deepEqual(parts, [
    'text Let me *',
    'text see*.',
    'step Running edit\\_file a\\.ts…',
    'step Running resolve apply…',
    'text \n\nYour tur',
    'text n.',
    'linked **Waiting for your review**\n\n- [a\\.ts:1 old → new](p1) · The model recommends Apply: Fine \\*indeed\\*\\.',
    'button Apply redline.preview.apply p1  1',
    'button Discard redline.preview.discard p1  1',
    'button Open redline.preview.open p1',
  ]);
});

test('buttons of several previews are told apart by their ids, and only a few get them', async () => {
  const paths = ['a.ts', 'b.ts', 'c.ts', 'd.ts'];
  const { ask, parts } = setUp([{ toolCalls: paths.map(edit) }, { text: 'All four.' }], 'none');
  assert.deepEqual((await ask('Fix them')).pending, ['p1', 'p2', 'p3', 'p4']);
  const buttons = parts.filter(part => part.startsWith('button'));
  assert.equal(buttons.length, 9);
  assert.equal(buttons[3], 'button Apply p2 redline.preview.apply p2  1');
  const list = parts.find(part => part.startsWith('linked')) ?? assert.fail();
  for (const id of ['p1', 'p2', 'p3', 'p4']) assert.ok(list.includes(`](${id})`), id);
});

test('a plan has its own buttons, and one to send it back asks what should change', async () => {
  const { session, ask, parts } = setUp([
    { text: '# Rename it\n\n1. Do it.', toolCalls: recommend.toolCalls },
    { text: 'Your turn.' },
  ]);
  session.setPlanMode(true);
  assert.deepEqual((await ask('Plan it')).pending, ['p1']);
  assert.deepEqual(parts.slice(-4), [
    'linked **Waiting for your review**\n\n- [Plan: Rename it](p1)',
    'button Approve redline.preview.apply p1  1',
    'button Send Back… redline.preview.discardWithReason p1  1',
    'button Open redline.preview.open p1',
  ]);
});

test('what the model applied itself is listed without buttons, and waits for nobody', async () => {
  const { ask, parts } = setUp([{ toolCalls: [edit('a.ts')] }, recommend, { text: 'Done.' }], 'apply');
  assert.deepEqual((await ask('Fix it')).pending, []);
  assert.ok(parts.includes('linked - [a\\.ts:1 old → new](p1) · Applied by the model'), parts.join('\n'));
  assert.ok(!parts.some(part => part.startsWith('button')));
});

test('previews of earlier replies and of others are not listed again', async () => {
  const { ask, parts, stage } = setUp(
    [{ toolCalls: [edit('a.ts')] }, { text: 'One.' }, { text: 'Nothing.' }],
    'none',
  );
  await ask('Fix it');
  stage({ label: 'Of an extension', apply: () => Promise.resolve({ content: [] }) });
  assert.deepEqual((await ask('And now?')).pending, []);
  assert.deepEqual(parts, ['text Nothing.']);
});

test('an earlier turn is not part of the reply to a prompt that waits for it', async () => {
  const { session, begin, parts } = setUp([{ text: 'First.' }, { text: 'Second.' }]);
  const first = session.prompt('One');
  const reply = begin('Two');
  await Promise.all([first, session.prompt('Two')]);
  reply.finish();
  assert.deepEqual(parts, ['text Second.']);
});

test('what a prompt of the panel does after it is not part of the reply', async () => {
  const { session, begin, parts } = setUp(
    [{ text: 'Mine.' }, { text: 'Theirs.', toolCalls: [edit('b.ts')] }, { text: 'Done.' }],
    'none',
  );
  const reply = begin('Mine');
  const mine = session.prompt('Mine');
  await Promise.all([mine, session.prompt('Theirs')]);
  assert.deepEqual(reply.finish(), { pending: [] });
  assert.deepEqual(parts, ['text Mine.', 'end']);
});

test('a prompt of the panel that fails after it does not fail the reply', async () => {
  const { session, begin, parts } = setUp([
    { text: 'Mine.', toolCalls: [edit('a.ts')] },
    recommend,
    { text: 'Yours.' },
    { error: { code: 'unauthorized', message: 'No key.' } },
  ]);
  const reply = begin('Mine');
  const mine = session.prompt('Mine');
  await Promise.all([mine, session.prompt('Theirs')]);
  assert.deepEqual(reply.finish(), { pending: ['p1'] });
  assert.ok(parts.includes('button Apply redline.preview.apply p1  1'), parts.join('\n'));
});

test('what an earlier turn staged meanwhile is not offered by the reply', async () => {
  const { session, begin, parts } = setUp(
    [{ text: 'Theirs.', toolCalls: [edit('b.ts')] }, { text: 'Done.' }, { text: 'Mine.' }],
    'none',
  );
  const theirs = session.prompt('Theirs');
  const reply = begin('Mine');
  await Promise.all([theirs, session.prompt('Mine')]);
  assert.deepEqual(reply.finish(), { pending: [] });
  assert.deepEqual(parts, ['text Mine.']);
});

test('a prompt with the same text that comes first is another one', async () => {
  const { session, begin, parts } = setUp([{ text: 'Theirs.' }]);
  const reply = begin('Same', true);
  await session.prompt('Same');
  assert.deepEqual([reply.finish(), parts], [{ pending: [] }, []]);
});

test('a failed call is a step in the words of the user, not in those for the model', async () => {
  const { ask, parts } = setUp([{ toolCalls: [edit('gone.ts')] }, { text: 'Sorry.' }]);
  await ask('Fix it');
  assert.equal(parts[1], 'step Proposed a change to gone\\.ts · 1 failed');
});

test('a failed request, a stopped one and an answer that was cut off say so', async () => {
  const failing = setUp([{ text: 'Half', error: { code: 'unreachable', message: 'Nothing answers.' } }]);
  assert.deepEqual((await failing.ask('Hello')).failure, {
    message: 'Nothing answers.',
    code: 'unreachable',
  });
  assert.deepEqual(failing.parts, ['text Half']);

  const cut = setUp([{ text: 'A long', stopReason: 'length' }]);
  await cut.ask('Hello');
  assert.match(cut.parts.at(-1) ?? '', /cut off/);

  const stopped = setUp([{ text: 'Thinking', hang: true }]);
  const following = stopped.session.onDidEmit(
    event => event.type === 'message_update' && stopped.session.stop(),
  );
  const { failure } = await stopped.ask('Hello');
  following.dispose();
  assert.equal(failure, undefined);
  assert.match(stopped.parts.at(-1) ?? '', /Stopped/);
});
