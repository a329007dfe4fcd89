import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { EXTENSION_ID } from '../../../src/views/contributions.ts';
import { activateRedline } from '../support/redline.ts';

/** Files that this process has loaded; the extension host runs the tests and the extension. */
const loaded = (): string[] => Object.keys(require.cache);

// Mocha runs the files in the order of their names: this one comes before those that talk to a server.
suite('activation', () => {
  test('loads neither the openai package nor a native module', async () => {
    const before = new Set(loaded());
    const api = await activateRedline();
    assert.equal(api.version, 1);
    const since = loaded().filter(file => !before.has(file));
    const extension = vscode.extensions.getExtension(EXTENSION_ID);
    assert.ok(extension);
    const own = loaded().filter(file => file.startsWith(extension.extensionPath));
    assert.ok(
      own.some(file => file.endsWith('extension.cjs')),
      'the entry bundle is among the loaded files',
    );
    assert.deepEqual(
      own.filter(file => /chunk-/.test(file)),
      [],
    );
    assert.deepEqual(
      since.filter(file => file.endsWith('.node')),
      [],
    );
  });

  test('commands of the manifest are registered', async () => {
    const extension = vscode.extensions.getExtension(EXTENSION_ID);
    const manifest = extension?.packageJSON as { contributes: { commands: { command: string }[] } };
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = manifest.contributes.commands
      .map(({ command }) => command)
      .filter(id => !registered.has(id));
    assert.deepEqual(missing, []);
  });
});
