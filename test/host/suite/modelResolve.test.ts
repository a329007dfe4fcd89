import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { ScriptedServer } from '../../support/scriptedServer.ts';
import { connect, textOfRequest } from '../support/connect.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, until } from '../support/redline.ts';

const OLD = 'const answer = 41;\n';
const NEW = 'const answer = 42;\n';
const editCall = {
  name: 'edit_file',
  arguments: { path: 'wire.ts', edits: [{ old: 'answer = 41', new: 'answer = 42' }] },
};
const resolveCall = (action: 'apply' | 'discard', reason: string) => ({
  name: 'resolve',
  arguments: { action, reason },
});

suite('a model behind an OpenAI-compatible server that enforces tool_choice', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(() => givenFile('wire.ts', OLD));

  teardown(async () => {
    await cleanUp(api);
    await server?.close();
    assert.deepEqual(server?.violations ?? [], []);
    server = undefined;
  });

  const text = async (): Promise<string> => (await bytesOf('wire.ts')).toString();

  test('Auto: the edit is held back, the model is forced to resolve and reminded, and its apply changes the file', async () => {
    const onDiskAtRequest: string[] = [];
    server = await connect(
      async (_request, n) => {
        onDiskAtRequest.push(await text());
        if (n === 0) return { toolCalls: [editCall] };
        if (n === 1) return { toolCalls: [resolveCall('apply', 'It is the answer.')] };
        return { text: 'Done.' };
      },
      { modelAuthority: 'apply' },
    );
    await api.session.prompt('Correct the answer.');

    assert.deepEqual(onDiskAtRequest, [OLD, OLD, NEW]);
    const forced = server.requests[1]?.body;
    assert.deepEqual(forced?.tool_choice, { type: 'function', function: { name: 'resolve' } });
    const { previewId: id } = latest(api);
    assert.equal(
      forced.messages.at(-1)?.content,
      '<system-reminder>\nThis is a preview. Call the `resolve` tool to apply or discard these changes.\n</system-reminder>\n' +
        `Pending: ${id} (Edit wire.ts (1 edit))`,
    );
    const staged = forced.messages.at(-2)?.content;
    assert.match(
      typeof staged === 'string' ? staged : '',
      new RegExp(`^Staged as ${id}, no file modified yet\\.`),
    );
    assert.equal(server.requests[2]?.body.tool_choice, undefined, 'forced once');
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.deepEqual(result?.details, {
      action: 'apply',
      reason: 'It is the answer.',
      sourceToolName: 'edit_file',
      label: 'Edit wire.ts (1 edit)',
    });
    assert.equal(latest(api).actor, 'model');
    assert.equal(api.session.state, 'idle');
  });

  test('Review: the apply is recorded, a click applies, and the session continues with the outcome', async () => {
    server = await connect([
      { toolCalls: [editCall] },
      { toolCalls: [resolveCall('apply', 'It is the answer.')] },
      { text: 'Waiting for you.' },
      { text: 'Thank you.' },
    ]);
    await api.session.prompt('Correct the answer.');

    assert.equal(await text(), OLD);
    assert.equal(api.session.state, 'awaitingReview');
    const preview = api.previews.peek();
    assert.deepEqual(preview?.recommendation, { action: 'apply', reason: 'It is the answer.' });
    assert.match(textOfRequest(server, 2), /The user decides; (it has|they have) changed nothing yet/);

    await vscode.commands.executeCommand('redline.preview.apply', preview.id, undefined, preview.revision);
    assert.equal(await text(), NEW);
    await until(
      api.session.onDidEmit,
      () => (api.session.state === 'idle' ? true : undefined),
      'the session to go on',
    );
    assert.equal(server.requests.length, 4);
    assert.equal(
      server.requests[3]?.body.messages.at(-1)?.content,
      `The user applied ${preview.id} (Edit wire.ts (1 edit)).`,
    );
  });

  test('Review: the model is told of the user’s discard as a decision, with the reason', async () => {
    server = await connect([
      { toolCalls: [editCall] },
      { toolCalls: [resolveCall('apply', 'It is the answer.')] },
      { text: 'Waiting for you.' },
      { text: 'I see.' },
    ]);
    await api.session.prompt('Correct the answer.');
    const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
    await vscode.commands.executeCommand('redline.preview.discard', id, '41 is right');
    await server.request(3);
    assert.equal(
      server.requests[3]?.body.messages.at(-1)?.content,
      `The user discarded ${id} (Edit wire.ts (1 edit)). This is the user's decision, not a failure. Reason: "41 is right"`,
    );
    assert.equal(await text(), OLD);
    await until(
      api.session.onDidEmit,
      () => (api.session.state === 'idle' ? true : undefined),
      'the session to go on',
    );
  });

  test('Review: the discard of the model executes', async () => {
    server = await connect([
      { toolCalls: [editCall] },
      { toolCalls: [resolveCall('discard', 'Wrong file.')] },
      { text: 'Never mind.' },
    ]);
    await api.session.prompt('Correct the answer.');
    assert.equal(await text(), OLD);
    assert.equal(latest(api).outcome, 'discarded');
    assert.match(textOfRequest(server, 2), /Discarded: Edit wire.ts \(1 edit\)\. Reason: Wrong file\./);
    assert.equal(api.session.state, 'idle');
  });

  test('Review, by default: the model works undisturbed and votes once when its turn would end', async () => {
    server = await connect(
      [{ toolCalls: [editCall] }, { text: 'Corrected.' }, { toolCalls: [resolveCall('apply', 'The fix.')] }],
      { forcing: 'auto' },
    );
    await api.session.prompt('Correct the answer.');
    assert.equal(server.requests.length, 3, 'no request after a vote that was only recorded');
    assert.deepEqual(
      server.requests.map(({ body }) => body.tool_choice !== undefined),
      [false, false, true],
    );
    assert.equal(api.session.state, 'awaitingReview');
    assert.equal(await text(), OLD);
  });

  test('resolve with nothing pending', async () => {
    server = await connect([{ toolCalls: [resolveCall('apply', 'why not')] }, { text: 'Oh.' }]);
    await api.session.prompt('Resolve it.');
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.equal(result?.content, 'No pending action to resolve. Nothing to apply or discard.');
    assert.equal(result.isError, true);
  });

  test('a resolve in the message that staged the preview is refused: the model has not seen it', async () => {
    const both = { toolCalls: [editCall, resolveCall('apply', 'blindly')] };
    server = await connect(
      [both, { toolCalls: [resolveCall('discard', 'on second thought')] }, { text: 'Fine.' }],
      { modelAuthority: 'apply' },
    );
    await api.session.prompt('Correct the answer.');
    assert.equal(await text(), OLD);
    assert.match(textOfRequest(server, 1), /have not seen it yet/);
  });

  test('a lens and the model race for one preview: applied once, the loser is told', async () => {
    let lens: Thenable<unknown> | undefined;
    server = await connect(
      async (_request, n) => {
        if (n === 0) return { toolCalls: [editCall] };
        if (n > 1) return { text: 'Done.' };
        const { id, revision } = api.previews.peek() ?? assert.fail('a preview is pending');
        lens = vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);
        return { toolCalls: [resolveCall('apply', 'me first')] };
      },
      { modelAuthority: 'apply' },
    );
    await api.session.prompt('Correct the answer.');
    await lens;
    assert.equal(await text(), NEW);
    const { previewId: id } = latest(api);
    const entries = api.previews.ledger().filter(entry => entry.previewId === id);
    assert.deepEqual(
      entries.map(entry => entry.outcome),
      ['applied'],
      'one attempt, one success',
    );
    const result = api.session
      .messages()
      .find(message => message.role === 'tool' && message.toolName === 'resolve');
    assert.ok(result?.role === 'tool');
    if (entries[0]?.actor === 'human')
      assert.match(result.content, /was already resolved by the user: applied/);
    else assert.match(result.content, /^Applied: /);
  });

  test('two resolvers at once: the second waits for the first and is told who resolved it', async () => {
    server = await connect([
      { toolCalls: [editCall] },
      { toolCalls: [resolveCall('apply', 'ok')] },
      { text: 'Waiting.' },
      { text: 'Done.' },
    ]);
    await api.session.prompt('Correct the answer.');
    const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
    const [first, second] = await Promise.all([
      api.previews.resolve({ id, action: 'apply', reason: 'first' }),
      api.previews.resolve({ id, action: 'discard', reason: 'too late' }),
    ]);
    assert.match(first.content[0]?.text ?? '', /Applied: p\d+ \(Edit wire.ts/);
    assert.match(second.content[0]?.text ?? '', /was already resolved by another extension: applied/);
    assert.equal(await text(), NEW);
    await until(
      api.session.onDidEmit,
      () => (api.session.state === 'idle' ? true : undefined),
      'the session to go on',
    );
  });
});

function latest(api: RedlineApi) {
  return api.previews.ledger().at(-1) ?? assert.fail('the ledger has an entry');
}
