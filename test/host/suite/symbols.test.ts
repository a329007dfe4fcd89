import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { connect } from '../support/connect.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('the language services of VS Code', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** The results of these calls, as the model reads them. */
  const resultsOf = async (
    ...calls: readonly (readonly [name: string, args: object])[]
  ): Promise<readonly string[]> => {
    const server = await connect(
      [...calls.map(([name, args]) => ({ toolCalls: [{ name, arguments: args }] })), { text: 'Done.' }],
      { forcing: 'off' },
    );
    try {
      await api.session.prompt('Go.');
      const messages = server.requests.at(-1)?.body.messages ?? [];
      return messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    } finally {
      await server.close();
    }
  };

  test('those of CSS outline a file, find what is defined and used, and rename it as a preview', async () => {
    await givenFile('symbols.css', ':root {\n  --brand: red;\n}\n.cart {\n  color: var(--brand);\n}\n');
    const [outline = '', definition = '', references = '', renamed = ''] = await resultsOf(
      ['symbols', { action: 'outline', path: 'symbols.css' }],
      ['symbols', { action: 'definition', path: 'symbols.css', line: 5, name: '--brand' }],
      ['symbols', { action: 'references', path: 'symbols.css', line: 2, name: '--brand' }],
      ['rename_symbol', { path: 'symbols.css', line: 2, name: '--brand', newName: '--accent' }],
    );
    assert.match(outline, /^symbols\.css: \d symbols\.\n[^]*:root: 1-3\n[^]*\.cart: 4-6/);
    assert.equal(definition, '1 definition of --brand.\nsymbols.css:2: --brand: red;');
    assert.match(
      references,
      /^2 references of --brand\.\nsymbols\.css:2: .*\nsymbols\.css:5: color: var\(--brand\);$/,
    );
    assert.match(renamed, /--brand becomes --accent: 2 edits in 1 file\./);
    const [preview] = api.previews.list();
    assert.ok(preview);
    await api.previews.resolve({ id: preview.id, action: 'apply', reason: 'Good.' });
    const text = (await bytesOf('symbols.css')).toString();
    assert.equal(text, ':root {\n  --accent: red;\n}\n.cart {\n  color: var(--accent);\n}\n');
  });

  test('a rename that moves files, or leaves the workspace, stages nothing and says so', async () => {
    await givenFile('renamed.thing', 'word\n');
    const uri = vscode.Uri.file(fileInWorkspace('renamed.thing'));
    const outside = vscode.Uri.file('/somewhere/else.thing');
    const range = new vscode.Range(0, 0, 0, 4);
    const makers: ((edit: vscode.WorkspaceEdit, newName: string) => void)[] = [
      edit => edit.renameFile(uri, vscode.Uri.file(fileInWorkspace('other.thing'))),
      (edit, newName) => edit.replace(outside, range, newName),
      () => {
        throw new Error('It is a keyword');
      },
    ];
    const results: string[] = [];
    for (const also of makers) {
      const provider = vscode.languages.registerRenameProvider(
        { pattern: '**/*.thing' },
        {
          provideRenameEdits: (_, __, newName) => {
            const edit = new vscode.WorkspaceEdit();
            edit.replace(uri, range, newName);
            also(edit, newName);
            return edit;
          },
        },
      );
      const args = { path: 'renamed.thing', name: 'word', newName: 'term' };
      results.push(...(await resultsOf(['rename_symbol', args])).slice(-1));
      provider.dispose();
    }
    assert.match(
      results[0] ?? '',
      /would also create, rename or delete files, or insert snippets, which cannot be/,
    );
    assert.match(results[1] ?? '', /would also change else\.thing, which is outside the workspace/);
    assert.match(results[2] ?? '', /^The language service refuses to rename word: .*keyword/);
    const [none = ''] = (
      await resultsOf(['rename_symbol', { path: 'renamed.thing', name: 'word', newName: 'term' }])
    ).slice(-1);
    assert.match(none, /^VS Code cannot rename word in renamed\.thing: no language service/);
    assert.deepEqual(api.previews.list(), []);
  });
});
