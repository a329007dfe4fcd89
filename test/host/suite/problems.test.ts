import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { connect, textOfRequest } from '../support/connect.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

suite('the Problems of VS Code', () => {
  let api: RedlineApi;
  let linter: vscode.DiagnosticCollection;
  let watching: vscode.Disposable;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  /** A language service that finds a fault in each line with BAD. */
  setup(() => {
    linter = vscode.languages.createDiagnosticCollection('testLinter');
    const check = (document: vscode.TextDocument): void => {
      if (!document.fileName.endsWith('checked.txt')) return;
      const found = document
        .getText()
        .split('\n')
        .flatMap((line, at) => {
          const column = line.indexOf('BAD');
          if (column < 0) return [];
          const range = new vscode.Range(at, column, at, column + 3);
          const problem = new vscode.Diagnostic(range, `No: ${line}`, vscode.DiagnosticSeverity.Warning);
          problem.source = 'lint';
          problem.code = 'bad';
          return [problem];
        });
      linter.set(document.uri, found);
    };
    watching = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument(check),
      vscode.workspace.onDidChangeTextDocument(({ document }) => check(document)),
    );
  });

  teardown(async () => {
    watching.dispose();
    linter.dispose();
    await cleanUp(api);
  });

  test('the model reads them, and is told which ones an apply brought before its next request', async () => {
    await givenFile('checked.txt', 'fine\nBAD old\n');
    const uri = vscode.Uri.file(fileInWorkspace('checked.txt'));
    await vscode.window.showTextDocument(uri);
    await until(
      vscode.languages.onDidChangeDiagnostics,
      () => (vscode.languages.getDiagnostics(uri).length === 1 ? true : undefined),
      'the first check',
    );
    const server = await connect([
      { toolCalls: [{ name: 'get_diagnostics', arguments: { paths: ['checked.txt'] } }] },
      {
        toolCalls: [
          {
            name: 'edit_file',
            arguments: { path: 'checked.txt', edits: [{ old: 'fine', new: 'first\n  BAD new' }] },
          },
        ],
      },
      { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'Good.' } }] },
      { text: 'Your turn.' },
      { text: 'I see.' },
    ]);
    try {
      await api.session.prompt('Edit it.');
      assert.match(textOfRequest(server, 1), /1 Problem \(1 warning\) in checked\.txt/);
      assert.match(textOfRequest(server, 1), /checked\.txt:2:1 warning: No: BAD old \[lint bad\]/);
      const head = api.previews.peek();
      assert.ok(head);
      const idle = until(
        api.session.onDidEmit,
        () => (server.requests.length === 5 && api.session.state === 'idle' ? true : undefined),
        'the session to continue',
      );
      await vscode.commands.executeCommand('redline.preview.apply', head.id);
      await idle;
      const last = textOfRequest(server, 4);
      assert.match(last, /New in VS Code's Problems since p\d+ was applied/);
      assert.match(last, /checked\.txt:2:3 warning: No:\s+BAD new \[lint bad\]/);
      assert.doesNotMatch(last, /checked\.txt:3:1 warning/);
    } finally {
      await server.close();
    }
  });

  test('the model reads what a language service says of a proposal that is open, until its text is another', async () => {
    await givenFile('checked.txt', 'fine\n');
    const ask = { toolCalls: [{ name: 'get_diagnostics', arguments: { paths: ['checked.txt'] } }] };
    const edit = (old: string, now: string) => ({
      toolCalls: [{ name: 'edit_file', arguments: { path: 'checked.txt', edits: [{ old, new: now }] } }],
    });
    const server = await connect([edit('fine', 'BAD idea'), { text: 'Look.' }, ask, { text: 'Done.' }], {
      forcing: 'off',
    });
    try {
      await api.session.prompt('Edit it.');
      const [preview] = api.previews.list();
      assert.ok(preview);
      const uri = vscode.Uri.file(fileInWorkspace('checked.txt')).with({
        scheme: 'redline-preview',
        authority: preview.id,
      });
      // VS Code lists what a language service has found at once, and its event comes later.
      let checks = 0;
      const counting = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (uris.some(each => each.toString() === uri.toString())) checks++;
      });
      await vscode.window.showTextDocument(uri);
      await until(
        vscode.languages.onDidChangeDiagnostics,
        () => (checks > 0 ? true : undefined),
        'the check of the proposal',
      );
      counting.dispose();
      await api.session.prompt('What is wrong?');
      const told = textOfRequest(server, 3);
      assert.match(told, new RegExp(`Checked as proposed: checked\\.txt \\(${preview.id}\\)\\.`));
      assert.match(told, /checked\.txt:1:1 warning: No: BAD idea \[lint bad\]/);
    } finally {
      await server.close();
    }
  });
});
