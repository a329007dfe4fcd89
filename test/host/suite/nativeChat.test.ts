import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createOfflineProvider } from '../../../src/agent/session/model/offline/provider.ts';
import { askUserTool } from '../../../src/agent/session/tools/askUser.ts';
import { askUser } from '../../../src/views/askUser.ts';
import { Questions } from '../../../src/views/questions.ts';
import type { ChatCtx } from '../../../src/views/chat/hostedCommands.ts';
import { RequestHandler, type ReplyMetadata } from '../../../src/views/chat/nativeChat/requestHandler.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { Gate } from '../../support/gate.ts';
import type { Script } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';
import { useVendor } from '../support/modelVendor.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

suite('@redline in VS Code’s own chat', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** Sends a request in the real chat. */
  const ask = (query: string, attachFiles: readonly unknown[] = []): Thenable<unknown> =>
    vscode.commands.executeCommand('workbench.action.chat.open', { query: `@redline ${query}`, attachFiles });
  const idleAfter = (requests: readonly unknown[], count: number): Promise<true> =>
    until(
      api.session.onDidEmit,
      () => (requests.length === count && api.session.state === 'idle' ? true : undefined),
      `request ${count} to be answered`,
    );

  test('/new begins a new session, and a prompt with it is the first one there', async () => {
    const vendor = await useVendor([{ text: 'One.' }, { text: 'Two.' }]);
    await ask('First words.');
    await idleAfter(vendor.requests, 1);
    await ask('/new Second words.');
    await idleAfter(vendor.requests, 2);
    assert.equal(api.session.messages().length, 2);
    const sent = JSON.stringify(vendor.requests[1]?.messages);
    assert.match(sent, /Second words\./);
    assert.doesNotMatch(sent, /First words\./);
  });

  test('files that are attached there go with the prompt', async () => {
    await givenFile('attached.txt', 'one\ntwo\nthree\nfour\n');
    const vendor = await useVendor([{ text: 'Read.' }]);
    const uri = vscode.Uri.file(fileInWorkspace('attached.txt'));
    await ask('What is this?', [uri]);
    await idleAfter(vendor.requests, 1);
    assert.match(JSON.stringify(vendor.requests[0]?.messages), /attached\.txt.*one\\ntwo\\nthree\\nfour/);
  });

  /** The handler on a session in memory, by default without a model, and a function that answers a request and returns its parts. */
  function setUp(files: Readonly<Record<string, string>> = {}, script?: Script) {
    const model = script ? { script } : { provider: createOfflineProvider() };
    const questions = new Questions();
    const t: TestSession = createTestSession({
      ...model,
      files,
      settings: { modelAuthority: 'recommend' },
      tools: [askUserTool((...asked) => askUser({ questions, session: t.session }, ...asked))],
    });
    const options: Partial<ChatCtx> = {
      session: t.session,
      store: t.store,
      questions,
      workspace: {
        read: (path: string) => t.workspace.read(path),
        encodingOf: () => t.workspace.encodingOf(),
        // The files in memory count as files of the open folder.
        resolvePath: async (input: string) => {
          const name = input.slice(input.lastIndexOf('/') + 1);
          return name in files ? name : Promise.reject(new Error('outside'));
        },
      } as unknown as ChatCtx['workspace'],
      model: () => ({ label: 'Offline', offline: true }),
      onWillPrompt: () => undefined,
      onDidFocus: () => undefined,
    };
    const handler = new RequestHandler(options as ChatCtx);
    const answer = async (
      request: Partial<Omit<vscode.ChatRequest, 'model'>> & { model?: object },
      { token } = new vscode.CancellationTokenSource(),
    ) => {
      const parts: string[] = [];
      const stream = {
        markdown: (text: string | vscode.MarkdownString) =>
          void parts.push(typeof text === 'string' ? text : text.value),
        progress: (text: string) => void parts.push(text),
        button: ({ title, command, arguments: args = [] }: vscode.Command) =>
          void parts.push(`[${title}] ${[command, ...(args as unknown[])].join(' ')}`),
      };
      const given = {
        prompt: 'Hello',
        references: [],
        model: { vendor: 'redline', id: 'participant', name: 'Redline' },
        ...request,
      };
      const result = await handler.handle(
        given as unknown as vscode.ChatRequest,
        stream as unknown as vscode.ChatResponseStream,
        token,
      );
      return { parts, metadata: result.metadata as unknown as ReplyMetadata };
    };
    return { ...t, handler, answer };
  }

  test('without a model, the one that is chosen in the chat is one click away; Redline’s own entry is none', async () => {
    const { answer } = setUp();
    const model = { vendor: 'copilot', id: 'gpt-x', name: 'GPT X' };
    const select = '[Select Model] redline.selectModel';
    const buttons = ({ parts }: { parts: string[] }): string[] => parts.filter(part => part.startsWith('['));
    assert.deepEqual(buttons(await answer({ model })), [
      '[Use GPT X] redline.selectModel copilot/gpt-x',
      select,
    ]);
    assert.deepEqual(buttons(await answer({})), [select]);
  });

  test('the follow-ups vote on what still waits; without a model and previews they list the commands', async () => {
    const files = { 'a.txt': 'old\n', 'b.txt': 'old\n' };
    const { answer, handler, click } = setUp(files);
    const labels = (metadata: ReplyMetadata): string[] =>
      handler.followups(metadata).map(({ label = '' }) => label);
    const one = await answer({ command: 'edit', prompt: 'a.txt :: old => new' });
    assert.deepEqual(labels(one.metadata), ['Apply a.txt:1 old → new', 'Discard a.txt:1 old → new']);
    assert.deepEqual(
      handler.followups(one.metadata).map(({ command, prompt }) => `/${command} ${prompt}`),
      ['/apply p1', '/discard p1'],
    );
    const two = await answer({ command: 'edit', prompt: 'b.txt :: old => new' });
    const waiting = { ...two.metadata, pending: ['p1', 'p2'] };
    assert.deepEqual(labels(waiting), [
      'Apply a.txt:1 old → new',
      'Discard a.txt:1 old → new',
      'Discard All Previews',
    ]);
    await click('p1', 'apply');
    assert.deepEqual(labels(waiting), ['Apply b.txt:1 old → new', 'Discard b.txt:1 old → new']);
    await click('p2', 'discard');
    assert.deepEqual(labels(waiting), ['List the commands']);
    assert.deepEqual(labels({ pending: [], offline: false }), []);
  });

  test('a question with choices cannot be shown there, so the model asks in its closing words', async () => {
    const { answer, results } = setUp({}, [
      { toolCalls: [{ name: 'ask_user', arguments: { question: 'Which?', choices: ['a', 'b'] } }] },
      { text: 'Which one: a or b?' },
    ]);
    const { parts } = await answer({ prompt: 'Store it.' });
    assert.match(results()[0]?.content ?? '', /^Questions with choices cannot be shown where the user is\./);
    assert.match(parts.join(''), /Which one: a or b\?/);
  });

  test('what cannot be attached is named in the reply; selections are attached as their lines', async () => {
    const { answer, session } = setUp({ 'attached.txt': 'one\ntwo\nthree\n' });
    const uri = vscode.Uri.file(fileInWorkspace('attached.txt'));
    const { parts } = await answer({
      references: [
        { id: 'selection', value: new vscode.Location(uri, new vscode.Range(1, 0, 1, 3)) },
        { id: 'outside', value: vscode.Uri.file('/elsewhere/secret.txt') },
        { id: 'terminal', value: 'some text' },
      ],
    });
    const [prompt] = session.messages;
    const attachments = prompt?.role === 'user' ? prompt.attachments : [];
    assert.equal(attachments?.length, 1);
    assert.match(JSON.stringify(attachments), /"attached\.txt".*two/);
    for (const name of ['secret\\.txt', 'terminal'])
      assert.ok(
        parts.some(part => part.includes('Not attached') && part.includes(name)),
        parts.join('\n'),
      );
  });

  test('cancelling a request takes back its own prompt, and leaves the turn of another one alone', async () => {
    const gate = new Gate();
    const work = () => gate.pass().then(() => ({ text: 'Long work.' }));
    const { answer, session, nextEvent, answers } = setUp({}, [work]);
    const theirs = session.prompt('Typed in the panel');
    await gate.reached;
    const source = new vscode.CancellationTokenSource();
    const queued = nextEvent(event => event.type === 'queue_changed');
    const mine = answer({ prompt: 'Mine' }, source);
    await queued;
    assert.deepEqual(
      session.queue.list.map(({ text }) => text),
      ['Mine'],
    );
    source.cancel();
    assert.deepEqual((await mine).parts, [], 'it is answered while the other turn still runs');
    assert.deepEqual([session.queue.list, session.state], [[], 'running']);
    gate.open();
    await theirs;
    assert.deepEqual(
      answers().map(({ text, stopReason }) => [text, stopReason]),
      [['Long work.', 'stop']],
    );
  });

  test('a request is answered when the next prompt begins, and cancelling stops only its own turn', async () => {
    const [first, second] = [new Gate(), new Gate()];
    const { answer, session, answers } = setUp({}, [
      () => first.pass().then(() => ({ text: 'Mine.' })),
      () => second.pass().then(() => ({ text: 'Theirs.' })),
      { text: 'Half', hang: true },
    ]);
    const source = new vscode.CancellationTokenSource();
    const mine = answer({ prompt: 'Mine' }, source);
    await first.reached;
    const theirs = session.prompt('Typed in the panel');
    first.open();
    await second.reached;
    const { parts } = await mine;
    source.cancel();
    second.open();
    await theirs;
    assert.equal(parts[0], 'Mine.');
    assert.deepEqual(
      answers().map(({ text, stopReason }) => [text, stopReason]),
      [
        ['Mine.', 'stop'],
        ['Theirs.', 'stop'],
      ],
    );
    const other = new vscode.CancellationTokenSource();
    const following = session.onDidEmit(({ type }) => type === 'message_update' && other.cancel());
    await answer({ prompt: 'Stop me' }, other);
    following.dispose();
    assert.equal(answers().at(-1)?.stopReason, 'aborted');
  });
});
