import * as assert from 'node:assert/strict';
import { mkdir, rm, symlink } from 'node:fs/promises';
import type { SessionMessage } from '../../../src/agent/session/model/messages.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { Reply, ScriptedServer } from '../../support/scriptedServer.ts';
import { connect } from '../support/connect.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
} from '../support/redline.ts';

suite('bad input: a clear message, and the session stays usable', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(() => givenFile('bad.ts', 'let x = 1;\n'));

  teardown(async () => {
    await cleanUp(api);
    await server?.close();
    server = undefined;
  });

  /** The result of one tool call of the model. The model then ends its turn, and the session must be idle. */
  const resultOf = async (name: string, args: unknown): Promise<string> => {
    server = await connect([
      { toolCalls: [{ name, arguments: args as object | string }] },
      { text: 'I see.' },
    ]);
    await api.session.prompt('Go.');
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.ok(result);
    assert.equal(result.isError, true);
    assert.equal(api.session.state, 'idle');
    assert.deepEqual(api.previews.list(), []);
    assert.deepEqual(server.violations, []);
    return result.content;
  };

  test('malformed tool JSON', async () => {
    assert.match(
      await resultOf('edit_file', '{"path": "bad.ts", "edits": ['),
      /arguments of edit_file are not valid JSON .* call it again/,
    );
  });

  test('arguments that the schema refuses name the field', async () => {
    assert.match(
      await resultOf('edit_file', { path: 'bad.ts', edits: 'x' }),
      /Invalid arguments for edit_file\. edits: /,
    );
  });

  test('an unknown tool', async () => {
    assert.match(
      await resultOf('format_disk', {}),
      /There is no tool named format_disk\. Available: read_file, list_files, /,
    );
  });

  test('an unknown file', async () => {
    assert.match(
      await resultOf('read_file', { path: 'nowhere.ts' }),
      /There is no file nowhere\.ts\. Use list_files/,
    );
  });

  test('paths outside the workspace: .., absolute, through a symlink, .git', async () => {
    await symlink('/etc', fileInWorkspace('escape'));
    await mkdir(fileInWorkspace('.git'), { recursive: true });
    try {
      assert.match(await resultOf('read_file', { path: '../secret.txt' }), /is outside the workspace/);
      await server?.close();
      assert.match(
        await resultOf('write_file', { path: '/etc/passwd', content: '' }),
        /is outside the workspace/,
      );
      await server?.close();
      assert.match(
        await resultOf('read_file', { path: 'escape/passwd' }),
        /leads outside the workspace through a symbolic link/,
      );
      await server?.close();
      assert.match(
        await resultOf('write_file', { path: '.git/config', content: '' }),
        /belongs to git itself/,
      );
    } finally {
      await rm(fileInWorkspace('escape'));
      await rm(fileInWorkspace('.git'), { recursive: true });
    }
  });

  test('an old text that is not there names the nearest line', async () => {
    assert.match(
      await resultOf('edit_file', { path: 'bad.ts', edits: [{ old: 'let x = 2;', new: '' }] }),
      /old was not found in bad\.ts\. The nearest lines are:\n1: let x = 1;/,
    );
  });

  /** The message with which a prompt failed. The next prompt must work. */
  const failureOf = async (): Promise<string> => {
    const said: SessionMessage[] = [];
    const events = api.session.onDidEmit(event => {
      if (event.type === 'message_end') said.push(event.message);
    });
    await api.session.prompt('Hello?');
    events.dispose();
    const answer = said.at(-1);
    assert.ok(answer?.role === 'assistant');
    assert.equal(answer.stopReason, 'error');
    assert.equal(api.session.state, 'idle');
    await setting('provider', 'offline');
    await api.session.prompt('/edit bad.ts :: x = 1 => x = 2');
    assert.equal(api.previews.list().length, 1);
    assert.equal((await bytesOf('bad.ts')).toString(), 'let x = 1;\n');
    return answer.error ?? '';
  };

  test('the server is down', async () => {
    server = await connect([]);
    const { port } = new URL(server.baseUrl);
    await server.close();
    assert.match(await failureOf(), new RegExp(`127\\.0\\.0\\.1:${port}`));
  }).timeout(60_000);

  test('401', async () => {
    server = await connect([], { key: 'right' });
    assert.match(await failureOf(), /key/i);
  });

  test('no model is set', async () => {
    await setting('provider', 'openai');
    assert.match(await failureOf(), /No model is chosen/);
  });

  test('a stream that breaks midway executes nothing half-parsed', async () => {
    const cut: Reply = {
      raw: [
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"write_file","arguments":"{\\"path\\":"}}]}}]}',
        '',
      ],
      cut: true,
    };
    server = await connect(() => cut);
    assert.notEqual(await failureOf(), '');
  }).timeout(60_000);
});
