import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { useVendor } from '../support/modelVendor.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  opened,
  until,
} from '../support/redline.ts';

const lines = Array.from({ length: 20 }, (_, n) => `${n}\n`).join('');

suite('inputs that broke other tools in an editor', () => {
  let api: RedlineApi;
  const configured: [string, unknown][] = [];

  suiteSetup(async () => {
    api = await activateRedline();
  });
  teardown(async () => {
    await cleanUp(api);
    for (const [key] of configured.splice(0)) await update(key, undefined);
  });

  const update = (key: string, value: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
  const configure = async (key: string, value: unknown): Promise<void> => {
    configured.push([key, value]);
    await update(key, value);
  };
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  const text = async (path: string): Promise<string> => (await bytesOf(path)).toString();
  const push = (path: string, before: string, after: string): string =>
    api.previews.push({ label: path, sourceToolName: 'test', changes: [{ path, before, after }] }).id;
  const revision = (id: string): number => api.previews.get(id)?.revision ?? assert.fail('a preview');
  const untilRevision = (id: string, least: number): Promise<true> =>
    until(
      api.previews.onDidChange,
      () => (revision(id) >= least ? true : undefined),
      `revision ${least} of ${id}`,
    );
  const untilText = (document: vscode.TextDocument, wanted: string): Promise<true> =>
    until(
      vscode.workspace.onDidChangeTextDocument,
      () => (document.getText() === wanted ? true : undefined),
      `the text of ${document.uri.path}`,
    );
  /** Opens a file itself. */
  const edited = async (path: string): Promise<vscode.TextEditor> =>
    vscode.window.showTextDocument(vscode.Uri.file(fileInWorkspace(path)), { preview: false });
  const baseOf = async (id: string, path: string): Promise<string> => {
    const { path: at } = vscode.Uri.file(fileInWorkspace(path));
    const uri = vscode.Uri.from({ scheme: 'redline-preview', authority: id, path: at, query: 'base' });
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  };
  const lensTitles = async (document: vscode.TextDocument): Promise<(string | undefined)[]> => {
    const provider = 'vscode.executeCodeLensProvider';
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(provider, document.uri, 100);
    return lenses.map(({ command }) => command?.title);
  };

  for (const action of ['discard', 'apply'] as const)
    test(`a hunk is applied and undone by Ctrl+Z in its editor, then the rest is decided: ${action}`, async () => {
      // Of the same size: VS Code may have seen the file before the apply, and would then refuse to save another size.
      const one = lines.replace('2\n', 'x\n');
      const file = `undone-${action}.txt`;
      await givenFile(file, lines);
      const { document } = await edited(file);
      const id = push(file, lines, one.replace('15\n', '    fifteen\n'));
      await run('redline.preview.applyHunk', id, file, 0, 1);
      await untilText(document, one);
      assert.equal(await baseOf(id, file), one);
      const seen = revision(id);
      await edited(file);
      await run('undo');
      assert.equal(document.getText(), lines);
      await untilRevision(id, seen + 1);
      assert.equal(await baseOf(id, file), lines);
      await run(`redline.preview.${action}`, id, undefined, revision(id));
      assert.equal(document.getText(), action === 'apply' ? lines.replace('15\n', '    fifteen\n') : lines);
      assert.equal(await text(file), one);
    });

  test('a long preview that is revised three times at once: what the diff shows is what lands', async () => {
    const before = Array.from({ length: 4_000 }, (_, n) => `line ${n} of a long file\n`).join('');
    await givenFile('long.txt', before);
    const edit = (old: string, next: string, amend?: string) => ({
      name: 'edit_file',
      input: { path: 'long.txt', edits: [{ old, new: next }], ...(amend ? { amend } : {}) },
    });
    let id = '';
    let editor: vscode.TextEditor | undefined;
    await useVendor(async ({ required }, n) => {
      if (n === 0) return { calls: [edit('line 100 of', 'first of')] };
      // A model that answers otherwise when it must vote is asked in other ways from then on, also by the tests that follow.
      if (required) return { calls: [{ name: 'resolve', input: { action: 'apply', reason: 'Please.' } }] };
      if (n > 2) return { text: 'Done.' };
      ({ id } = api.previews.peek() ?? assert.fail('a preview is pending'));
      editor = await opened(id);
      return {
        calls: [
          edit('first of', 'second of', id),
          edit('second of', 'third of', id),
          edit('third of', 'fourth of', id),
        ],
      };
    });
    await api.session.prompt('Revise it.');
    assert.equal(revision(id), 4);
    const { document } = editor ?? assert.fail('the diff is open');
    await untilText(document, before.replace('line 100 of', 'fourth of'));
    await run('redline.preview.apply');
    assert.equal(await text('long.txt'), document.getText());
  });

  const twoLines = `${'var a=1;'.repeat(12_500)}\n${'var b=2;'.repeat(12_500)}\n`;
  const manyLines = (lineOf: (n: number) => string): string =>
    Array.from({ length: 30_000 }, (_, n) => `${lineOf(n)}\n`).join('');
  for (const [what, before, after] of [
    ['two lines of 100 KB', twoLines, twoLines.replace('2;\n', '3;\n')],
    ['30,000 changed lines', manyLines(n => `a${n}`), manyLines(n => `b${n * 7}`)],
  ] as const)
    test(`a diff of ${what} has its lenses, and Apply writes it`, async () => {
      await givenFile('large.txt', before);
      const { document } = await opened(push('large.txt', before, after));
      assert.ok((await lensTitles(document)).includes('Apply'));
      await run('redline.preview.apply');
      assert.equal(await text('large.txt'), after);
    });

  for (const [where, after, isStale] of [
    ['another line', 'one\u2029two\nkeep\nLAST\n', false],
    ['the same line', 'ONE\u2029two\nkeep\nlast\n', true],
  ] as const)
    test(`VS Code removes U+2029 from a file while a change of ${where} is pending: rebased or stale`, async () => {
      const before = 'one\u2029two\nkeep\nlast\n';
      await givenFile('terminators.txt', before);
      await configure('editor.unusualLineTerminators', 'auto');
      const id = push('terminators.txt', before, after);
      const { document } = await edited('terminators.txt');
      const removed = before.replace('\u2029', '');
      await untilText(document, removed);
      const settled = (): true | undefined =>
        api.previews.get(id)?.stale === true || revision(id) > 1 ? true : undefined;
      await until(api.previews.onDidChange, settled, 'a rebase, or that it is stale');
      assert.deepEqual([api.previews.get(id)?.stale, revision(id)], isStale ? [true, 1] : [false, 2]);
      await run('redline.preview.apply', id, undefined, revision(id));
      assert.equal(document.getText(), isStale ? removed : removed.replace('last', 'LAST'));
    });

  suite('an edited proposal, and what runs on save', () => {
    let formatter: vscode.Disposable;
    const before = 'one  \nkeep \t\nlast';

    setup(async () => {
      for (const key of ['files.trimTrailingWhitespace', 'files.insertFinalNewline', 'editor.formatOnSave'])
        await configure(key, true);
      formatter = vscode.languages.registerDocumentFormattingEditProvider('plaintext', {
        provideDocumentFormattingEdits: () => [
          vscode.TextEdit.insert(new vscode.Position(0, 0), 'formatted: '),
        ],
      });
      await givenFile('proposed.txt', before);
    });
    teardown(() => void formatter.dispose());

    /** Types into the second line. */
    const typed = async (id: string): Promise<vscode.TextDocument> => {
      await opened(id);
      await run('redline.preview.edit', id);
      const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
      // There is no event for when the editor becomes writable; until then it does not become dirty.
      do assert.ok(await editor.edit(edit => edit.insert(new vscode.Position(1, 0), 'typed ')));
      while (!editor.document.isDirty);
      return editor.document;
    };

    for (const [what, path, whole] of [
      ['a change', 'proposed.txt', before],
      ['a new file', 'made.txt', null],
    ] as const)
      test(`Save & Apply writes exactly what was typed, at once: ${what}`, async () => {
        const { id } = api.previews.push({
          label: what,
          changes: [{ path, before: whole, after: before.replace('one', 'ONE') }],
        });
        const document = await typed(id);
        const wanted = document.getText();
        await run('redline.preview.saveAndApply', id, 1);
        assert.equal(await text(path), wanted);
        assert.equal(api.previews.get(id)?.state, 'applied');
        if (whole === null) await vscode.workspace.fs.delete(vscode.Uri.file(fileInWorkspace(path)));
      });

    test('a save by hand runs it, and shows the result before it is applied', async () => {
      const id = push('proposed.txt', before, before.replace('one', 'ONE'));
      const document = await typed(id);
      await document.save();
      const shown = document.getText();
      assert.match(shown, /^formatted: ONE\n(?:typed )+keep\nlast\n$/);
      assert.equal(await text('proposed.txt'), before);
      await run('redline.preview.apply');
      assert.equal(await text('proposed.txt'), shown);
    });
  });
});
