import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import { ledgerEntry } from '../../../src/agent/preview/ledger.ts';
import { PreviewStore } from '../../../src/agent/preview/previewStore.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { Ctx } from '../../../src/views/ctx.ts';
import { commitChanges } from '../../../src/views/elsewhere/commitChanges.ts';
import { modify } from '../../support/changes.ts';
import { draft } from '../../support/drafts.ts';
import { MemoryPreviewLog } from '../../support/testSession.ts';
import { activateRedline, cleanUp, fileInWorkspace } from '../support/redline.ts';

interface GitApi {
  openRepository(root: vscode.Uri): Promise<unknown>;
}

const FOLDER = 'committed';

suite('a commit of what was applied', () => {
  let api: RedlineApi;
  let root = '';
  const { showQuickPick, showInputBox, showInformationMessage, showWarningMessage } = vscode.window;

  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);

  suiteSetup(async () => {
    api = await activateRedline();
    root = fileInWorkspace(FOLDER);
    mkdirSync(root, { recursive: true });
    git('init', '-q', '-b', 'main');
    for (const [name, value] of Object.entries({ name: 'T', email: 't@example.com' }))
      git('config', `user.${name}`, value);
    git('config', 'core.autocrlf', 'false');
    write('a.ts', 'a\n');
    write('b.ts', 'b\n');
    write('mine.ts', 'mine\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
    assert.ok(extension, 'the git extension is there');
    assert.ok(await (await extension.activate()).getAPI(1).openRepository(vscode.Uri.file(root)));
  });

  teardown(async () => {
    Object.assign(vscode.window, { showQuickPick, showInputBox, showInformationMessage, showWarningMessage });
    await cleanUp(api);
  });

  suiteTeardown(async () => {
    await vscode.commands.executeCommand('git.close', vscode.Uri.file(root));
    rmSync(root, { recursive: true, force: true });
  });

  /** What is applied in this repository, as the store knows it. */
  const applied = async (): Promise<Ctx> => {
    const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
    const agent = { name: 'Codex', version: '1.0' };
    for (const name of ['a', 'b']) {
      const origin = { sessionId: 'mcp', agent, asksModel: true };
      const changes = [modify(`${FOLDER}/${name}.ts`, `${name}\n`, `${name.toUpperCase()}\n`)];
      const { preview } = store.stage(draft({ label: `Edit ${name}.ts`, changes, origin }));
      const vote = { action: 'apply', actor: 'human', reason: `because of ${name}` } as const;
      store.beginResolving(preview.id, 'apply', 'human');
      await store.endResolving([ledgerEntry(preview, vote, 'applied', '')], [preview]);
      write(`${name}.ts`, `${name.toUpperCase()}\n`);
    }
    const workspace = {
      folderRoots: () => [{ name: 'workspace', fsPath: path.dirname(root) }],
      unsaved: () => [],
      uriOf: () => assert.fail(),
    };
    return { store, workspace, settings: { commitTrailers: true }, logger: silentLogger } as unknown as Ctx;
  };

  test('the chosen previews are committed with the confirmed message, and nothing else', async () => {
    const ctx = await applied();
    write('mine.ts', 'MINE\n');
    git('add', 'mine.ts');
    const told: string[] = [];
    let asked = '';
    const tell = (text: string, options?: { readonly detail?: string }): Promise<string | undefined> => {
      told.push(text);
      asked = options?.detail ?? asked;
      return Promise.resolve(options?.detail === undefined ? undefined : 'Commit');
    };
    const pickA = (items: readonly vscode.QuickPickItem[]): Promise<unknown> =>
      Promise.resolve(items.filter(({ label }) => label === 'Edit a.ts'));
    Object.assign(vscode.window, {
      showQuickPick: pickA,
      showInputBox: (options: vscode.InputBoxOptions) => Promise.resolve(options.value),
      showInformationMessage: tell,
      showWarningMessage: tell,
    });
    const commit = await commitChanges(ctx, vscode.Uri.file(root));

    const message = 'Edit a.ts\n\nbecause of a\n\nReviewed-with: Redline\nAssisted-by: Codex 1.0';
    assert.equal(commit, git('rev-parse', 'HEAD'));
    assert.equal(git('log', '-1', '--format=%B'), message);
    assert.equal(git('show', '--name-only', '--format=', 'HEAD'), 'a.ts');
    assert.equal(git('status', '--porcelain'), 'M b.ts\nM  mine.ts');
    assert.equal(asked, `${message}\n\nIn the commit:\na.ts`);
    assert.deepEqual(told, ['Commit 1 file?', `Committed ${commit?.slice(0, 8)}: Edit a.ts`]);

    // The one that is left needs no choice; a file that changes while the user confirms is not committed.
    Object.assign(vscode.window, {
      showQuickPick: () => assert.fail('there is one preview'),
      showWarningMessage: (text: string, options?: { readonly detail?: string }) => {
        write('b.ts', 'changed meanwhile\n');
        return tell(text, options);
      },
    });
    assert.equal(await commitChanges(ctx, vscode.Uri.file(root)), undefined);
    assert.equal(git('rev-parse', 'HEAD'), commit);
    assert.match(told.at(-1) ?? '', /^Nothing was committed: the repository or a file changed meanwhile/);
  });
});
