import * as assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { EXTENSION_ID } from '../../../src/views/contributions.ts';
import { activateRedline } from '../support/redline.ts';

interface Binding {
  readonly key: string;
  readonly command: string;
}
interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly Binding[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly scope?: string; readonly default: unknown }>>;
    };
  };
}

suite('the manifest agrees with VS Code', () => {
  const manifest = (): Manifest =>
    (vscode.extensions.getExtension(EXTENSION_ID) ?? assert.fail('installed')).packageJSON as Manifest;

  suiteSetup(activateRedline);

  test('every contributed command has a handler', async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = manifest().contributes.commands.filter(({ command }) => !registered.has(command));
    assert.deepEqual(missing, []);
  });

  test('the notice names every package whose code is in the extension, with its licence', async () => {
    const folder = (vscode.extensions.getExtension(EXTENSION_ID) ?? assert.fail('installed')).extensionPath;
    const notice = await readFile(path.join(folder, 'dist', 'ThirdPartyNotices.txt'), 'utf8');
    const named = [...notice.matchAll(/^-{80}\n\n(\S+) \d\S*, \S/gm)].map(([, name]) => name);
    const grammars = (await readdir(path.join(folder, 'dist', 'native'), { recursive: true }))
      .map(file => /^grammar-(.*)-[0-9a-f]{16}\.node\.br$/.exec(path.basename(file))?.[1])
      .filter(language => language !== undefined)
      .map(language => `@ast-grep/lang-${language}`);
    assert.ok(grammars.length > 10);
    const others = [
      'openai',
      'zod',
      'diff',
      'ignore',
      'markdown-it',
      'entities',
      'linkify-it',
      'mdurl',
      'uc.micro',
    ];
    for (const name of [...others, ...grammars, '@ast-grep/napi', '@vscode/codicons', 'punycode.js'])
      assert.ok(named.includes(name), `${name} is named`);
    assert.match(notice, /Attribution 4\.0 International/);
  });

  test('no other command has the keys for next and previous', async () => {
    const keys = manifest()
      .contributes.keybindings.filter(({ command }) => /\.(next|previous)$/.test(command))
      .map(({ key }) => key);
    assert.equal(keys.length, 2);
    const uri = vscode.Uri.parse('vscode://defaultsettings/keybindings.json');
    const text = (await vscode.workspace.openTextDocument(uri)).getText();
    const defaults = JSON.parse(text.replace(/^\s*\/\/.*$/gm, '')) as Binding[];
    assert.ok(defaults.length > 500);
    const taken = defaults.filter(
      ({ key, command }) => keys.includes(key) && !command.startsWith('redline.'),
    );
    assert.deepEqual(taken, []);
  });

  test('a workspace cannot set who answers, where, with which authority, or what is loaded', () => {
    const { properties } = manifest().contributes.configuration;
    // Settings of taste and of this workspace alone, and checks, which run only once a person has approved their text. A new setting
    // is guarded unless it is named here.
    const free =
      /^redline\.(checks|preview\.open|session\.continueAfterReview|revert\.enabled|history\.retentionDays)$/;
    const guarded = Object.entries(properties).filter(([key]) => !free.test(key));
    assert.ok(guarded.length >= 5);
    for (const [key, { scope }] of guarded) {
      assert.ok(scope === 'machine' || scope === 'application', `${key} has the scope ${scope}`);
    }
  });
});
