import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

suite('conflicts and edits of a proposal', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  const NAME = 'conflicts.txt';
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`);
  const changed = (which: Readonly<Record<number, string>>) =>
    lines.map((line, n) => which[n] ?? line).join('\n');
  const uriOf = (id: string): vscode.Uri =>
    vscode.Uri.file(fileInWorkspace(NAME)).with({ scheme: PREVIEW_SCHEME, authority: id });

  /** A preview whose two changes conflict with those that the file got meanwhile; its proposal has the markers. */
  async function givenConflicts(): Promise<string> {
    await givenFile(NAME, changed({}));
    const { id } = api.previews.push({
      label: 'conflicts',
      sourceToolName: 'test',
      changes: [{ path: NAME, before: changed({}), after: changed({ 5: 'proposed 5', 25: 'proposed 25' }) }],
    });
    await givenFile(NAME, changed({ 5: 'mine 5', 25: 'mine 25' }));
    await run('redline.preview.rebase', id);
    return id;
  }

  const lensesOf = async (id: string): Promise<readonly vscode.CodeLens[]> =>
    (await run('vscode.executeCodeLensProvider', uriOf(id))) as vscode.CodeLens[];
  const titlesOf = async (id: string): Promise<string[]> =>
    (await lensesOf(id)).flatMap(({ command }) => (command ? [command.title] : []));
  const click = async (id: string, title: string): Promise<void> => {
    const lens = (await lensesOf(id)).find(({ command }) => command?.title === title);
    assert.ok(lens?.command, `${title} among ${(await titlesOf(id)).join(' | ')}`);
    await run(lens.command.command, ...((lens.command.arguments ?? []) as unknown[]));
  };

  test('each conflict has lenses that settle it, what is left is counted, and then the preview can be applied', async () => {
    const id = await givenConflicts();
    const accept = ['Accept Current', 'Accept Proposed', 'Accept Both'];
    const isAccept = (title: string): boolean => accept.includes(title);
    const isApply = (title: string): boolean => title === 'Apply';
    assert.deepEqual((await titlesOf(id)).filter(isAccept), [...accept, ...accept]);
    assert.ok((await titlesOf(id)).includes('$(warning) 2 conflicts left'));
    assert.deepEqual((await titlesOf(id)).filter(isApply), [], 'it cannot be applied with conflicts in it');
    await click(id, 'Accept Both');
    assert.deepEqual((await titlesOf(id)).filter(isAccept), accept);
    assert.ok((await titlesOf(id)).includes('$(warning) 1 conflict left'));
    await click(id, 'Accept Proposed');
    assert.deepEqual((await titlesOf(id)).filter(isAccept), []);
    assert.equal((await titlesOf(id)).filter(isApply).length, 2, 'one for each hunk');
    await run('redline.preview.apply', id);
    assert.equal(api.previews.get(id)?.state, 'applied');
    assert.equal((await bytesOf(NAME)).toString(), changed({ 5: 'mine 5\nproposed 5', 25: 'proposed 25' }));
  });

  test('while the user types into the proposal, a choice is an edit that waits to be saved; Save & Apply applies it', async () => {
    const id = await givenConflicts();
    const document = await vscode.workspace.openTextDocument(uriOf(id));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'typed\n');
    await vscode.workspace.applyEdit(edit);
    assert.ok(document.isDirty);
    const edited = ['$(check) Save & Apply', '$(discard) Revert'];
    assert.deepEqual(
      (await titlesOf(id)).filter(title => edited.includes(title)),
      edited,
    );
    await click(id, 'Accept Current');
    await click(id, 'Accept Proposed');
    assert.ok(document.isDirty);
    assert.doesNotMatch(document.getText(), /<<<<<<<|>>>>>>>/);
    assert.equal(api.previews.get(id)?.state, 'pending');
    await click(id, '$(check) Save & Apply');
    assert.equal(api.previews.get(id)?.state, 'applied');
    assert.equal((await bytesOf(NAME)).toString(), `typed\n${changed({ 5: 'mine 5', 25: 'proposed 25' })}`);
  });

  test('Revert drops what was typed: the editor shows the proposal again, which stays pending', async () => {
    await givenFile(NAME, changed({}));
    const proposed = changed({ 5: 'proposed 5' });
    const { id } = api.previews.push({
      label: 'edited',
      sourceToolName: 'test',
      changes: [{ path: NAME, before: changed({}), after: proposed }],
    });
    await run('redline.preview.edit', id);
    const document = await vscode.workspace.openTextDocument(uriOf(id));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'typed\n');
    await vscode.workspace.applyEdit(edit);
    await click(id, '$(discard) Revert');
    await until(
      vscode.workspace.onDidChangeTextDocument,
      () => (document.getText() === proposed && !document.isDirty ? true : undefined),
      'the proposal as it was',
    );
    assert.equal(api.previews.get(id)?.revision, 1);
    assert.ok((await titlesOf(id)).includes('Apply'));
  });

  test('a choice for an older revision is refused', async () => {
    const id = await givenConflicts();
    const old = (await lensesOf(id)).find(({ command }) => command?.title === 'Accept Current');
    await click(id, 'Accept Both');
    const before = api.previews.get(id)?.revision;
    await run(old?.command?.command ?? '', ...((old?.command?.arguments ?? []) as unknown[]));
    assert.equal(api.previews.get(id)?.revision, before);
  });
});
