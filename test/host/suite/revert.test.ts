import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { ScriptedServer } from '../../support/scriptedServer.ts';
import { connect, textOfRequest } from '../support/connect.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
} from '../support/redline.ts';

const edit = (path: string, old: string, now: string) => ({
  name: 'edit_file',
  arguments: { path, edits: [{ old, new: now }] },
});
const resolve = (action: 'apply' | 'discard') => ({
  name: 'resolve',
  arguments: { action, reason: 'Try it.' },
});
const LESSON = 'Rounding late loses cents: round each line.';

suite('revert_to_state', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(async () => {
    await givenFile('sum.ts', 'const sum = 1;\n');
    await givenFile('tax.ts', 'const tax = 1;\n');
  });

  teardown(async () => {
    await cleanUp(api);
    await server?.close();
    assert.deepEqual(server?.violations ?? [], []);
    server = undefined;
  });

  const text = async (path: string): Promise<string> => (await bytesOf(path)).toString();

  test('two failed attempts are abandoned: the lesson stays, their preview is discarded, the undo of what they applied is staged', async () => {
    await setting('revert.enabled', true);
    server = await connect(
      [
        { text: 'FIRST attempt', toolCalls: [edit('sum.ts', 'sum = 1', 'sum = FIRST')] },
        { text: 'Apply the FIRST', toolCalls: [resolve('apply')] },
        { text: 'SECOND attempt', toolCalls: [edit('tax.ts', 'tax = 1', 'tax = SECOND')] },
        {
          text: 'Both FIRST and SECOND fail.',
          toolCalls: [
            { name: 'revert_to_state', arguments: { category: 'failure', step: 'n0', summary: LESSON } },
          ],
        },
        { text: 'Now I know better.' },
        { text: 'Thank you.' },
      ],
      { modelAuthority: 'apply', forcing: 'off' },
    );
    await api.session.prompt('Fix the cents.');

    const { messages = [] } = server.requests[4]?.body ?? {};
    assert.equal(
      messages.find(({ role }) => role === 'user')?.content,
      `[n0] Fix the cents. [revert-lesson: ${LESSON} (abandoned: edit_file, resolve)]`,
    );
    assert.ok(!messages.some(({ role }) => role === 'assistant' || role === 'tool'));
    assert.ok(!/FIRST|SECOND|sum\.ts|tax\.ts/.test(textOfRequest(server, 4)), textOfRequest(server, 4));

    const [first, second] = api.previews.ledger().slice(-2);
    assert.deepEqual([first?.outcome, first?.actor], ['applied', 'model']);
    assert.deepEqual(
      [second?.label, second?.action, second?.outcome, second?.actor, second?.reason],
      ['Edit tax.ts (1 edit)', 'discard', 'discarded', 'model', 'abandoned by revert to n0'],
    );
    assert.deepEqual(
      [await text('sum.ts'), await text('tax.ts')],
      ['const sum = FIRST;\n', 'const tax = 1;\n'],
    );

    const [undo, ...others] = api.previews.list();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [undo?.label, undo?.files],
      ['Undo 1 change of the abandoned branch', [{ path: 'sum.ts', kind: 'modify' }]],
    );
    await vscode.commands.executeCommand('redline.preview.apply', undo?.id, undefined, undo?.revision);
    assert.equal(await text('sum.ts'), 'const sum = 1;\n');
    assert.equal(api.previews.ledger().at(-1)?.actor, 'human');

    const reopened = await vscode.commands.executeCommand('redline.preview.reopen', second?.previewId);
    assert.equal(api.previews.get(String(reopened))?.label, 'Edit tax.ts (1 edit)');
  });

  test('asking again sends the last prompt once more; what the first answer proposed is discarded', async () => {
    server = await connect(
      [
        { text: 'First try.', toolCalls: [edit('sum.ts', 'sum = 1', 'sum = FIRST')] },
        { text: 'Look at it.' },
        { text: 'Second try.', toolCalls: [edit('sum.ts', 'sum = 1', 'sum = SECOND')] },
        { text: 'Look again.' },
        // Once the last preview is applied, the session goes on.
        { text: 'Good.' },
      ],
      { modelAuthority: 'none', forcing: 'off' },
    );
    await api.session.prompt('Fix the sum.');
    const [first] = api.previews.list();
    await vscode.commands.executeCommand('redline.session.retry');

    const asked = server.requests[2]?.body.messages.filter(
      ({ role }) => role === 'user' || role === 'assistant',
    );
    assert.deepEqual(
      asked?.map(({ role, content }) => [role, content]),
      [['user', 'Fix the sum.']],
    );
    assert.equal(
      api.previews.ledger().find(({ previewId }) => previewId === first?.id)?.outcome,
      'discarded',
    );
    const [second, ...others] = api.previews.list();
    assert.deepEqual(others, []);
    await vscode.commands.executeCommand('redline.preview.apply', second?.id, undefined, second?.revision);
    assert.equal(await text('sum.ts'), 'const sum = SECOND;\n');
  });

  test('an exported log holds the whole conversation, exported Markdown what a reader wants', async () => {
    await setting('revert.enabled', true);
    const revert = {
      name: 'revert_to_state',
      arguments: { category: 'failure', step: 'n0', summary: LESSON },
    };
    server = await connect(
      [
        { text: 'FIRST attempt', toolCalls: [edit('sum.ts', 'sum = 1', 'sum = FIRST')] },
        { text: 'It fails.', toolCalls: [revert] },
        { text: '[n0] Now I know better.' },
      ],
      { modelAuthority: 'apply', forcing: 'off' },
    );
    await api.session.prompt('Fix the cents.');
    const exported = async (name: string): Promise<string> => {
      await givenFile(name, '');
      await vscode.commands.executeCommand(
        'redline.session.export',
        undefined,
        vscode.Uri.file(fileInWorkspace(name)),
      );
      return text(name);
    };

    const [header, ...entries] = (await exported('talk.jsonl'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string });
    assert.deepEqual(header, { log: 'redline.session', version: 2 });
    const types = entries.map(({ type }) => type).filter(type => type !== 'state');
    assert.deepEqual(types, [
      'message',
      'settings',
      'message',
      'preview',
      'message',
      'message',
      'message',
      'message',
      'revert',
      'resolution',
      'settings', // of another branch
      'message',
    ]);

    const markdown = await exported('talk.md');
    assert.match(markdown, /^# Fix the cents\.\n\n## You\n\nFix the cents\.\n\n/);
    assert.match(
      markdown,
      /> \*\*p\d+ discarded\*\* \(model\) Edit sum\.ts \(1 edit\): abandoned by revert to n0\n/,
    );
    assert.ok(markdown.includes(`> **revert-lesson**: ${LESSON} (abandoned: edit_file)`), markdown);
    assert.match(markdown, /\n\n## Redline\n\nNow I know better\.\n$/);
    assert.ok(!markdown.includes('FIRST'));
  });

  test('without opting in, the tool is not offered and messages are not numbered', async () => {
    server = await connect([{ text: 'Hello.' }]);
    await api.session.prompt('Hi.');
    assert.ok(!server.requests[0]?.body.tools?.some(tool => tool.function.name === 'revert_to_state'));
    assert.equal(server.requests[0]?.body.messages.at(-1)?.content, 'Hi.');
  });
});
