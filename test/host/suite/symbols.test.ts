import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { connect } from '../support/connect.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

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

  test('TypeScript outlines, finds definitions and references, and renames over files as one preview', async () => {
    await givenFile('symbolsA.ts', 'export class Cart {\n  total() {\n    return 1;\n  }\n}\n');
    await givenFile(
      'symbolsB.ts',
      "import { Cart } from './symbolsA';\nexport const sum = new Cart().total();\n",
    );
    const [outline = '', definition = '', references = '', renamed = ''] = await resultsOf(
      ['symbols', { action: 'outline', path: 'symbolsA.ts' }],
      ['symbols', { action: 'definition', path: 'symbolsB.ts', line: 2, name: 'total' }],
      ['symbols', { action: 'references', path: 'symbolsA.ts', line: 1, name: 'Cart' }],
      ['rename_symbol', { path: 'symbolsA.ts', line: 1, name: 'Cart', newName: 'Basket' }],
    );
    assert.equal(outline, 'symbolsA.ts: 2 symbols.\nclass Cart: 1-5\n  method total: 2-4');
    assert.equal(definition, '1 definition of total.\nsymbolsA.ts:2: total() {');
    assert.match(
      references,
      /^3 references of Cart\.\nsymbolsA\.ts:1: .*\nsymbolsB\.ts:1: .*\nsymbolsB\.ts:2: /,
    );
    assert.match(renamed, /Cart becomes Basket: 3 edits in 2 files\./);
    const [preview] = api.previews.list();
    assert.ok(preview);
    await api.previews.resolve({ id: preview.id, action: 'apply', reason: 'Good.' });
    const read = async (file: string): Promise<string> =>
      Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(fileInWorkspace(file)))).toString();
    assert.match(await read('symbolsA.ts'), /^export class Basket \{/);
    assert.match(await read('symbolsB.ts'), /^import \{ Basket \} from '\.\/symbolsA';\n.*new Basket\(\)/);
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
