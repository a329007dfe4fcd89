import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
} from '../support/redline.ts';

const exists = (path: string): Promise<boolean> =>
  bytesOf(path).then(
    () => true,
    () => false,
  );

suite('resolved previews come back as new ones', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(() => givenFile('back.txt', 'one\r\n'));

  teardown(() => cleanUp(api));

  const push = (): PreviewInfo =>
    api.previews.push({
      label: 'two of them',
      sourceToolName: 'test',
      changes: [
        { path: 'back.txt', before: 'one\r\n', after: 'two\r\n' },
        { path: 'made.txt', before: null, after: 'made' },
      ],
    });
  const resolve = (id: string, action: 'apply' | 'discard') =>
    api.previews.resolve({ id, action, reason: 'test' });
  const text = async (): Promise<string> => (await bytesOf('back.txt')).toString();
  const run = async (command: string, id: string): Promise<PreviewInfo | undefined> => {
    const made = await vscode.commands.executeCommand<string | undefined>(command, id);
    return made === undefined ? undefined : api.previews.get(made);
  };

  test('where the files are as the apply left them, Undo acts at once, restores every byte, and can be undone', async () => {
    const { id } = push();
    await resolve(id, 'apply');
    assert.equal(await text(), 'two\r\n');
    const undo = await run('redline.preview.undo', id);
    assert.ok(undo);
    assert.notEqual(undo.id, id);
    assert.deepEqual([undo.label, undo.state], ['Undo: two of them', 'applied']);
    assert.equal(await text(), 'one\r\n');
    assert.equal(await exists('made.txt'), false);
    const entry = api.previews.ledger().at(-1);
    assert.deepEqual([entry?.previewId, entry?.outcome, entry?.actor], [undo.id, 'applied', 'human']);
    assert.deepEqual(api.previews.list(), []);

    const redone = await run('redline.preview.undo', undo.id);
    assert.equal(redone?.state, 'applied');
    assert.equal(await text(), 'two\r\n');
    assert.equal(await exists('made.txt'), true);
    assert.equal((await run('redline.preview.undo', redone.id))?.state, 'applied');
    assert.equal(await exists('made.txt'), false);
  });

  test('what a turn applied is undone together', async () => {
    const first = push();
    await resolve(first.id, 'apply');
    const second = api.previews.push({
      label: 'three',
      sourceToolName: 'test',
      changes: [{ path: 'back.txt', before: 'two\r\n', after: 'three\r\n' }],
    });
    await resolve(second.id, 'apply');
    const undone = await vscode.commands.executeCommand<string>('redline.preview.undoTurn', [
      first.id,
      second.id,
    ]);
    assert.deepEqual(
      [api.previews.get(undone)?.label, api.previews.get(undone)?.state],
      ['Undo 2 changes of one turn', 'applied'],
    );
    assert.equal(await text(), 'one\r\n');
    assert.equal(await exists('made.txt'), false);

    // All of it can still be looked at.
    await vscode.commands.executeCommand('redline.preview.openAll', [first.id, second.id], 'Undone');
    const { label } = vscode.window.tabGroups.activeTabGroup.activeTab ?? assert.fail('a tab is open');
    assert.match(label, /^Undone · Redline/);
  });

  test('the list of more on the card of a turn has what can be done, and no checks where there are none', async () => {
    const offered = async (...ids: string[]): Promise<string[]> => {
      let labels: string[] = [];
      const { showQuickPick } = vscode.window;
      Object.assign(vscode.window, {
        showQuickPick: (items: readonly vscode.QuickPickItem[]) => {
          labels = items.map(({ label }) => label);
          return Promise.resolve();
        },
      });
      await vscode.commands.executeCommand('redline.preview.more', ids);
      Object.assign(vscode.window, { showQuickPick });
      return labels;
    };
    const [one, two, three] = [1, 2, 3].map(
      n =>
        api.previews.push({
          label: `Make ${n}`,
          sourceToolName: 'test',
          changes: [{ path: `made${n}.txt`, before: null, after: 'made' }],
        }).id,
    ) as [string, string, string];
    const discard = ['Discard all 3 changes', 'Discard with reason…'];
    assert.deepEqual(await offered(one, two, three), ['Apply all 3 changes', ...discard]);
    await resolve(one, 'apply');
    await resolve(two, 'discard');
    assert.deepEqual(await offered(one, two, three), [
      ...['Apply 1 change', 'Discard 1 change', 'Discard with reason…'],
      ...['Undo Make 1', 'Reopen Make 2'],
    ]);
    await resolve(three, 'apply');
    await vscode.commands.executeCommand('redline.preview.undoTurn', [one, three]);
    assert.deepEqual(await offered(one, two, three), ['Apply Again', 'Reopen Make 2']);
    // Several can be checked, once there is a check.
    await setting('checks', [{ name: 'test', command: 'exit 0' }]);
    const again = push().id;
    assert.ok((await offered(again, one)).includes('Run checks'));
  });

  test('an undo whose file has changed is stale and writes nothing', async () => {
    const { id } = push();
    await resolve(id, 'apply');
    await writeFile(fileInWorkspace('back.txt'), 'mine');
    const undo = await run('redline.preview.undo', id);
    assert.ok(undo);
    assert.equal(undo.stale, true);
    // The line below the turn still offers to undo it: that shows the undo that waits.
    assert.equal(await vscode.commands.executeCommand('redline.preview.undoTurn', [id]), undo.id);
    await assert.rejects(resolve(undo.id, 'apply'), /back\.txt changed/);
    assert.equal(await text(), 'mine');
    assert.equal(await exists('made.txt'), true);
    await writeFile(fileInWorkspace('back.txt'), 'two\r\n');
    await resolve(undo.id, 'apply');
    assert.equal(await exists('made.txt'), false);
  });

  test('Reopen stages the same bytes under a new id', async () => {
    const { id } = push();
    await resolve(id, 'discard');
    const again = await run('redline.preview.reopen', id);
    assert.ok(again);
    assert.notEqual(again.id, id);
    assert.equal(again.label, 'two of them');
    assert.equal(again.stale, false);
    assert.equal(api.previews.get(id)?.state, 'discarded');
    await resolve(again.id, 'apply');
    assert.equal(await text(), 'two\r\n');
    assert.equal((await run('redline.preview.undo', again.id))?.state, 'applied');
  });

  test('a reopened preview neither forces nor reminds the model, but its outcome is told', async () => {
    await api.session.prompt('/help');
    const { id } = push();
    await resolve(id, 'discard');
    const again = await run('redline.preview.reopen', id);
    assert.ok(again);
    await vscode.commands.executeCommand('redline.preview.discard', again.id, 'still no');
    await api.session.prompt('/help');
    const told = api.session
      .messages()
      .flatMap(message => (message.role === 'steering' ? [message.text] : []));
    assert.ok(
      told.some(message => message.includes(`discarded ${again.id}`) && message.includes('still no')),
      told.join('\n'),
    );
    assert.ok(!told.some(message => message.includes(`Pending: ${again.id}`)));
  });

  test('code of an answer that names a file is staged as its content, in its line endings', async () => {
    const propose = (path: string, code: string) =>
      vscode.commands.executeCommand<string | undefined>('redline.chat.proposeCode', path, code);
    const id = await propose('back.txt', 'two\nthree');
    const info = api.previews.get(id ?? '');
    assert.deepEqual([info?.label, info?.state], ['Rewrite back.txt', 'pending']);
    assert.equal(await text(), 'one\r\n');
    await vscode.commands.executeCommand('redline.preview.apply', id, undefined, info?.revision);
    assert.equal(await text(), 'two\r\nthree\r\n');
    assert.equal(await propose('back.txt', 'two\nthree'), undefined);
    assert.equal(await propose('../outside.txt', 'x'), undefined);
    assert.deepEqual(api.previews.list(), []);
  });

  test('previews that are pending, failed or without file changes cannot be undone or reopened', async () => {
    const pending = push();
    assert.equal(await run('redline.preview.undo', pending.id), undefined);
    assert.equal(await run('redline.preview.reopen', pending.id), undefined);
    const opaque = api.previews.push({
      label: 'opaque',
      sourceToolName: 'test',
      apply: () => Promise.resolve({ content: [] }),
    });
    await resolve(opaque.id, 'discard');
    assert.equal(await run('redline.preview.reopen', opaque.id), undefined);
    assert.equal(api.previews.list().length, 1);
  });
});
