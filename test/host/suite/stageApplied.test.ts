import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { GitApi } from '../../../src/views/workspace/gitApi.ts';
import { activateRedline, cleanUp, fileInWorkspace } from '../support/redline.ts';

const FOLDER = 'staged';

suite('staging what was applied', () => {
  let api: RedlineApi;
  let root = '';
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);

  suiteSetup(async () => {
    api = await activateRedline();
    root = fileInWorkspace(FOLDER);
    mkdirSync(root, { recursive: true });
    git('init', '-q', '-b', 'main');
    for (const name of ['a', 'mine']) write(`${name}.ts`, `${name}\n`);
    git('add', '-A');
    git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'first');
  });

  teardown(() => cleanUp(api));

  suiteTeardown(async () => {
    await vscode.commands.executeCommand('git.close', vscode.Uri.file(root));
    rmSync(root, { recursive: true, force: true });
  });

  test('the index has it and nothing else, and the message box says what it is', async () => {
    const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
    const gitApi = (await (extension ?? assert.fail('git is there')).activate()).getAPI(1);
    const repository = await gitApi.openRepository?.(vscode.Uri.file(root));
    const { id, revision } = api.previews.push({
      label: 'Edit a.ts',
      sourceToolName: 'test',
      changes: [{ path: `${FOLDER}/a.ts`, before: 'a\n', after: 'A\n' }],
    });
    await vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);
    write('mine.ts', 'MINE\n');
    const stage = () =>
      vscode.commands.executeCommand('redline.elsewhere.stageApplied', { rootUri: vscode.Uri.file(root) });
    await stage();
    assert.equal(git('status', '--porcelain'), 'M  a.ts\n M mine.ts');
    assert.equal(repository?.inputBox.value, 'Edit a.ts');

    Object.assign(repository.inputBox, { value: 'typed by the person' });
    await stage();
    assert.equal(repository.inputBox.value, 'typed by the person');
    repository.inputBox.value = '';
  });
});
