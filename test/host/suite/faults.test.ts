import * as assert from 'node:assert/strict';
import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

const N = 4;
const names = Array.from({ length: N }, (_, i) => `fault${i}.txt`);

/** Ways to make writing one file fail although its base is unchanged. */
interface Fault {
  readonly what: string;
  make(file: string): Promise<void>;
  undo(file: string): Promise<void>;
  readonly message: (name: string) => RegExp;
}

const faults: readonly Fault[] = [
  {
    what: 'is read-only',
    make: file => chmod(file, 0o444),
    undo: file => chmod(file, 0o644),
    message: name => new RegExp(`${name} could not be written: ${name} is read-only\\. Nothing was changed`),
  },
  {
    what: 'turned into a folder',
    make: async file => {
      await rm(file);
      await mkdir(file);
    },
    undo: file => rm(file, { recursive: true }),
    message: name => new RegExp(`Nothing was written: ${name} changed after the preview was made`),
  },
];

suite('a fault in one of several files: all of them are rolled back, and the preview stays pending', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  const push = (): string =>
    api.previews.push({
      label: 'All of them',
      sourceToolName: 'test',
      changes: names.map(path => ({ path, before: `${path}\n`, after: `changed ${path}\n` })),
    }).id;

  for (const { what, make, undo, message } of faults) {
    names.forEach((name, k) => {
      test(`file ${k + 1} of ${N} ${what}`, async () => {
        for (const each of names) await givenFile(each, `${each}\n`);
        const id = push();
        const file = fileInWorkspace(name);
        await make(file);
        try {
          await assert.rejects(api.previews.resolve({ id, action: 'apply', reason: 'test' }), message(name));
          for (const each of names) {
            if ((await stat(fileInWorkspace(each))).isDirectory()) assert.equal(each, name);
            else assert.equal((await bytesOf(each)).toString(), `${each}\n`);
          }
          const preview = api.previews.get(id);
          assert.equal(preview?.state, 'pending');
          assert.match(preview.lastError ?? '', new RegExp(name));
          assert.equal(api.previews.ledger().at(-1)?.outcome, 'failed');
        } finally {
          await undo(file);
        }
        if (what !== 'is read-only') return;
        await api.previews.resolve({ id, action: 'apply', reason: 'again' });
        for (const each of names) assert.equal((await bytesOf(each)).toString(), `changed ${each}\n`);
      });
    });
  }

  test('VS Code refuses the edit of a file with unsaved changes: files that were already written are rolled back', async () => {
    await givenFile('plain.txt', 'plain\n');
    await givenFile('unsaved.txt', 'unsaved\n');
    const document = await vscode.workspace.openTextDocument(fileInWorkspace('unsaved.txt'));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
    const { id } = api.previews.push({
      label: 'Both',
      sourceToolName: 'test',
      changes: [
        { path: 'plain.txt', before: 'plain\n', after: 'PLAIN\n' },
        { path: 'unsaved.txt', before: 'typed unsaved\n', after: null },
      ],
    });
    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /unsaved\.txt has unsaved changes\. It must be saved or reverted first/,
    );
    assert.equal((await bytesOf('plain.txt')).toString(), 'plain\n');
    assert.equal((await bytesOf('unsaved.txt')).toString(), 'unsaved\n');
    assert.equal(document.getText(), 'typed unsaved\n');
    assert.equal(api.previews.get(id)?.state, 'pending');
  });
});
