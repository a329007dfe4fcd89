import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer.ts';
import { TIMEOUT_MS } from './support/vscodeWindow.mjs';
import { exactLens } from './support/diffPage.ts';
import { stageWrites, write } from './support/stagedWrites.ts';
import { uiTest } from './support/uiTest.ts';

uiTest(
  'the chat moves to the secondary side bar, with what it shows and what is half typed',
  {},
  async workbench => {
    const { page } = workbench;
    await workbench.openRedlineChat();
    await workbench.sendChat(write(1));
    await workbench.lens('Create').waitFor();
    const prompt = workbench.chatFrame().locator('textarea#prompt');
    await prompt.fill('half typed');
    await workbench.runCommand('View: Move View');
    await workbench.quickPick('Chat');
    await workbench.quickPick('New Secondary Side Bar Entry');

    const bar = page.locator('.part.auxiliarybar');
    await bar.getByRole('tab', { name: 'Redline' }).waitFor();
    const card = workbench.chatFrame().locator('.card').first();
    await card.waitFor();
    const [place, shown] = [await bar.boundingBox(), await card.boundingBox()];
    assert.ok(place && shown && shown.x >= place.x, `${shown?.x} is not right of ${place?.x}`);
    assert.equal(await prompt.inputValue(), 'half typed');
    await workbench.picture('chat-in-secondary-side-bar');
  },
);

uiTest('a diff in a floating window has its lenses, and the keys decide there', {}, async workbench => {
  const { page } = workbench;
  workbench.writeFile('far.txt', 'one\ntwo\nthree\n');
  await workbench.openRedlineChat();
  await workbench.sendChat('/edit far.txt :: two => TWO');
  await exactLens(workbench, 'Apply').waitFor();
  const opening = page.context().waitForEvent('page', { timeout: TIMEOUT_MS });
  await workbench.runCommand('View: Move Editor into New Window');
  const floating = await opening;
  await floating.locator('.editor.modified .codelens-decoration a').filter({ hasText: 'Discard' }).waitFor();
  await floating.locator('.editor.modified .view-line').filter({ hasText: 'TWO' }).click();
  // The window closes with its last editor, perhaps before the key is up again.
  await floating.keyboard.press('Control+Enter').catch(() => undefined);
  await workbench.waitForFile('far.txt', text => text === 'one\nTWO\nthree\n');
});

uiTest('keys in the tree mean the row that has the focus, not the selected one', {}, async workbench => {
  await stageWrites(workbench, 1, 2, 3);
  const { keyboard } = workbench.page;
  await workbench.clickTreeRow('Create made3.txt');
  await workbench.editorTab('made3.txt (Redline').waitFor();
  // The click opened the diff, which has the focus now.
  await workbench.runCommand('Redline: Focus on Pending View');
  await keyboard.press('ArrowDown');
  await keyboard.press('Control+Enter');
  await workbench.waitForFile('made2.txt', text => text === 'content 2');
  assert.equal(workbench.readFile('made3.txt'), undefined);
  await workbench.treeRow('Create made2.txt').waitFor({ state: 'detached' });
  await workbench.runCommand('Redline: Focus on Pending View');
  await keyboard.press('End');
  await keyboard.press('Control+Backspace');
  await workbench.treeRow('Create made1.txt').waitFor({ state: 'detached' });
  await workbench.treeRow('Create made3.txt').waitFor();
  assert.equal(workbench.readFile('made1.txt'), undefined);
});

uiTest('the ledger brings back what was discarded, and undoes what was applied', {}, async workbench => {
  await stageWrites(workbench, 1, 2);
  await workbench.treeAction('Create made1.txt', 'Apply Preview');
  await workbench.treeRow('Create made1.txt').waitFor({ state: 'detached' });
  await workbench.treeAction('Create made2.txt', 'Discard Preview');
  await workbench.treeRow('Create made2.txt').waitFor({ state: 'detached' });
  const entry = (label: string) =>
    workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label });

  await workbench.runCommand('Redline: Show Ledger');
  assert.match((await entry('Create made2.txt').innerText()).replaceAll('\u00a0', ' '), /Discarded by you/);
  await entry('Create made2.txt').hover();
  await entry('Create made2.txt').locator('a[aria-label="Reopen"]').click();
  await workbench.treeRow('Create made2.txt').waitFor();

  await workbench.runCommand('Redline: Show Ledger');
  await entry('Create made1.txt').hover();
  await entry('Create made1.txt').locator('a[aria-label="Undo Apply"]').click();
  await workbench.waitForFile('made1.txt', text => text === undefined);
});

/** A model that proposes ten files at once, as soon as it may. */
async function tenFiles(release: Promise<unknown>): Promise<ScriptedServer> {
  const toolCalls = Array.from({ length: 10 }, (_, n) => ({
    name: 'write_file',
    arguments: { path: `model${n}.txt`, content: `${n}` },
  }));
  return startScriptedServer((_request, n) =>
    n === 0 ? { toolCalls, delayUntil: release } : { text: 'Ten files.' },
  );
}

const connected = (server: ScriptedServer) => ({
  'redline.provider': 'openai',
  'redline.resolve.forcing': 'forced',
  'redline.openai.baseUrl': server.baseUrl,
  'redline.openai.model': 'scripted',
  'redline.resolve.modelAuthority': 'none',
});

uiTest(
  'while a person types, ten previews arrive: every character lands there, and no tab in front changes',
  {},
  async workbench => {
    let release: () => void = () => undefined;
    const typing = await tenFiles(new Promise<void>(resolve => (release = resolve)));
    try {
      await workbench.updateSettings(connected(typing));
      await workbench.openRedlineChat();
      await workbench.sendChat('Make ten files.');
      await typing.request(0);
      await workbench.openFile('README.md');
      const { page } = workbench;
      const { keyboard } = page;
      await page.locator('.editor-instance .view-lines').first().click();
      await keyboard.press('Control+Home');
      const text = 'The quick brown fox jumps over the lazy dog and is not disturbed by it at all. ';
      for (const [i, character] of [...text].entries()) {
        if (i === 15) release();
        await keyboard.type(character, { delay: 25 });
      }
      await workbench.statusBarItem('10 pending').waitFor();
      await keyboard.type('Done.');
      const tabs = page.locator('.tabs-container .tab');
      assert.equal(await tabs.count(), 1);
      assert.equal(await page.locator('.tab.active').getAttribute('data-resource-name'), 'README.md');
      await keyboard.press('Control+S');
      await workbench.waitForFile('README.md', content => content?.startsWith(`${text}Done.`) ?? false);
    } finally {
      await typing.close();
    }
  },
);

uiTest(
  'after a prompt from the chat the head opens beside the work, without the focus, and one tab serves all',
  {},
  async workbench => {
    const quiet = await tenFiles(Promise.resolve());
    try {
      await workbench.updateSettings(connected(quiet));
      await workbench.openFile('README.md');
      await workbench.openRedlineChat();
      await workbench.sendChat('Make ten files.');
      // The head: of ten, the one that was staged last.
      await workbench.editorTab('(Redline)').waitFor();
      await workbench.statusBarItem('10 pending').waitFor();
      const { page } = workbench;
      assert.equal(await page.locator('.editor-group-container').count(), 2, 'in a group of its own');
      assert.equal(await page.locator('.tabs-container .tab').filter({ hasText: '(Redline' }).count(), 1);
      // The chat keeps the keyboard.
      await workbench.chatFrame().locator('textarea#prompt:focus').waitFor();
      await workbench.runCommand('Redline: Discard All Previews');
      await workbench.statusBarItem('pending').waitFor({ state: 'detached' });
      await page
        .locator('.tabs-container .tab')
        .filter({ hasText: '(Redline' })
        .waitFor({ state: 'detached' });
    } finally {
      await quiet.close();
    }
  },
);

const KEY = 'sk-never-written-0123456789';

uiTest(
  'a key that is entered goes to its base URL alone, and stands in no log, storage or setting',
  {},
  async workbench => {
    const mine = await startScriptedServer(() => ({ text: 'Hello from mine.' }), { key: KEY });
    const other = await startScriptedServer(() => ({ status: 401 }));
    try {
      await workbench.updateSettings(connected(mine));
      await workbench.runCommand('Redline: Set API Key…');
      await workbench.answerInput(KEY);
      await workbench.openRedlineChat();
      await workbench.sendChat('Hello?');
      await workbench.chatFrame().locator('.log').getByText('Hello from mine.').waitFor();
      assert.equal(mine.requests[0]?.authorization, `Bearer ${KEY}`);

      await workbench.updateSettings(connected(other));
      await workbench.runCommand('Redline: Focus on Chat View');
      await workbench.sendChat('And you?');
      const request = await other.request(0);
      assert.equal(JSON.stringify([request.headers, request.body]).includes(KEY), false);
      await workbench.chatFrame().locator('.log').getByText(/key/i).first().waitFor();

      await workbench.sendChat(write(1));
      await workbench.treeRow('Create made1.txt').waitFor();
      await workbench.treeAction('Create made1.txt', 'Apply Preview');
      await workbench.waitForFile('made1.txt', text => text !== undefined);
      const files = filesBelow(workbench.userDataDir).filter(file => !file.startsWith('browser'));
      assert.ok(files.some(file => file.endsWith('previews.jsonl')));
      assert.ok(files.some(file => /redline.*\.log$/i.test(file)));
      const holding = [
        ...files.map(file => path.join(workbench.userDataDir, file)),
        ...filesBelow(workbench.workspace).map(file => path.join(workbench.workspace, file)),
      ].filter(file => fs.readFileSync(file).includes(KEY));
      assert.deepEqual(holding, []);
    } finally {
      await mine.close();
      await other.close();
    }
  },
);

function filesBelow(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => fs.statSync(path.join(folder, file), { throwIfNoEntry: false })?.isFile() ?? false);
}
