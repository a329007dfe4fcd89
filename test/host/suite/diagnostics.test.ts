import * as assert from 'node:assert/strict';
import * as os from 'node:os';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { TEXT_SCHEME } from '../../../src/views/contributions.ts';
import { connect } from '../support/connect.ts';
import { SCRIPTED_MODEL, useVendor } from '../support/modelVendor.ts';
import { activateRedline, cleanUp, fileInWorkspace, setting } from '../support/redline.ts';

suite('what a report of a bug needs', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** The text in front after the command. */
  const shownBy = async (command: string): Promise<string> => {
    await vscode.commands.executeCommand(command);
    const { document } = vscode.window.activeTextEditor ?? assert.fail('a document is open');
    assert.equal(document.uri.scheme, TEXT_SCHEME);
    assert.equal(document.languageId, 'markdown');
    return document.getText();
  };

  test('Show Last Request opens what a server, a language model of VS Code and the offline provider were sent', async () => {
    const server = await connect([{ text: 'Good day.' }]);
    try {
      await api.session.prompt('Greet me.');
    } finally {
      await server.close();
    }
    const asked = await shownBy('redline.showLastRequest');
    for (const part of ['"model": "scripted"', '### 2. user', 'Greet me.', '### edit_file'])
      assert.ok(asked.includes(part), part);

    await useVendor([{ text: 'Good day.' }]);
    await api.session.prompt('And again.');
    const askedVsCode = await shownBy('redline.showLastRequest');
    for (const part of [`vscode-lm:${SCRIPTED_MODEL}`, '"mode": "auto"', 'And again.'])
      assert.ok(askedVsCode.includes(part), part);
    assert.ok(!askedVsCode.includes('"model": "scripted"'), 'only the last one is kept');

    await setting('provider', 'offline');
    await api.session.prompt('Who are you?');
    const offline = await shownBy('redline.showLastRequest');
    for (const part of ['`offline`', 'Who are you?']) assert.ok(offline.includes(part), part);
  });

  test('Copy Diagnostics has versions, changed settings, counts and the last errors, and nothing private', async () => {
    const server = await connect([
      { status: 403, body: { error: { message: `at ${fileInWorkspace('a.ts')}` } } },
    ]);
    const { host } = new URL(server.baseUrl);
    try {
      await api.session.prompt('Fail.');
    } finally {
      await server.close();
    }
    await setting('openai.baseUrl', `http://lovelace:pass-word@${host}/v1?token=abc`);
    await setting('resolve.alwaysAsk', [`${os.homedir()}/notes/**`]);
    await vscode.commands.executeCommand('redline.copyDiagnostics');
    const text = await vscode.env.clipboard.readText();
    for (const part of [
      `${vscode.env.appName} ${vscode.version}`,
      `Node ${process.versions.node}`,
      'Provider: openai, model: scripted',
      `redline.openai.baseUrl: "http://${host}/v1?***"`,
      'redline.resolve.alwaysAsk: ["~/notes/**"]',
      '<folder 1>/a.ts',
    ])
      assert.ok(text.includes(part), `${part}\n\n${text}`);
    for (const part of ['lovelace', 'pass-word', 'token=', os.homedir(), fileInWorkspace('')])
      assert.ok(!text.includes(part), `${part}\n\n${text}`);
  });
});
