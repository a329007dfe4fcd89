import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Workbench } from '../support/workbench.mjs';
import { startScriptedServer, type Reply } from '../../support/scriptedServer.ts';
import { exactLens, lensText, proposedLine, revertArrow } from '../support/diffPage.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';

const write = (path: string): Reply => ({
  toolCalls: [{ name: 'write_file', arguments: { path, content: `${path}\n` } }],
});

const push = (driven: DrivenWorkbench, path: string, after = `${path}\n`): Promise<string> =>
  driven.run(
    ({ api }, [file, text]) =>
      api.previews.push({
        label: `Make ${file}`,
        sourceToolName: 'test',
        changes: [{ path: file, before: null, after: text }],
      }).id,
    [path, after] as const,
  );

const redlineTabs = ({ page }: Workbench): Locator =>
  page.locator('.tabs-container .tab').filter({ hasText: '(Redline' });

/** The titles of the tabs in front, one for each group. */
const inFront = ({ page }: Workbench): Promise<string[]> =>
  page.locator('.tabs-container .tab.active').allTextContents();

/** Makes the proposal in front writable, and types into its first line. */
async function edit(workbench: Workbench, text: string): Promise<void> {
  await workbench.editorTitleAction('Edit Proposal').click();
  await revertArrow(workbench).waitFor();
  await proposedLine(workbench, '.txt').click();
  await workbench.page.keyboard.press('Home');
  await workbench.page.keyboard.type(text);
  await lensText(workbench, 'Save & Apply').waitFor();
}

drivenTest(
  'a preview that is read or edited stays in front, and goes without a question when it is discarded',
  {},
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const { keyboard } = page;
    const chat = workbench.chatFrame();
    const gates = [0, 1].map(() => Promise.withResolvers<void>());
    const server = await startScriptedServer([
      write('asked1.txt'),
      { text: 'First.' },
      { ...write('asked2.txt'), delayUntil: gates[0]?.promise ?? Promise.reject(new Error()) },
      { text: 'Second.' },
      write('own.txt'),
      {
        toolCalls: [{ name: 'resolve', arguments: { action: 'discard', reason: 'Mine was wrong.' } }],
        delayUntil: gates[1]?.promise ?? Promise.reject(new Error()),
      },
      { text: 'Third.' },
    ]);
    const dialog = page.locator('.monaco-dialog-box');
    const isGone = async (path: string): Promise<void> => {
      await workbench.editorTab(`${path} (Redline)`).waitFor({ state: 'detached' });
      assert.equal(await dialog.count(), 0);
    };
    try {
      await driven.run(async ({ vscode }, url) => {
        const settings = vscode.workspace.getConfiguration('redline');
        await settings.update('openai.baseUrl', url, true);
        await settings.update('openai.model', 'scripted', true);
        await settings.update('resolve.modelAuthority', 'none', true);
      }, server.baseUrl);

      // Read: a person opened it, then asked for more. What they read stays; what comes is beside it.
      await push(driven, 'read.txt');
      await workbench.openRedlineChat();
      await workbench.clickTreeRow('Make read.txt');
      await workbench.editorTab('read.txt (Redline)').waitFor();
      await workbench.openRedlineChat();
      await workbench.sendChat('One more.');
      await workbench.editorTab('asked1.txt (Redline)').waitFor();
      const front = await inFront(workbench);
      assert.ok(
        front.some(title => title.includes('read.txt (Redline)')),
        front.join(),
      );
      assert.equal(front.length, 2, front.join());
      await chat.locator('#prompt:focus').waitFor();
      await chat.locator('.log').getByText('First.').waitFor();

      // Edited: while a person types into a proposal, what arrives opens nowhere.
      await workbench.treeAction('Create asked1.txt', 'Discard Preview');
      await isGone('asked1.txt');
      await workbench.sendChat('And one more.');
      await server.request(2);
      await workbench.editorTab('read.txt (Redline)').click();
      await edit(workbench, 'typed ');
      gates[0]?.resolve();
      await keyboard.type('while it ');
      await workbench.treeRow('Create asked2.txt').waitFor();
      await chat.locator('.log').getByText('Second.').waitFor();
      await keyboard.type('arrives ');
      await proposedLine(workbench, 'typed while it arrives read.txt').waitFor();
      assert.deepEqual(
        (await inFront(workbench)).map(title => /\S+ \(Redline\)/.exec(title)?.[0]),
        ['read.txt (Redline)'],
      );

      // Discarded while it is edited, in each way that there is.
      await workbench.treeAction('Make read.txt', 'Discard Preview');
      await isGone('read.txt');
      await push(driven, 'title.txt');
      await workbench.clickTreeRow('Make title.txt');
      await edit(workbench, 'mine ');
      await workbench.editorTitleAction('Discard Preview').click();
      await isGone('title.txt');
      await push(driven, 'card.txt');
      await workbench.clickTreeRow('Make card.txt');
      await edit(workbench, 'mine ');
      await chat.getByRole('button', { name: 'Discard Make card.txt', exact: true }).click();
      await isGone('card.txt');
      await push(driven, 'all.txt');
      await workbench.clickTreeRow('Make all.txt');
      await edit(workbench, 'mine ');
      await workbench.runCommand('Redline: Discard All Previews');
      await isGone('all.txt');
      assert.equal(await redlineTabs(workbench).count(), 0);
      assert.deepEqual(
        ['read.txt', 'title.txt', 'card.txt', 'all.txt'].map(path => workbench.readFile(path)),
        [undefined, undefined, undefined, undefined],
      );

      // The model takes its preview back while a person types into it: what they typed is theirs.
      await chat.locator('#mode').selectOption({ label: 'Ask Me' });
      await workbench.sendChat('One of your own.');
      await workbench.editorTab('own.txt (Redline').waitFor();
      await exactLens(workbench, 'Apply').waitFor();
      await edit(workbench, 'mine ');
      gates[1]?.resolve();
      await chat.locator('.log').getByText('Third.').waitFor();
      await lensText(workbench, 'Discarded').waitFor();
      await proposedLine(workbench, 'mine own.txt').waitFor();
      assert.equal(await dialog.count(), 0);
      assert.equal(workbench.readFile('own.txt'), undefined);
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
);

/** Bytes that an editor would like to change. */
const ODD = '\ufefftrailing  \r\nmixed\nends \t\r\n';

drivenTest(
  'a closed tab comes back as it was; of thirty resolved previews no tab is left',
  {},
  async driven => {
    const { workbench } = driven;
    const shown = () =>
      driven.run(({ vscode }) => {
        const document = vscode.window.activeTextEditor?.document;
        return document && [document.uri.toString(), document.encoding, document.eol, document.getText()];
      });
    await workbench.openRedlineChat();
    const odd = await push(driven, 'odd.txt', ODD);
    await workbench.clickTreeRow('Make odd.txt');
    await proposedLine(workbench, 'trailing').waitFor();
    const before = await shown();
    assert.equal(before?.[1], 'utf8bom');
    await workbench.runCommand('View: Close Editor');
    await workbench.editorTab('(Redline').waitFor({ state: 'detached' });
    await workbench.statusBarItem('1 pending').click();
    await proposedLine(workbench, 'trailing').waitFor();
    assert.deepEqual(await shown(), before);
    await exactLens(workbench, 'Apply').click();
    await workbench.waitForFile('odd.txt', text => text === ODD);
    assert.ok(odd);

    const paths = Array.from({ length: 30 }, (_, n) => `thirty${n}.txt`);
    for (const path of paths) await push(driven, path);
    await workbench.statusBarItem('30 pending').click();
    await workbench.editorTab('thirty29.txt').waitFor();
    await workbench.runCommand('View: Pin Editor');
    await workbench.runCommand('Redline: Next Preview');
    await workbench.editorTab('thirty28.txt').waitFor();
    await workbench.runCommand('Redline: Next Preview');
    await workbench.editorTab('thirty27.txt').waitFor();
    assert.equal(await redlineTabs(workbench).count(), 2);
    await workbench.runCommand('Redline: Apply All Previews');
    await workbench.toast('Applied 30 previews.').waitFor();
    await redlineTabs(workbench).first().waitFor({ state: 'detached' });
    assert.equal(await redlineTabs(workbench).count(), 0);
    assert.deepEqual(
      paths.filter(path => workbench.readFile(path) !== `${path}\n`),
      [],
    );
  },
);
