import * as assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, setting } from '../support/redline.ts';

suite('the sandbox', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(() => setting('resolve.forcing', 'off'));

  teardown(() => cleanUp(api));

  const middle = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
  const names = Array.from({ length: 12 }, (_, n) => `${String.fromCharCode(97 + n)}.txt`);

  /** Makes a folder with twelve files that have spaces at the ends of two lines. */
  async function givenFolder(folder: string): Promise<void> {
    mkdirSync(fileInWorkspace(folder), { recursive: true });
    for (const name of names) await givenFile(`${folder}/${name}`, `first  \n${middle}last  \n`);
  }

  /** The bytes of each file of a folder, with the time of its last change. */
  function onDisk(folder: string): readonly string[] {
    const root = fileInWorkspace(folder);
    return readdirSync(root).map(name => {
      const at = path.join(root, name);
      return `${name} ${statSync(at).mtimeMs} ${readFileSync(at, 'utf8')}`;
    });
  }

  const vote = (action: string, ...args: readonly unknown[]): Thenable<unknown> =>
    vscode.commands.executeCommand(`redline.preview.${action}`, ...args);

  /** Lets the user start a command. @returns the preview of what it left */
  async function leftBy(command: string): Promise<PreviewInfo> {
    await api.session.prompt(`/run ${command}`);
    const { id } = api.previews.peek() ?? assert.fail('nothing is pending');
    const before = new Set(api.previews.list().map(preview => preview.id));
    await vote('apply', id);
    const left = api.previews.list().filter(preview => !before.has(preview.id));
    const outcome = api.previews.ledger().findLast(({ previewId }) => previewId === id)?.message ?? '';
    assert.match(outcome, /Nothing on disk has changed/);
    assert.equal(left.length, 1, outcome);
    return left[0] ?? assert.fail();
  }

  /** What the document of one side of a change holds. */
  async function side(id: string, file: string, query: 'base' | ''): Promise<string> {
    const at = fileInWorkspace(file);
    const uri = vscode.Uri.from({ scheme: PREVIEW_SCHEME, authority: id, path: at, query });
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  }

  test('a command that deletes a folder is a preview of deletions; when it is discarded, the disk is as it was', async () => {
    await givenFolder('wiped');
    const before = onDisk('wiped');
    const { id, files } = await leftBy('rm -rf wiped');
    assert.deepEqual(
      files.map(({ kind, path: at }) => `${kind} ${at}`),
      names.map(name => `delete wiped/${name}`),
    );
    assert.deepEqual(onDisk('wiped'), before);
    await vote('discard', id);
    assert.equal(api.previews.get(id)?.state, 'discarded');
    assert.deepEqual(onDisk('wiped'), before);
  });

  test('a formatter over 12 files with pending edits is one preview, which is decided hunk by hunk', async () => {
    await givenFolder('formatted');
    const before = onDisk('formatted');
    for (const name of names) await api.session.prompt(`/edit formatted/${name} :: line 9 => line nine`);
    const edits = api.previews.list().map(({ id }) => id);
    const { id, files, dependsOn } = await leftBy(`sed -i 's/ *$//' formatted/*.txt`);
    assert.equal(files.length, 12);
    assert.deepEqual([...dependsOn].sort(), [...edits].sort());
    const edited = middle.replace('line 9', 'line nine');
    for (const name of names) {
      const sides = [await side(id, `formatted/${name}`, 'base'), await side(id, `formatted/${name}`, '')];
      assert.deepEqual(sides, [`first  \n${edited}last  \n`, `first\n${edited}last\n`]);
    }
    assert.deepEqual(onDisk('formatted'), before);

    for (const edit of edits) await vote('apply', edit);
    await vote('discardHunk', id, 'formatted/a.txt', 0, api.previews.get(id)?.revision);
    await vote('applyHunk', id, 'formatted/b.txt', 1, api.previews.get(id)?.revision);
    const text = (name: string): string => readFileSync(fileInWorkspace(`formatted/${name}`), 'utf8');
    assert.equal(text('b.txt'), `first  \n${edited}last\n`);
    assert.equal(text('c.txt'), `first  \n${edited}last  \n`);
    await vote('apply', id);
    assert.equal(text('a.txt'), `first  \n${edited}last\n`);
    for (const name of names.slice(1)) assert.equal(text(name), `first\n${edited}last\n`, name);
  });
});
