import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import * as path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Metafile } from 'esbuild';
import * as vscode from 'vscode';
import { eagerOutputs } from '../../../scripts/lib/eagerOutputs.mjs';
import { EXTENSION_ID } from '../../../src/views/contributions.ts';
import { activateRedline } from '../support/redline.ts';

/** The CommonJS modules that this process, the extension host, has loaded. It runs both the tests and the extension. */
const required = (): string[] => Object.keys(require.cache);

/** The scripts of a folder that this process has loaded, ES modules included, which only the debugger can list. */
function scriptsBelow(folder: string): string[] {
  const files: string[] = [];
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params: { url } }) => {
    if (url.startsWith(`${pathToFileURL(folder).href}/`)) files.push(fileURLToPath(url));
  });
  session.post('Debugger.enable');
  session.disconnect();
  return files;
}

// Mocha runs the files in alphabetical order: this one comes before those that connect to a server.
suite('activation', () => {
  test('loads neither the openai package nor a native module', async () => {
    const before = new Set(required());
    const api = await activateRedline();
    assert.equal(api.version, 1);
    const since = required().filter(file => !before.has(file));
    const { extensionPath } = vscode.extensions.getExtension(EXTENSION_ID) ?? assert.fail();
    const metafile = path.join(process.env['REDLINE_REPO'] ?? '', 'out', 'meta.json');
    const { outputs } = JSON.parse(readFileSync(metafile, 'utf8')) as Metafile;
    const eager = eagerOutputs(outputs);
    assert.deepEqual(
      scriptsBelow(path.join(extensionPath, 'dist')).sort(),
      eager.map(file => path.join(extensionPath, file)).sort(),
      'the entry and what it imports statically are loaded, and no other chunk',
    );
    const inputs = eager.flatMap(file => Object.keys(outputs[file]?.inputs ?? {}));
    assert.deepEqual(
      inputs.filter(file => /node_modules\/(openai|diff|jiti|typebox|@ast-grep)\//.test(file)),
      [],
    );
    assert.deepEqual(
      [...since, ...required().filter(file => file.startsWith(extensionPath))].filter(file =>
        file.endsWith('.node'),
      ),
      [],
    );
  });

  test('the commands of the manifest are registered', async () => {
    await activateRedline();
    const extension = vscode.extensions.getExtension(EXTENSION_ID);
    const manifest = extension?.packageJSON as { contributes: { commands: { command: string }[] } };
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = manifest.contributes.commands
      .map(({ command }) => command)
      .filter(id => !registered.has(id));
    assert.deepEqual(missing, []);
  });
});
