import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { FileChange } from '../../../src/agent/hold/preview/fileChange.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { overviewNotes, titleNotes } from '../../../src/views/review/titleNotes.ts';
import { modify, remove, rename } from '../../support/changes.ts';
import { activateRedline, cleanUp, givenFile, until } from '../support/redline.ts';

suite('what a title says of a diff', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  teardown(() => cleanUp(api));

  test('stays true when the preview is rebased, and the tab stays as it is', async () => {
    const [before, after] = ['  a\nb\nc\n\nd\n', '\ta\nB\nc\n\nd\n'];
    await givenFile('title.txt', before);
    const { id } = api.previews.push({
      label: 'Indent',
      sourceToolName: 'test',
      changes: [{ path: 'title.txt', before, after }],
    });
    await vscode.commands.executeCommand('redline.preview.open', id);
    const labels = (): string[] =>
      vscode.window.tabGroups.all
        .flatMap(group => group.tabs.map(tab => tab.label))
        .filter(label => label.includes('(Redline)'));
    const expected = ['title.txt (Redline) · when opened: indentation differs in 1 line'];
    assert.deepEqual(labels(), expected);
    const revised = until(
      api.previews.onDidChange,
      () => api.previews.list().find(preview => preview.id === id && preview.revision === 2),
      'the rebase',
    );
    await givenFile('title.txt', before.replace('d\n', 'D\n'));
    await revised;
    assert.deepEqual(labels(), expected);
  });

  test('a move stays one, whatever becomes of the content', async () => {
    assert.deepEqual(await titleNotes(rename('old/a.txt', 'b.txt', 'a\n')), ['moved from old/a.txt']);
    assert.deepEqual(await titleNotes(rename('old/a.txt', 'b.txt', '\ta\n', '  a\n')), [
      'moved from old/a.txt',
      'when opened: only indentation differs',
    ]);
  });

  test('a deleted file, which is shown as it was, says that it is to be', async () => {
    assert.deepEqual(await titleNotes(remove('a.txt', 'a\n')), ['to be deleted']);
  });

  test('a diff opens without what takes long to find', async () => {
    const never = (): Promise<readonly string[]> => new Promise(() => undefined);
    const options = [never, 1] as const;
    assert.deepEqual(await titleNotes(modify('a.txt', '\ta\n', '  a\n'), ...options), []);
    assert.deepEqual(await titleNotes(rename('a.txt', 'b.txt', '\ta\n', '  a\n'), ...options), [
      'moved from a.txt',
    ]);
    assert.deepEqual(await overviewNotes([modify('a.txt', '\ta\n', '  a\n')], ...options), [
      'when opened: not all files checked for changes that the diff hides',
    ]);
  });

  test('several files are counted; the title says so if some were left out', async () => {
    const hiding = (count: number, text = 'a'): FileChange[] =>
      Array.from({ length: count }, (_, n) => modify(`${n}.txt`, `\t${text}\n`, `  ${text}\n`));
    const seen = modify('seen.txt', 'a\n', 'b\n');
    const note = async (changes: readonly FileChange[]): Promise<readonly string[]> =>
      overviewNotes(changes, undefined, 60_000);
    assert.deepEqual(await note([seen]), []);
    assert.deepEqual(await note([seen, ...hiding(1)]), [
      'when opened: 1 file with changes that the diff hides',
    ]);
    assert.deepEqual(await note(hiding(100)), ['when opened: 100 files with changes that the diff hides']);
    assert.deepEqual(await note(hiding(101)), [
      'when opened: at least 100 files with changes that the diff hides',
    ]);
    assert.deepEqual(await note(hiding(2, 'a'.repeat(600_000))), [
      'when opened: at least 1 file with changes that the diff hides',
    ]);
    assert.deepEqual(await note(Array.from({ length: 101 }, () => seen)), [
      'when opened: not all files checked for changes that the diff hides',
    ]);
  });
});
