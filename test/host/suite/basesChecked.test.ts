import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('only what was shown is written, on the base that it was shown on', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  const staged = async (prompt: string) => {
    await api.session.prompt(prompt);
    return api.previews.peek() ?? assert.fail('a preview is pending');
  };

  test('a base that changed on disk is not overwritten, and the preview stays pending', async () => {
    await givenFile('base.txt', 'one\ntwo\n');
    const { id } = await staged('/edit base.txt :: two => three');
    await writeFile(fileInWorkspace('base.txt'), 'one\ntwo\nmine\n');
    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /base\.txt changed after the preview was made/,
    );
    assert.equal((await bytesOf('base.txt')).toString(), 'one\ntwo\nmine\n');
    const preview = api.previews.get(id);
    assert.equal(preview?.state, 'pending');
    assert.equal(preview.stale, true);
    assert.equal(api.previews.ledger().at(-1)?.outcome, 'failed');
  });

  test('a file that appeared where one is to be created is not overwritten', async () => {
    const { id } = await staged('/write created.txt :: theirs');
    await givenFile('created.txt', 'mine');
    await assert.rejects(api.previews.resolve({ id, action: 'apply', reason: 'test' }));
    assert.equal((await bytesOf('created.txt')).toString(), 'mine');
  });

  test('unsaved changes are the base: the edit joins them in the editor, and nothing is saved', async () => {
    await givenFile('dirty.txt', 'one\ntwo\n');
    const document = await vscode.workspace.openTextDocument(fileInWorkspace('dirty.txt'));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
    const { id } = await staged('/edit dirty.txt :: two => three');
    const result = await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal(document.getText(), 'typed one\nthree\n');
    assert.equal(document.isDirty, true);
    assert.equal((await bytesOf('dirty.txt')).toString(), 'one\ntwo\n');
    assert.match(result.content[0]?.text ?? '', /Not on disk until.*dirty\.txt/);
  });

  for (const [own, other] of [
    ['\n', '\r\n'],
    ['\r\n', '\n'],
  ] as const) {
    const [has, gets] = own === '\n' ? ['LF', 'CRLF'] : ['CRLF', 'LF'];

    /** An editor with unsaved changes, whose lines end with `own`. */
    const typed = async (file: string): Promise<vscode.TextDocument> => {
      await givenFile(file, `one${own}two${own}`);
      const document = await vscode.workspace.openTextDocument(fileInWorkspace(file));
      const editor = await vscode.window.showTextDocument(document);
      await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
      return document;
    };

    test(`a whole new text with ${gets} gets the ${has} of the unsaved editor that it goes into`, async () => {
      const document = await typed(`whole-${has}.txt`);
      const { id } = await staged(`/write whole-${has}.txt :: typed one${other}three${other}`);
      await api.previews.resolve({ id, action: 'apply', reason: 'test' });
      assert.equal(document.getText(), `typed one${own}three${own}`);
      assert.equal(document.isDirty, true);
    });

    test(`${gets} that an unsaved editor with ${has} cannot hold is refused, and nothing is changed`, async () => {
      const document = await typed(`refused-${has}.txt`);
      const before = document.getText();
      const after = `typed one${other}three${own}`;
      const { id } = api.previews.push({
        label: 'Other line ending',
        changes: [{ path: `refused-${has}.txt`, before, after }],
      });
      await assert.rejects(
        api.previews.resolve({ id, action: 'apply', reason: 'test' }),
        new RegExp(
          `its editor holds only ${has} line endings\\. It must be saved or reverted first\\. Nothing was changed\\.$`,
        ),
      );
      assert.equal(document.getText(), before);
      await document.save();
      await api.previews.resolve({ id, action: 'apply', reason: 'test' });
      assert.equal((await bytesOf(`refused-${has}.txt`)).toString(), after);
    });
  }

  test('several files are written together or not at all', async () => {
    await givenFile('m1.txt', 'a');
    await givenFile('m2.txt', 'b');
    const { id } = api.previews.push({
      label: 'two files',
      sourceToolName: 'test',
      changes: [
        { path: 'm1.txt', before: 'a', after: 'A' },
        { path: 'm2.txt', before: 'not b', after: 'B' },
      ],
    });
    await assert.rejects(api.previews.resolve({ id, action: 'apply', reason: 'test' }), /m2\.txt/);
    assert.equal((await bytesOf('m1.txt')).toString(), 'a');
    assert.equal((await bytesOf('m2.txt')).toString(), 'b');
  });

  test('a byte order mark, CRLF and a missing last newline are kept', async () => {
    const bytes = Buffer.from('\ufeffone\r\ntwo\nthree', 'utf8');
    await givenFile('exact.txt', bytes);
    const { id } = await staged('/edit exact.txt :: two => 2');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.deepEqual(await bytesOf('exact.txt'), Buffer.from('\ufeffone\r\n2\nthree', 'utf8'));
  });

  test('an opaque preview runs its callback once and shows a readable document', async () => {
    let runs = 0;
    const { id } = api.previews.push({
      label: 'Restart the server',
      sourceToolName: 'ops',
      details: { port: 8080 },
      apply: async reason => {
        runs++;
        return { content: [{ type: 'text', text: `Restarted. ${reason}` }], details: { ok: true } };
      },
    });
    const shown = await vscode.workspace.openTextDocument(
      vscode.Uri.parse(`redline-preview://${id}/action.redline-document`),
    );
    assert.match(shown.getText(), /# Restart the server[\s\S]*ops[\s\S]*8080/);
    const result = await api.previews.resolve({ id, action: 'apply', reason: 'now' });
    assert.equal(result.content[0]?.text, 'Restarted. now');
    assert.deepEqual((result.details as { sourceResultDetails: unknown }).sourceResultDetails, { ok: true });
    await api.previews.resolve({ id, action: 'apply', reason: 'again' });
    assert.equal(runs, 1);
  });
});
