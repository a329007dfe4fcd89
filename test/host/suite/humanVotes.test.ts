import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { commandLink } from '../../../src/views/commandRegistry.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, until } from '../support/redline.ts';

suite('votes of a person', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(() => givenFile('human.txt', 'one\n'));
  teardown(() => cleanUp(api));

  const push = (before: string, after: string) =>
    api.previews.push({
      label: `${before} to ${after}`,
      sourceToolName: 'test',
      changes: [{ path: 'human.txt', before, after }],
    });
  const text = async (): Promise<string> => (await bytesOf('human.txt')).toString();
  const last = () => {
    const { previewId, actor, reason, outcome } = api.previews.ledger().at(-1) ?? assert.fail('an entry');
    return { previewId, actor, reason, outcome };
  };

  test('a link of the status bar menu is one, with the words of a click', async () => {
    const { id, revision } = push('one\n', 'two\n');
    await follow(commandLink('Apply', 'redline.preview.apply', id, undefined, revision));
    assert.deepEqual(last(), {
      previewId: id,
      actor: 'human',
      reason: 'Applied by the user.',
      outcome: 'applied',
    });
    assert.equal(await text(), 'two\n');
  });

  test('a link of the status bar menu that is out of date changes nothing', async () => {
    const { id, revision } = push('one\n', 'two\n');
    await follow(commandLink('Apply', 'redline.preview.apply', id, undefined, revision + 1));
    assert.equal(api.previews.get(id)?.state, 'pending');
    assert.equal(await text(), 'one\n');
  });

  test('the button in the editor title, which passes the document, is one', async () => {
    const { id } = push('one\n', 'two\n');
    await vscode.commands.executeCommand('redline.preview.open', id);
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    await vscode.commands.executeCommand('redline.preview.discard', input.modified);
    assert.deepEqual(last(), {
      previewId: id,
      actor: 'human',
      reason: 'Discarded by the user.',
      outcome: 'discarded',
    });
  });

  test('a row that was being refreshed while it was clicked is none, whatever the editor shows', async () => {
    const { id } = push('one\n', 'two\n');
    await vscode.commands.executeCommand('redline.preview.open', id);
    for (const command of ['apply', 'discard', 'applyFile', 'discardFile'])
      await vscode.commands.executeCommand(`redline.preview.${command}`, undefined, undefined);
    assert.equal(api.previews.get(id)?.state, 'pending');
    assert.equal(await text(), 'one\n');
  });

  test('Undo in the title of the Pending view, which passes the focused row, asks what to undo', async () => {
    const applied = push('one\n', 'two\n');
    await vscode.commands.executeCommand('redline.preview.apply', applied.id, undefined, applied.revision);
    const { id: previewId, revision } = push('two\n', 'three\n');
    let undo: string | null | undefined;
    const undone = vscode.commands
      .executeCommand<string | undefined>('redline.preview.undo', { previewId, revision })
      .then(id => (undo = id ?? null));
    while (undo === undefined)
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    await undone;
    assert.match(api.previews.get(undo ?? '')?.label ?? '', /^Undo: one/);
  });

  test('Discard Hunk waits while a proposal has edits that are not saved: they move the hunks', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `line ${n}`);
    const after = lines.map((line, n) => (n % 20 === 10 ? `${line} changed` : line));
    await givenFile('hunks.txt', lines.join('\n'));
    const { id } = api.previews.push({
      label: 'hunks',
      sourceToolName: 'test',
      changes: [{ path: 'hunks.txt', before: lines.join('\n'), after: after.join('\n') }],
    });
    await vscode.commands.executeCommand('redline.preview.edit', id, 'hunks.txt');
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '\n'.repeat(20)));
    editor.selection = new vscode.Selection(30, 0, 30, 0);
    await vscode.commands.executeCommand('redline.preview.discardHunk');
    assert.equal(api.previews.get(id)?.revision, 1);
    assert.deepEqual(
      api.previews.ledger().filter(({ previewId }) => previewId === id),
      [],
    );
    await vscode.commands.executeCommand('redline.preview.revertEdits', id);
  });

  test('Next and Previous Hunk go through the diff of what is applied, too', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `line ${n}`);
    const before = lines.join('\n');
    const after = lines.map((line, n) => (n % 20 === 10 ? `${line} changed` : line)).join('\n');
    await givenFile('hunks.txt', before);
    const changes = [{ path: 'hunks.txt', before, after }];
    const { id, revision } = api.previews.push({ label: 'hunks', sourceToolName: 'test', changes });
    await vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);
    await vscode.commands.executeCommand('redline.preview.open', id);
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    const visited: number[] = [];
    for (const step of ['nextHunk', 'nextHunk', 'nextHunk', 'previousHunk']) {
      await vscode.commands.executeCommand(`redline.preview.${step}`);
      visited.push(editor.selection.active.line);
    }
    assert.deepEqual(visited, [10, 30, 50, 30]);
  });

  test('the button of the chat card is one: what was typed in it is the reason', async () => {
    const { id, revision } = push('one\n', 'two\n');
    await vscode.commands.executeCommand('redline.preview.discard', id, 'not like that', revision);
    assert.deepEqual(last(), {
      previewId: id,
      actor: 'human',
      reason: 'not like that',
      outcome: 'discarded',
    });
  });

  test('the lens of a stacked preview applies what it names, at the revisions of that moment', async () => {
    const low = push('one\n', 'two\n');
    const high = push('two\n', 'three\n');
    await vscode.commands.executeCommand('redline.preview.open', high.id);
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      input.modified,
      10,
    );
    const { command } =
      lenses.find(lens => lens.command?.command === 'redline.preview.apply') ?? assert.fail('a lens');
    const args: unknown[] = command?.arguments ?? [];
    assert.deepEqual(args.slice(0, 4), [high.id, undefined, high.revision, { [low.id]: low.revision }]);

    const outdated = { [low.id]: low.revision + 1 };
    await vscode.commands.executeCommand('redline.preview.apply', ...args.slice(0, 3), outdated);
    assert.equal(await text(), 'one\n');
    const applied = until(
      api.previews.onDidChange,
      () => (api.previews.get(high.id)?.state === 'applied' ? true : undefined),
      'both to be applied',
    );
    await vscode.commands.executeCommand('redline.preview.apply', ...args);
    await applied;
    assert.equal(await text(), 'three\n');
    assert.deepEqual(
      api.previews
        .ledger()
        .slice(-2)
        .map(({ previewId, actor }) => [previewId, actor]),
      [
        [low.id, 'human'],
        [high.id, 'human'],
      ],
    );
  });
});

/** What VS Code does when a person clicks on a command link. */
async function follow(link: string): Promise<void> {
  const [, id = '', args = ''] = /\(command:([^?]+)\?(.*)\)$/.exec(link) ?? [];
  await vscode.commands.executeCommand(id, ...(JSON.parse(decodeURIComponent(args)) as unknown[]));
}
