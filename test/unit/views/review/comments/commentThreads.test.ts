import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import type { StopReason } from '../../../../../src/agent/session/model/messages.ts';
import type { SessionEvent } from '../../../../../src/agent/session/events.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { modify } from '../../../../support/changes.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { CommentThreads } = await import('../../../../../src/views/review/comments/commentThreads.ts');

Object.assign(stub.Uri, {
  from: (parts: { readonly path: string }) => Object.assign(new stub.Uri(parts.path), parts),
});

interface Shown {
  readonly body: string;
  readonly author: { readonly name: string };
  readonly mode: number;
}

interface Thread {
  readonly range: stub.Range;
  readonly dispose: () => void;
  readonly uri: stub.Uri;
  readonly comments: readonly Shown[];
  readonly canReply: boolean;
  readonly contextValue: string;
}

function given() {
  const threads: Thread[] = [];
  const names: string[] = [];
  /** What of threads was set since it was asked last. */
  const told = (): string[] => names.splice(0);
  const { createCommentController } = stub.comments;
  Object.assign(stub.comments, {
    createCommentController: () => ({
      ...createCommentController(),
      createCommentThread: (uri: stub.Uri, range: stub.Range, comments: readonly unknown[]) => {
        const made: Thread = {
          uri,
          range,
          canReply: true,
          contextValue: '',
          comments: comments as readonly Shown[],
          dispose: () => void threads.splice(threads.indexOf(thread), 1),
        };
        const thread = new Proxy(made, {
          set: (target, name, value) => {
            names.push(String(name));
            return Reflect.set(target, name, value);
          },
        });
        threads.push(thread);
        return thread;
      },
    }),
  });
  const item = { text: '', show: () => undefined, hide: () => (item.text = ''), dispose: () => undefined };
  const said: string[] = [];
  Object.assign(stub.window, {
    createStatusBarItem: () => item,
    setStatusBarMessage: (text: string) => void said.push(text),
  });
  const infos: string[] = [];
  Object.assign(stub.window, {
    showInformationMessage: (text: string) => Promise.resolve(void infos.push(text)),
  });
  const harness = new InvokerHarness('none');
  harness.workspace.put('b.txt', 'a\nb\nc\n');
  const { id } = harness.stage({ changes: [modify('b.txt', 'a\nb\nc\n', 'A\nb\nC\n')] });
  const events = new Emitter<SessionEvent>();
  const prompts: string[] = [];
  const queue: { list: { text: string }[]; moment: number } = { list: [], moment: 0 };
  const session = {
    id: 's1',
    queue,
    onDidEmit: events.event,
    prompt: (text: string) => {
      prompts.push(text);
      setQueue([...queue.list, { text }]);
      if (!isBusy) run(text);
      return Promise.resolve();
    },
  };
  const setQueue = (list: { text: string }[]): void => {
    queue.list = list;
    events.fire({ type: 'queue_changed' });
  };
  /** The model works on something else, so that a prompt waits. */
  let isBusy = false;
  const busy = (): void => void (isBusy = true);
  const run = (text: string): void => {
    events.fire({ type: 'state_changed', state: 'running' });
    setQueue(queue.list.filter(prompt => prompt.text !== text));
    events.fire({ type: 'message_end', message: { role: 'user', text } });
  };
  const files = (path: string): stub.Uri => stub.Uri.file(`/folder/${path}`);
  const agent = { store: harness.store, session, files, logger: silentLogger };
  const shown = new CommentThreads(agent as never, undefined);
  const comment = (line: number, text: string) =>
    shown.comments.add({ previewId: id, path: 'b.txt', side: 'proposal', line }, text)?.id ?? assert.fail();
  /** One request, which the loop calls a turn. */
  const say = (text: string, stopReason: StopReason = 'stop'): void => {
    events.fire({ type: 'message_end', message: { role: 'assistant', text, toolCalls: [], stopReason } });
    events.fire({ type: 'turn_end', stopReason });
  };
  const end = (): void => events.fire({ type: 'state_changed', state: 'idle' });
  const read = (): string[][] =>
    threads.map(({ comments }) => comments.map(({ author, body }) => `${author.name}: ${body}`));
  return {
    threads,
    said,
    shown,
    comment,
    say,
    busy,
    run,
    end,
    read,
    prompts,
    events,
    harness,
    id,
    told,
    infos,
    item,
    session,
    setQueue,
  };
}

test('what the model says to each comment stands below it, and the person goes on there', async () => {
  const { threads, shown, comment, say, end, read, prompts } = given();
  comment(0, 'Why?');
  comment(2, 'And here?');
  await shown.send();
  assert.match(prompts[0] ?? '', /\[c1\] p1, b\.txt, line 1[^]*\[c2\] p1, b\.txt, line 3/);
  say('[c1] It is a heading.');
  say('[c2] It is one, too.');
  end();
  assert.deepEqual(read(), [
    ['You: Why?', 'Redline: It is a heading.'],
    ['You: And here?', 'Redline: It is one, too.'],
  ]);
  assert.deepEqual(
    threads.map(({ canReply }) => canReply),
    [true, true],
  );
  shown.add({ thread: threads[0], text: 'Of what?' } as never);
  assert.deepEqual(read()[0], ['You: Why?', 'Redline: It is a heading.', 'You: Of what?']);
  assert.deepEqual([threads[0]?.canReply, threads[0]?.contextValue], [false, 'draft']);
  await shown.send();
  say('Of the list.');
  end();
  assert.deepEqual(read()[0]?.slice(2), ['You: Of what?', 'Redline: Of the list.'], 'one needs no number');
});

test('where the model names none of several comments, each says that the answer is in the chat', async () => {
  const { shown, comment, say, end, read } = given();
  comment(0, 'Why?');
  comment(2, 'And here?');
  await shown.send();
  say('Both are headings.');
  end();
  assert.deepEqual(
    read().map(thread => thread[1]),
    ['Redline: The answer is in the chat.', 'Redline: The answer is in the chat.'],
  );
});

test('the answer to a comment is what the model says when its work is done, not what it said on the way', async () => {
  const { shown, comment, say, end, read } = given();
  comment(0, 'Why?');
  await shown.send();
  say('Let me read the file first.', 'toolCalls');
  assert.deepEqual(read(), [['You: Why?']]);
  say('It is a heading.');
  end();
  assert.deepEqual(read(), [['You: Why?', 'Redline: It is a heading.']]);
});

test('what is said on something else, while the review waits for its turn, is no answer', async () => {
  const { shown, comment, say, busy, run, end, read, prompts, events } = given();
  busy();
  comment(0, 'Why?');
  await shown.send();
  say('I have renamed the variable.');
  run(prompts[0] ?? '');
  assert.deepEqual(read(), [['You: Why?']]);
  say('It is');
  events.fire({ type: 'reset' });
  end();
  assert.deepEqual(read(), [['You: Why?']], 'another conversation is open');
});

test('a turn that was stopped, or failed, answers nothing', async () => {
  for (const stopReason of ['aborted', 'error'] as const) {
    const { shown, comment, say, end, read } = given();
    comment(0, 'Why?');
    await shown.send();
    say('Let me', stopReason);
    end();
    assert.deepEqual(read(), [['You: Why?']]);
  }
});

test('a prompt that follows ends the answer', async () => {
  const { shown, comment, say, run, end, read } = given();
  comment(0, 'Why?');
  await shown.send();
  say('It is a heading.');
  run('Now the tests, please.');
  say('They pass.');
  end();
  assert.deepEqual(read(), [['You: Why?', 'Redline: It is a heading.']]);
});

test('a comment stays when its file or hunk is decided alone, where that is shown', async () => {
  const { threads, shown, comment, read, prompts, harness, id } = given();
  const { store, invoker, workspace } = harness;
  comment(0, 'Why?');
  comment(2, 'And here?');
  const uris = (): string[] =>
    threads.map(({ uri }) => `${(uri as stub.Uri & { authority: string }).authority}${uri.path}`);
  const vote = { id, action: 'discard', actor: 'human', reason: 'no' } as const;
  await resolvePart({ store, invoker }, { ...vote, revision: 1 }, { path: 'b.txt', hunk: 0 });
  assert.deepEqual(uris(), ['p1/folder/b.txt', 'p2/folder/b.txt']);
  assert.deepEqual(read(), [['You: And here?'], ['You: Why?']]);
  await shown.send();
  assert.match(prompts[0] ?? '', /\[c1\] p2, b\.txt, line 1 of the preview, hunk 1:\n> A/);
  workspace.put('c.txt', 'a\n');
  const changes = [modify('b.txt', 'a\nb\nc\n', 'a\nb\n3\n'), modify('c.txt', 'a\n', 'c\n')];
  const both = harness.stage({ changes }).id;
  shown.comments.add({ previewId: both, path: 'c.txt', side: 'proposal', line: 0 }, 'C?');
  await resolvePart({ store, invoker }, { ...vote, id: both, revision: 1 }, { path: 'c.txt' });
  assert.deepEqual(shown.comments.all.at(-1)?.previewId, 'p4');
  assert.equal(uris().at(-1), `${both}/folder/c.txt`, 'the diff that is open goes on showing it');
});

test('a comment that waits can be deleted also if the preview no longer changes the file', async () => {
  const { threads, shown, comment, harness, id } = given();
  const commentId = comment(0, 'Why?');
  await harness.store.revise(id, [modify('a.txt', 'a', 'A')], [], 'user');
  assert.deepEqual(
    threads.map(({ uri, contextValue }) => [uri.path, contextValue]),
    [['/folder/b.txt', 'draft']],
  );
  shown.remove({ commentId } as never);
  assert.deepEqual(threads, []);
});

test('what is typed into a comment stays whatever happens to others, and is not sent half-way', async () => {
  const { threads, shown, comment, read, prompts, told, infos } = given();
  const first = comment(0, 'Why?');
  const second = comment(1, 'Here?');
  for (const commentId of [first, second]) shown.edit({ commentId } as never);
  const edited = threads.map(({ comments }) => comments[0]);
  told();
  comment(2, 'And here?');
  assert.deepEqual(told(), [
    'range',
    'comments',
    'canReply',
    'contextValue',
    'label',
    'state',
    'collapsibleState',
  ]);
  assert.ok(threads.slice(0, 2).every(({ comments }, n) => comments[0] === edited[n]));
  await shown.send();
  assert.deepEqual([prompts, told()], [[], []]);
  assert.deepEqual(infos, ['Save or cancel the comment that you are editing first.']);
  // VS Code puts what was typed into the comment that it gives to a command.
  const typed = Object.assign(edited[0] ?? assert.fail(), { body: 'Why so loud?' });
  shown.cancelEdit(typed as never);
  assert.deepEqual(read()[0], ['You: Why?']);
  assert.deepEqual(
    threads.map(({ comments }) => comments[0]?.mode),
    [stub.CommentMode.Preview, stub.CommentMode.Editing, stub.CommentMode.Preview],
  );
  shown.saveEdit(Object.assign(edited[1] ?? assert.fail(), { body: ' ' }) as never);
  assert.deepEqual(read()[1], ['You: Here?'], 'without a text it stays as it is');
  await shown.send();
  assert.equal(prompts.length, 1);
});

test('two clicks send one review; what is written meanwhile waits for the next', async () => {
  const { shown, comment, prompts } = given();
  comment(0, 'Why?');
  const sending = [shown.send(), shown.send()];
  comment(2, 'And here?');
  await Promise.all(sending);
  assert.equal(prompts.length, 1);
  assert.match(prompts[0] ?? '', /1 comment\./);
  assert.deepEqual(
    shown.comments.all.map(({ isSent }) => isSent),
    [true, false],
  );
});

test('a review that goes back to the user was not sent, until its text is', async () => {
  const { shown, comment, busy, run, say, end, read, prompts, setQueue } = given();
  busy();
  comment(0, 'Why?');
  const isSent = (): boolean | undefined => shown.comments.all[0]?.isSent;
  await shown.send();
  await Promise.resolve();
  assert.equal(isSent(), true);
  setQueue([]);
  await Promise.resolve();
  assert.equal(isSent(), false);
  run(prompts[0] ?? '');
  assert.equal(isSent(), true);
  say('It is a heading.');
  end();
  assert.deepEqual(read(), [['You: Why?', 'Redline: It is a heading.']]);
});

test('a review does not go into the conversation that is begun while its message is made', async () => {
  const { shown, comment, prompts, said, session, events } = given();
  comment(0, 'Why?');
  const { prompt } = session;
  Object.assign(session, {
    // As the session does while another one is being opened.
    prompt: (text: string, attachments: readonly [], since?: number) => {
      if (since === undefined) return prompt(text);
      events.fire({ type: 'prompts_returned', prompts: [{ text, attachments }] });
      return Promise.resolve();
    },
  });
  await shown.send();
  assert.deepEqual([prompts, said, shown.comments.all.map(({ isSent }) => isSent)], [[], [], [false]]);
  Object.assign(session, { prompt });
  await shown.send();
  assert.deepEqual([prompts.length, said], [1, ['The review was sent']]);
});

test('what another conversation proposed waits for it, and that is said', async () => {
  const { shown, comment, prompts, infos, item, session, events, say, read } = given();
  comment(0, 'Why?');
  session.id = 's2';
  events.fire({ type: 'reset' });
  assert.match(item.text, /Send Review \(1 for another conversation\)/);
  await shown.send();
  assert.deepEqual(prompts, []);
  assert.match(infos.join(), /^1 comment is on what another conversation proposed/);
  session.id = 's1';
  events.fire({ type: 'reset' });
  await shown.send();
  assert.equal(prompts.length, 1);
  session.id = 's2';
  events.fire({ type: 'reset' });
  say('[c1] Of something else.');
  assert.deepEqual(read(), [['You: Why?']]);
});

test('a comment is edited in its place, kept or thrown away, and deleted', () => {
  const { threads, shown, comment, read } = given();
  const commentId = comment(0, 'Why?');
  const typed = { commentId, body: 'Why so loud?' } as never;
  shown.edit(typed);
  assert.equal(threads[0]?.comments[0]?.mode, stub.CommentMode.Editing);
  shown.cancelEdit(typed);
  assert.deepEqual([read(), threads[0]?.comments[0]?.mode], [[['You: Why?']], stub.CommentMode.Preview]);
  shown.edit(typed);
  shown.saveEdit(typed);
  assert.deepEqual(read(), [['You: Why so loud?']]);
  shown.remove(typed);
  assert.deepEqual(threads, []);
});
