import assert from 'node:assert/strict';
import { startScriptedServer } from '../../support/scriptedServer.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';
import { contextMenu, viewOverflow } from '../support/menus.ts';

const write = (path: string) => ({ toolCalls: [{ name: 'write_file', arguments: { path, content: path } }] });

drivenTest('every command of session, chat, ledger and welcome', {}, async driven => {
  const { workbench } = driven;
  const { page } = workbench;
  const chat = workbench.chatFrame();
  const server = await startScriptedServer([
    { text: 'Hello.\n\n```ts\nlet copied = true;\n```' },
    { hang: true },
    { text: 'I went on.' },
    { hang: true },
    write('one.txt'),
    { text: 'Look at it.' },
    { text: 'Seen.' },
  ]);
  const set = (key: string, value: unknown) => setting(driven, key, value);
  try {
    await set('redline.openai.baseUrl', server.baseUrl);
    await set('redline.resolve.modelAuthority', 'none');

    // Nothing pending: there is no view of it, and the ledger is in the menu of the chat.
    await workbench.openRedlineChat();
    assert.equal(await page.locator('.pane-header').filter({ hasText: 'Pending' }).count(), 0);
    await viewOverflow(workbench, 'Chat', 'Show Ledger');
    await page.locator('.quick-input-title').getByText('Redline Ledger').waitFor();
    await page.getByText('Nothing has been applied or discarded yet.').first().waitFor();
    await page.keyboard.press('Escape');

    // The model, from the palette.
    await workbench.runCommand('Redline: Select Model…');
    await workbench.quickPick('Other…');
    await workbench.answerInput('scripted');
    await chat.locator('.model').getByText('scripted').waitFor();
    await workbench.openRedlineChat();
    await workbench.sendChat('Hello?');
    // The whole answer is another element than the one that streamed in.
    await chat.locator('.assistant:not(.streaming) .code').hover();
    await chat.getByRole('button', { name: 'Copy', exact: true }).click();
    await chat.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(
      (await page.evaluate<string>('navigator.clipboard.readText()')).trim(),
      'let copied = true;',
    );

    // A turn that hangs is stopped in the view's title, and goes on from the palette.
    await workbench.sendChat('And now?');
    await server.request(1);
    await page.locator('.pane-header').filter({ hasText: 'Chat' }).hover();
    await workbench.viewTitleAction('Stop').click();
    await chat.getByText('Stopped.').waitFor();
    await workbench.runCommand('Redline: Continue Session');
    await chat.getByText('I went on.').waitFor();

    await workbench.sendChat('Wait.');
    await server.request(3);
    await workbench.runCommand('Redline: Stop');
    await chat.getByText('Stopped.').nth(1).waitFor();

    // A card's buttons.
    await workbench.sendChat('Make one.');
    await chat.getByText('Look at it.').waitFor();
    await workbench.runCommand('View: Close All Editors');
    await chat.getByRole('button', { name: 'Open Create one.txt' }).last().click();
    await workbench.editorTab('one.txt (Redline)').waitFor();
    await chat.getByRole('button', { name: 'Discard Create one.txt', exact: true }).click();
    await chat.getByText('Seen.').waitFor();
    await workbench.editorTab('one.txt (Redline)').waitFor({ state: 'detached' });

    // A selection from the menu of an editor.
    await workbench.openFile('src/cart.ts');
    await page.locator('.editor-instance .view-line').nth(1).click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await contextMenu(workbench, page.locator('.editor-instance .view-line').nth(2), 'Add to Redline Chat');
    assert.match((await chat.locator('.composer .chip').textContent()) ?? '', /cart\.ts:2-3/);

    // What the chat's title offers while something is pending.
    for (const name of ['two', 'three']) {
      await driven.run(({ api }, path) => {
        const changes = [{ path, before: null, after: path }];
        api.previews.push({ label: `Make ${path}`, sourceToolName: 'test', changes });
      }, `${name}.txt`);
    }
    await workbench.treeRow('Make three.txt').waitFor();
    await viewOverflow(workbench, 'Chat', 'Discard All Previews');
    await workbench.toast('Discarded 2 previews.').getByText('Reopen').click();
    await workbench.statusBarItem('2 pending').waitFor();
    await viewOverflow(workbench, 'Chat', 'Apply All Previews');
    await workbench.waitForFile('three.txt', text => text === 'three.txt');
    await viewOverflow(workbench, 'Chat', 'Undo Applied Preview');
    await workbench.quickPick('Make three.txt');
    await workbench.waitForFile('three.txt', text => text === undefined);

    // A new session by the palette; the ledger outlives it.
    await workbench.runCommand('Redline: New Session');
    await chat.locator('.empty-title').waitFor();
    await workbench.runCommand('Redline: Show Ledger');
    await page.locator('.quick-input-titlebar a[aria-label="Open as Document"]').click();
    await workbench.editorTab('Redline Ledger').waitFor();
    await page.locator('.editor-instance .view-line').filter({ hasText: 'Applied by you' }).first().waitFor();

    // The log, and the walkthrough with its links.
    await workbench.runCommand('Redline: Show Log');
    await page.locator('.part.panel .monaco-editor').first().waitFor();
    await workbench.runCommand('View: Hide Panel');
    await workbench.runCommand('Welcome: Open Walkthrough...');
    await workbench.quickPick('Get Started with Redline');
    const steps = page.locator('.getting-started-step');
    await steps.filter({ hasText: 'Connect an agent or a model' }).click();
    assert.equal(await steps.count(), 4);
    await steps.getByText('Select Model').click();
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Offline' }).waitFor();
    await page.keyboard.press('Escape');
    await workbench.screenshot('walkthrough');
    assert.deepEqual(server.violations, []);
  } finally {
    await server.close();
  }
});

async function setting(driven: DrivenWorkbench, key: string, value: unknown): Promise<void> {
  const wanted = [key, value] as const;
  await driven.run(async ({ vscode }, [name, to]) => {
    await vscode.workspace.getConfiguration().update(name, to, true);
  }, wanted);
}
