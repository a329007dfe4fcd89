import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

interface Row extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

suite('who approved a line', () => {
  let api: RedlineApi;
  const { showQuickPick, showInformationMessage } = vscode.window;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    Object.assign(vscode.window, { showQuickPick, showInformationMessage });
    await cleanUp(api);
  });

  /** What the command shows for a line: the rows of its list, or its message. */
  async function asked(editor: vscode.TextEditor, line: number, choose = ''): Promise<string[]> {
    let shown: string[] = [];
    Object.assign(vscode.window, {
      showQuickPick: (rows: readonly Row[]) => {
        shown = rows.map(({ label }) => label);
        return Promise.resolve(rows.find(({ label }) => label.endsWith(choose) && choose !== ''));
      },
      showInformationMessage: (text: string) => {
        shown = [text];
        return Promise.resolve();
      },
    });
    const position = new vscode.Position(line, 0);
    editor.selection = new vscode.Selection(position, position);
    await vscode.commands.executeCommand('redline.whoApprovedLine');
    return shown;
  }

  test('the decision, its diff and its trailers, although lines were typed above since', async () => {
    await givenFile('approved.ts', 'a\nb\nc\n');
    const { id } = api.previews.push({
      label: 'Edit approved.ts',
      changes: [{ path: 'approved.ts', before: 'a\nb\nc\n', after: 'a\nB\nc\n' }],
    });
    await api.previews.resolve({ id, action: 'apply', reason: 'it is right' });
    const file = vscode.Uri.file(fileInWorkspace('approved.ts'));
    const editor = await vscode.window.showTextDocument(file);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed\n'));

    const rows = await asked(editor, 2, 'Copy as Commit Trailer');
    assert.equal(rows[0], '$(pass) The line is as it was approved');
    assert.match(rows[1] ?? '', /^\$\(check\) Applied by another extension · .+ · approved\.ts$/);
    assert.ok(rows.includes('$(comment) it is right'), rows.join('\n'));
    assert.ok(rows.includes('$(history) Undo Apply'));
    assert.equal((await vscode.env.clipboard.readText()).split('\n')[0], 'Reviewed-with: Redline');
    assert.match(
      (await asked(editor, 1))[0] ?? '',
      /^No preview that this window knows of wrote line 2 of approved\.ts/,
    );

    await asked(editor, 2, 'Show Diff');
    const shown = vscode.window.activeTextEditor;
    assert.equal(shown?.document.uri.scheme, 'redline-preview');
    assert.equal(shown.selection.active.line, 1);

    await vscode.window.showTextDocument(file);
    const again = vscode.window.activeTextEditor ?? assert.fail();
    await again.edit(edit => edit.replace(new vscode.Range(2, 0, 2, 1), 'mine'));
    assert.equal(
      (await asked(again, 2))[0],
      '$(edit) Changed since; this window knows of no decision about that',
    );
  });
});
